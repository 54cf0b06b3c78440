"""`ros2 launch mnav fake_go2.launch.py`: one episode of a fake go2, from config/systems/fake_go2.yaml."""

from pathlib import Path

from launch import LaunchDescription

from mnav_cli.launch_actions import system_launch


def generate_launch_description() -> LaunchDescription:
    """The system's nodes, arguments and environment."""
    return system_launch("fake_go2", Path(__file__).parent)
