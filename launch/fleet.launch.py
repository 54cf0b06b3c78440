"""`ros2 launch mnav fleet.launch.py`: three fake robots in one simulated house, from config/systems/fleet.yaml."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("fleet", Path(__file__).parent)
