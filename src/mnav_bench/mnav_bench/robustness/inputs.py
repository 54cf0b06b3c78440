"""Rows of inputs that die, lie or jump: the base never moves on what is stale, nothing hangs, it goes on afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from tf2_msgs.msg import TFMessage

from mnav_bench.figures.rows import FigureRow, RowOutcome, at_most, equal
from mnav_bench.robustness.faulty_world import Fault
from mnav_bench.robustness.yard import (
    ROBOT,
    client_of,
    reaches,
    rest_since,
    set_off,
    status_of,
    world_of,
    yard_graph,
)
from mnav_bench.testing.flat_graph import FlatGraph
from mnav_core.geometry import SE2
from mnav_core.messages.poses import to_transform
from mnav_core.motion import MotionStatus
from mnav_core.nodes import qos
from mnav_interfaces.srv import CapturePanorama

# Odometry may be 0.3 s old, a map 2 s and what it rests on another 1 s; then come the ramp of 0.3 s and ticks.
ODOMETRY_REST_S, MAP_REST_S = 0.8, 3.6
WATCHED_S = 6.0
CAPTURE_ANSWER_S = 30.0
JUMPS_S = (100.0, -100.0, 3.0, -3.0)


def input_rows() -> Iterator[FigureRow]:
    """Rows over one graph; after each fault the robot must reach the other side again."""
    with yard_graph() as graph:
        client = client_of(graph)
        yield from _stale(graph, client, Fault.FROZEN_ODOMETRY, ODOMETRY_REST_S)
        yield from _stale(graph, client, Fault.NAN_ODOMETRY, ODOMETRY_REST_S)
        yield from _stale(graph, client, Fault.NO_RANGES, MAP_REST_S)
        yield from _goes_on(graph, client, Fault.NAN_RANGES)
        yield _capture_without_images(graph)
        yield from _goes_on(graph, client, Fault.NO_IMAGES)
        for jump_s in JUMPS_S:
            yield _clock_jump(graph, client, jump_s)
        yield _second_localization(graph, client)
        yield _frame_loop(graph, client)


def _guarded(name: str, measure: Callable[[], FigureRow]) -> FigureRow:
    try:
        return measure()
    except TimeoutError as error:
        return FigureRow(name, RowOutcome.FAIL, detail=f"hangs: {error}")


def _stale(graph: FlatGraph, client: Any, fault: Fault, bound_s: float) -> Iterator[FigureRow]:
    """Time to rest after an input died under way, for good, and the ending of the motion."""
    name = f"{fault.value}: time to rest"
    statuses: list[MotionStatus] = []

    def measure() -> FigureRow:
        handle = set_off(graph, client)
        world_of(graph).fault = fault
        first = len(graph.bridge.trace)
        rest_s = rest_since(graph, first, math.ceil(WATCHED_S / graph.world.tick_s))
        statuses.append(status_of(graph, handle))
        return at_most(name, rest_s, bound_s + 1e-6, "s", f"the motion ended {statuses[0].name}")

    try:
        yield _guarded(name, measure)
    finally:
        world_of(graph).fault = Fault.NONE
    wrong = float(statuses != [MotionStatus.BLOCKED_STALE_INPUT])
    yield equal(f"{fault.value}: endings other than BLOCKED_STALE_INPUT", wrong, 0.0)
    yield _recovers(graph, client, f"{fault.value}: goals missed afterwards")


def _recovers(graph: FlatGraph, client: Any, name: str) -> FigureRow:
    """The next goal is reached, once the input is back."""
    graph.wait(lambda: graph.nodes[f"{ROBOT}:executor"].costmap is not None)

    def measure() -> FigureRow:
        # What was stale takes a moment to be heard again.
        ok = reaches(graph, client) or reaches(graph, client)
        return equal(name, 0.0 if ok else 1.0, 0.0)

    return _guarded(name, measure)


def _goes_on(graph: FlatGraph, client: Any, fault: Fault) -> Iterator[FigureRow]:
    """Goals are reached under the fault."""
    name = f"{fault.value}: goals missed"
    world_of(graph).fault = fault
    try:
        yield _guarded(name, lambda: equal(name, 0.0 if reaches(graph, client) else 1.0, 0.0))
    finally:
        world_of(graph).fault = Fault.NONE


def _capture_without_images(graph: FlatGraph) -> FigureRow:
    """A capture that cannot be taken is answered with a reason."""
    name = "no images come: captures that hang or are answered with old images"
    service = graph.nodes["client"].create_client(CapturePanorama, "capture_panorama")
    graph.wait(lambda: bool(service.service_is_ready()))
    world_of(graph).fault = Fault.NO_IMAGES

    def measure() -> FigureRow:
        answer = graph.result_of(service.call_async(CapturePanorama.Request()), CAPTURE_ANSWER_S)
        return equal(name, 1.0 if answer.ok else 0.0, 0.0, detail=answer.reason)

    try:
        return _guarded(name, measure)
    finally:
        world_of(graph).fault = Fault.NONE


def _clock_jump(graph: FlatGraph, client: Any, jump_s: float) -> FigureRow:
    """The motion under way ends in some status, and afterwards goals are reached."""
    name = f"clock jumps by {jump_s:+g} s: goals missed afterwards"

    def measure() -> FigureRow:
        handle = set_off(graph, client)
        world_of(graph).jump_s += jump_s
        ended = status_of(graph, handle)
        ok = reaches(graph, client) or reaches(graph, client)
        return equal(name, 0.0 if ok else 1.0, 0.0, detail=f"the motion under way ended {ended.name}")

    return _guarded(name, measure)


def _second_localization(graph: FlatGraph, client: Any) -> FigureRow:
    """Another publisher of map->odom that says something else is not believed."""
    name = "a second publisher of map->odom: goals missed"
    publisher = graph.nodes["client"].create_publisher(TFMessage, "tf", qos.transform_qos())
    graph.wait(lambda: bool(publisher.get_subscription_count() >= 3))

    def measure() -> FigureRow:
        for shift in (5.0, -5.0, 5.0):
            told = to_transform("map", "odom", SE2(shift, 0.0), graph.now.time_s)
            publisher.publish(TFMessage(transforms=[told]))
        return equal(name, 0.0 if reaches(graph, client) else 1.0, 0.0)

    return _guarded(name, measure)


def _frame_loop(graph: FlatGraph, client: Any) -> FigureRow:
    """Frames in a loop: the base rests, and the motion ends with a reason."""
    name = "a loop of frames (map under base_link): time to rest"
    publisher = graph.nodes["client"].create_publisher(TFMessage, "tf", qos.transform_qos())
    graph.wait(lambda: bool(publisher.get_subscription_count() >= 3))

    def measure() -> FigureRow:
        handle = set_off(graph, client)
        told = to_transform("base_link", "map", SE2(1.0, 0.0), graph.now.time_s)
        publisher.publish(TFMessage(transforms=[told]))
        first = len(graph.bridge.trace)
        rest_s = rest_since(graph, first, math.ceil(WATCHED_S / graph.world.tick_s))
        ended = status_of(graph, handle)
        return at_most(name, rest_s, MAP_REST_S + 1e-6, "s", f"the motion ended {ended.name}")

    return _guarded(name, measure)
