"""A system file as the actions of a ROS launch file: where ROS is installed, `ros2 launch` starts the same nodes.

Each node gets a process of its own there; grouping and restarts are the supervisor's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mnav_cli.process_environment import AUTOMATIC
from mnav_cli.systems import NodeDescription, SystemDescription, load_system


def installed_systems() -> Path:
    """The system files of the installed package `mnav`."""
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory("mnav")) / "config" / "systems"


def node_arguments(node: NodeDescription) -> dict[str, Any]:
    """Keyword arguments of a `launch_ros.actions.Node`."""
    return {
        "package": node.package,
        "executable": node.executable,
        "name": node.name,
        "namespace": node.namespace,
        "parameters": [dict(node.parameters)],
        "remappings": list(node.remappings.items()),
        "output": "screen",
    }


def environment_of(system: SystemDescription) -> dict[str, str]:
    """Variables to set; what is chosen automatically is left to the machine."""
    return {name: value for name, value in system.environment.items() if value != AUTOMATIC}


def launch_description(name: str) -> Any:
    """A `LaunchDescription` with the system's arguments as launch arguments."""
    from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable
    from launch.substitutions import LaunchConfiguration
    from launch_ros.actions import Node

    from launch import LaunchDescription

    folder = installed_systems()
    declared = load_system(name, folder=folder).arguments

    def actions(context: Any) -> list[Any]:
        given = {key: LaunchConfiguration(key).perform(context) for key in declared}
        system = load_system(name, given, folder)
        variables = [SetEnvironmentVariable(key, value) for key, value in environment_of(system).items()]
        return [*variables, *(Node(**node_arguments(node)) for node in system.nodes())]

    arguments = [
        DeclareLaunchArgument(key, default_value=str(value).lower() if isinstance(value, bool) else str(value))
        for key, value in declared.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=actions)])
