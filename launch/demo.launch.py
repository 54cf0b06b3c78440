"""`ros2 launch mnav demo.launch.py episodes:=FILE verdict:=FILE`: the system of config/systems/demo.yaml."""

from typing import Any

from mnav_cli.launch_actions import launch_description


def generate_launch_description() -> Any:
    """Called by ros2 launch."""
    return launch_description("demo")
