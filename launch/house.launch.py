"""`ros2 launch mnav house.launch.py`: a simulated house with three robots, from config/systems/house.yaml."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("house", Path(__file__).parent)
