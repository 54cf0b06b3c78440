"""A system file as ROS launch actions: the one function behind every launch file.

Imports of `launch` stand inside, for a machine without it still plans and tests what would be launched. A launch file
gives each node a process of its own; `mnav up` groups them as the system file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnav_cli.process_environment import process_environment
from mnav_cli.restarts import RestartPolicy
from mnav_cli.systems import (
    NodeDescription,
    ParameterValue,
    ProcessDescription,
    Restart,
    SystemDescription,
    load_system,
)
from mnav_core.errors import UsageError

# What every launch file takes besides the arguments of its system: default and meaning.
USE_SIM_TIME, PARAMS_FILE, RVIZ = "use_sim_time", "params_file", "rviz"
COMMON_ARGUMENTS = (
    (USE_SIM_TIME, "", "true or false for every node; empty: as the system file says"),
    (PARAMS_FILE, "", "a ROS parameter file that overrides the system file's values"),
    (RVIZ, "false", "true: open RViz"),
)
# Its nodes belong to no robot.
SIMULATOR = "mnav_bench"


@dataclass(frozen=True)
class LaunchedNode:
    """One node as it is launched. `ends_system`: the system is over when the node is."""

    node: NodeDescription
    parameters: dict[str, ParameterValue]
    respawn: bool
    ends_system: bool


@dataclass(frozen=True)
class LaunchPlan:
    """What a launch file starts, before ROS's launch library is asked for anything. One RViz for each namespace."""

    nodes: tuple[LaunchedNode, ...]
    environment: dict[str, str]
    namespaces: tuple[str, ...]
    use_sim_time: bool
    params_file: str
    rviz: bool


def declared_arguments(system: SystemDescription) -> dict[str, tuple[str, str]]:
    """Default and meaning of each launch argument: the system's own, then the common ones that it does not have."""
    own = {name: (_text(value), f"argument of system {system.name}") for name, value in system.arguments.items()}
    common = {name: (default, meaning) for name, default, meaning in COMMON_ARGUMENTS}
    return {**common, **own}


def launch_plan(name: str, folder: Path, values: Mapping[str, str]) -> LaunchPlan:
    """The plan of system `name` in `folder` with the values of its launch arguments.

    Raises UsageError for an unknown argument or a value of the wrong type.
    """
    own = set(load_system(name, folder=folder).arguments)
    system = load_system(name, {key: value for key, value in values.items() if key in own}, folder)
    common = {key: value for key, value in values.items() if key not in own}
    unknown = sorted(common.keys() - {key for key, _, _ in COMMON_ARGUMENTS})
    if unknown:
        allowed = ", ".join(sorted(declared_arguments(system)))
        raise UsageError(f"unknown argument {unknown[0]!r} of system {name!r}; allowed: {allowed}")
    forced = _flag(USE_SIM_TIME, common.get(USE_SIM_TIME, "")) if common.get(USE_SIM_TIME) else None
    nodes = tuple(_launched(process, node, forced) for process in system.processes for node in process.nodes)
    everything = process_environment(system, domain=0, inherited={})
    return LaunchPlan(
        nodes,
        {key: everything[key] for key in system.environment},
        _robot_namespaces(system),
        any(launched.parameters.get(USE_SIM_TIME) is True for launched in nodes),
        common.get(PARAMS_FILE, ""),
        _flag(RVIZ, common.get(RVIZ) or "false"),
    )


def system_launch(name: str, directory: Path) -> Any:
    """The launch description of system `name`. `directory`: where config/ and rviz/ lie, beside the launch file."""
    from launch import LaunchDescription
    from launch.actions import DeclareLaunchArgument, OpaqueFunction

    folder = directory / "config" / "systems"
    declared = declared_arguments(load_system(name, folder=folder))

    def start(context: Any) -> list[Any]:
        values = {key: str(context.launch_configurations[key]) for key in declared}
        return _actions(launch_plan(name, folder, values), directory)

    arguments = [DeclareLaunchArgument(key, default_value=d, description=m) for key, (d, m) in declared.items()]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def _actions(plan: LaunchPlan, directory: Path) -> list[Any]:
    from launch.actions import SetEnvironmentVariable, Shutdown
    from launch_ros.actions import Node

    overrides = [plan.params_file] if plan.params_file else []
    delay_s = RestartPolicy().first_delay_s
    made: list[Any] = [SetEnvironmentVariable(key, value) for key, value in plan.environment.items()]
    for launched in plan.nodes:
        node = launched.node
        made.append(
            Node(
                package=node.package,
                executable=node.executable,
                name=node.name,
                namespace=node.namespace,
                parameters=[launched.parameters, *overrides],
                remappings=list(node.remappings.items()),
                output="screen",
                respawn=launched.respawn,
                respawn_delay=delay_s,
                on_exit=Shutdown(reason=f"{node.full_name} ended") if launched.ends_system else None,
            )
        )
    for namespace in plan.namespaces if plan.rviz else ():
        made.append(
            Node(
                package="rviz2",
                executable="rviz2",
                name="rviz",
                namespace=namespace,
                arguments=["-d", str(directory / "rviz" / "mnav.rviz")],
                parameters=[{USE_SIM_TIME: plan.use_sim_time}],
                # RViz alone has absolute names for transforms.
                remappings=[("/tf", "tf"), ("/tf_static", "tf_static")],
            )
        )
    return made


def _robot_namespaces(system: SystemDescription) -> tuple[str, ...]:
    """The robots' namespaces, in the order of the file."""
    found = dict.fromkeys(node.namespace for node in system.nodes() if node.package != SIMULATOR)
    return tuple(found) or ("",)


def _launched(process: ProcessDescription, node: NodeDescription, forced: bool | None) -> LaunchedNode:
    parameters = dict(node.parameters) if forced is None else {**node.parameters, USE_SIM_TIME: forced}
    respawn = process.restart is Restart.ON_FAILURE
    return LaunchedNode(node, parameters, respawn, process.required and not respawn)


def _flag(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise UsageError(f"argument {name}:={text!r} must be true or false")
    return text == "true"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
