"""`ros2 launch mnav head_sensors.launch.py`: drivers of a Mid-360 and a D435i, from its system file."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("head_sensors", Path(__file__).parent)
