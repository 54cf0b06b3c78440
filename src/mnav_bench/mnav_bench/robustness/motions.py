"""Rows of a client that changes its mind: cancels, newer goals, the operator's stop, also on a busy machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from std_msgs.msg import Bool

from mnav_bench.figures.rows import FigureRow, RowOutcome, at_most, equal
from mnav_bench.robustness.yard import ROBOT, client_of, drive_goal, far_side, is_moving, set_off, status_of, yard_graph
from mnav_bench.testing.flat_graph import FlatGraph
from mnav_core.motion import MotionStatus
from mnav_core.nodes import qos

REPEATS = 50
REST_S = 0.3
# A machine that is full may lose ticks to the load.
LOADED_REST_S = 0.6
LOADED_REPEATS = 5

Trial = Callable[[FlatGraph, Any], tuple[MotionStatus, float]]


def motion_rows(repeats: int = REPEATS) -> Iterator[FigureRow]:
    """Two rows for each kind of ending: how many went wrong, and the longest time to rest."""
    with yard_graph() as graph:
        client = client_of(graph)
        yield from _repeated(f"cancel x{repeats}", graph, client, _cancel, MotionStatus.CANCELLED, repeats, REST_S)
        name = f"newer goal x{repeats}"
        yield from _repeated(name, graph, client, _supersede, MotionStatus.SUPERSEDED, repeats, REST_S)
        name = f"operator's stop x{repeats}"
        yield from _repeated(name, graph, client, _operator_stop(graph), MotionStatus.ESTOP, repeats, REST_S)
        repeats = min(repeats, LOADED_REPEATS)
        with full_load():
            name = f"cancel x{repeats} with every core busy"
            yield from _repeated(name, graph, client, _cancel, MotionStatus.CANCELLED, repeats, LOADED_REST_S)


def _repeated(
    name: str, graph: FlatGraph, client: Any, trial: Trial, expected: MotionStatus, repeats: int, bound_s: float
) -> list[FigureRow]:
    wrong, rests = [], []
    for turn in range(repeats):
        try:
            status, rest_s = trial(graph, client)
        except TimeoutError as error:
            return [FigureRow(name, RowOutcome.FAIL, detail=f"hangs in turn {turn}: {error}")]
        rests.append(rest_s)
        if status is not expected:
            wrong.append(status.name)
    detail = f"first other status {wrong[0]}" if wrong else ""
    return [
        equal(f"{name}: endings other than {expected.name}", float(len(wrong)), 0.0, detail=detail),
        at_most(f"{name}: longest time to rest", max(rests), bound_s + 1e-6, "s", f"mean {sum(rests) / repeats:.2f} s"),
    ]


def _cancel(graph: FlatGraph, client: Any) -> tuple[MotionStatus, float]:
    handle = set_off(graph, client)
    graph.result_of(handle.cancel_goal_async())
    since_s = graph.now.time_s
    status = status_of(graph, handle)
    return status, graph.rest_after(ROBOT, since_s)


def _supersede(graph: FlatGraph, client: Any) -> tuple[MotionStatus, float]:
    older = set_off(graph, client)
    newer = graph.send(client, drive_goal(*far_side(graph)))
    since_s = graph.now.time_s
    status = status_of(graph, older)
    rest_s = graph.rest_after(ROBOT, since_s)
    graph.result_of(newer.cancel_goal_async())
    status_of(graph, newer)
    return status, rest_s


def _operator_stop(graph: FlatGraph) -> Trial:
    publisher = graph.nodes["client"].create_publisher(Bool, "emergency_stop", qos.latched_qos())
    graph.wait(lambda: bool(publisher.get_subscription_count() >= 2))

    def trial(graph: FlatGraph, client: Any) -> tuple[MotionStatus, float]:
        handle = set_off(graph, client)
        publisher.publish(Bool(data=True))
        status = status_of(graph, handle)
        rest_s = graph.rest_after(ROBOT, graph.now.time_s)
        publisher.publish(Bool(data=False))
        # A release that has not come yet refuses the next goal.
        graph.wait(lambda: _moves_again(graph, client))
        return status, rest_s

    return trial


def _moves_again(graph: FlatGraph, client: Any) -> bool:
    handle = graph.send(client, drive_goal(*far_side(graph)))
    future = handle.get_result_async()
    graph.wait(lambda: bool(future.done()) or is_moving(graph))
    if future.done():
        return False
    graph.result_of(handle.cancel_goal_async())
    status_of(graph, handle)
    return True


@contextmanager
def full_load() -> Iterator[None]:
    """Every core kept busy by a process of its own."""
    code = "import os, time\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
    burners = [subprocess.Popen([sys.executable, "-S", "-c", code]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
