"""`ros2 launch mnav demo.launch.py`: one episode in a simulated house, from config/systems/demo.yaml."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("demo", Path(__file__).parent)
