"""`ros2 launch mnav mast_devices.launch.py`: drivers of a Cobot Magic's devices, from its system file."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("mast_devices", Path(__file__).parent)
