"""`ros2 launch mnav fake_cobot_magic.launch.py`: one episode of a fake Cobot Magic, from its system file."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("fake_cobot_magic", Path(__file__).parent)
