"""`ros2 launch mnav bringup_cobot_magic.launch.py`: an Agilex Cobot Magic, from config/systems/cobot_magic.yaml."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("cobot_magic", Path(__file__).parent)
