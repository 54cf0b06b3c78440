"""`python -m mnav_cli.compose FILE PARENT_PID`: the nodes of one process of a system, in one executor.

FILE is a process description in JSON. A package offers its nodes as entry points of the group `mnav.nodes`: each is a
callable that takes the keyword arguments of an rclpy node (namespace, parameter_overrides, cli_args,
use_global_arguments) and returns the node. A process with one node that is no such entry point runs the package's
installed executable of that name instead.

Exit codes: 0 ended by SIGINT or SIGTERM, 2 a node refused its parameters, 3 anything else.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import FrameType
from typing import Any

from mnav_cli.systems import NodeDescription, ProcessDescription
from mnav_core.errors import UsageError
from mnav_core.parent_death import die_with_parent

GROUP = "mnav.nodes"
# How long a signal may go unnoticed while nothing happens.
SPIN_TIMEOUT_S = 0.1


def node_entry_point(node: NodeDescription) -> EntryPoint | None:
    """The entry point that makes `node`, if its package has one."""
    for entry in entry_points(group=GROUP, name=node.executable):
        if entry.dist is not None and entry.dist.name.replace("-", "_") == node.package:
            return entry
    return None


def installed_executable(node: NodeDescription) -> Path:
    """The executable of a package that is no entry point. Raises UsageError with what the package offers."""
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        path = Path(prefix) / "lib" / node.package / node.executable
        if path.is_file() and os.access(path, os.X_OK):
            return path
    offered = sorted(
        entry.name
        for entry in entry_points(group=GROUP)
        if entry.dist is not None and entry.dist.name.replace("-", "_") == node.package
    )
    raise UsageError(
        f"package {node.package!r} has no node {node.executable!r}; allowed: {', '.join(offered) or 'none'}"
    )


def ros_arguments(node: NodeDescription) -> list[str]:
    """Name and remappings of `node` as ROS arguments."""
    arguments = ["--ros-args", "-r", f"__node:={node.name}"]
    for old, new in node.remappings.items():
        arguments += ["-r", f"{old}:={new}"]
    return arguments


def run_executable(node: NodeDescription) -> None:
    """Become the installed executable of `node`."""
    path = installed_executable(node)
    arguments = ros_arguments(node) + ["-r", f"__ns:=/{node.namespace.strip('/')}"]
    for name, value in node.parameters.items():
        arguments += ["-p", f"{name}:={json.dumps(value)}"]
    os.execv(path, [str(path), *arguments])


def make_node(node: NodeDescription, factory: Callable[..., Any]) -> Any:
    """The rclpy node."""
    from rclpy.parameter import Parameter

    return factory(
        namespace=node.namespace,
        parameter_overrides=[Parameter(name, value=value) for name, value in node.parameters.items()],
        cli_args=ros_arguments(node),
        use_global_arguments=False,
    )


class StopRequest:
    """Whether SIGINT or SIGTERM came."""

    def __init__(self) -> None:
        self.came = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Signal handler."""
        self.came = True


def run_nodes(process: ProcessDescription) -> int:
    """Run the nodes until a signal comes or a callback throws; the exit code."""
    stop = StopRequest()
    signal.signal(signal.SIGINT, stop.note)
    signal.signal(signal.SIGTERM, stop.note)
    factories: list[tuple[NodeDescription, Callable[..., Any]]] = []
    for description in process.nodes:
        entry = node_entry_point(description)
        if entry is None:
            if len(process.nodes) == 1:
                run_executable(description)
            offered = f"{description.package!r} has no {GROUP} entry point {description.executable!r}"
            raise UsageError(f"node {description.name!r}: {offered}")
        factories.append((description, entry.load()))

    import rclpy
    from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    # Threads that take turns at every callback cost several times what they bring; only waiting in one needs them.
    executor = SingleThreadedExecutor() if process.threads == 1 else MultiThreadedExecutor(num_threads=process.threads)
    nodes = []
    try:
        for description, factory in factories:
            if stop.came:
                break
            nodes.append(make_node(description, factory))
            executor.add_node(nodes[-1])
        while not stop.came:
            executor.spin_once(timeout_sec=SPIN_TIMEOUT_S)
    finally:
        # A second signal must be able to end a shutdown that hangs.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for node in nodes:
            node.destroy_node()
        executor.shutdown(timeout_sec=1.0)
        rclpy.try_shutdown()
    return 0


def main(arguments: Sequence[str]) -> int:
    """Read the description and run it."""
    file, parent = arguments
    die_with_parent(int(parent))
    process = ProcessDescription.model_validate(json.loads(Path(file).read_text()))
    try:
        return run_nodes(process)
    except UsageError as error:
        print(f"mnav: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        return 2
    except Exception:  # noqa: BLE001 (the outermost frame: a node threw, the supervisor is to know)
        traceback.print_exc()
        return 3


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of a callback that never returns must not hold the exit back.
    os._exit(status)
