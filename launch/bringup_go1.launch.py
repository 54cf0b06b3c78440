"""`ros2 launch mnav bringup_go1.launch.py`: a Unitree Go1, from config/systems/go1.yaml."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("go1", Path(__file__).parent)
