"""A whole graph around a flat yard with faults, and driving in it: what the rows of motions are measured in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from geometry_msgs.msg import PoseStamped, Quaternion
from nav2_msgs.action import NavigateToPose

from mnav_bench.robustness.faulty_world import FaultyWorld
from mnav_bench.testing.flat_graph import FlatGraph
from mnav_core.motion import MotionStatus
from mnav_core.nav2_codes import status_of_error_code
from mnav_sim_bridge.flat_world import Box, Yard

ROBOT = "cobot_magic"
YARD = Yard((4.0, 4.0), boxes=(Box((-0.3, 2.4, 0.0), (0.3, 2.8, 1.4)),))
GOAL_LIMIT_S = 60.0


@contextmanager
def yard_graph(real_time_factor: float = 1.0) -> Iterator[FlatGraph]:
    """The graph, running, with a map; its world is a `FaultyWorld`."""
    with FlatGraph(yard=YARD, real_time_factor=real_time_factor, wrap=FaultyWorld) as graph:
        graph.go()
        graph.wait(lambda: graph.nodes[f"{ROBOT}:executor"].costmap is not None)
        yield graph


def world_of(graph: FlatGraph) -> FaultyWorld:
    """The world that can be made to fail."""
    assert isinstance(graph.world, FaultyWorld)
    return graph.world


def far_side(graph: FlatGraph) -> tuple[float, float]:
    """A place well away from where the robot is."""
    return (-2.2 if graph.now.poses[ROBOT].x > 0.0 else 2.2, -0.8)


def is_moving(graph: FlatGraph) -> bool:
    """Whether the base clearly moves now."""
    velocity = graph.now.velocities[ROBOT]
    return abs(velocity.vx) > 0.2 or abs(velocity.wz) > 0.4


def drive_goal(x: float, y: float) -> Any:
    """A goal of one holder, its heading left free."""
    pose = PoseStamped()
    pose.header.frame_id = "map"
    pose.pose.position.x, pose.pose.position.y = x, y
    pose.pose.orientation = Quaternion(x=0.0, y=0.0, z=0.0, w=0.0)
    return NavigateToPose.Goal(pose=pose, behavior_tree="holder:rows")


def client_of(graph: FlatGraph) -> Any:
    """A client of `navigate_to_pose`."""
    return graph.client(NavigateToPose, "navigate_to_pose")


def set_off(graph: FlatGraph, client: Any) -> Any:
    """Send the robot to the other side and wait until it moves; the goal's handle. Raises TimeoutError."""
    handle = graph.send(client, drive_goal(*far_side(graph)))
    graph.wait(lambda: is_moving(graph))
    return handle


def status_of(graph: FlatGraph, handle: Any) -> MotionStatus:
    """How a goal ended. Raises TimeoutError."""
    return status_of_error_code(graph.result_of(handle.get_result_async(), GOAL_LIMIT_S).result.error_code)


def reaches(graph: FlatGraph, client: Any) -> bool:
    """Whether the robot gets to the other side now, truly."""
    x, y = far_side(graph)
    status = status_of(graph, graph.send(client, drive_goal(x, y)))
    return status is MotionStatus.REACHED and graph.now.poses[ROBOT].distance_to(x, y) < 0.3


def rest_since(graph: FlatGraph, first: int, watched_ticks: int) -> float:
    """Robot seconds from trace index `first` until the base rests for good, over `watched_ticks`; inf when it does not.

    Counted in ticks, since the clock may jump.
    """
    graph.wait(lambda: len(graph.bridge.trace) >= first + watched_ticks)
    moments = graph.bridge.trace[first : first + watched_ticks]
    moving = [k for k, moment in enumerate(moments) if not moment.velocities[ROBOT].is_rest]
    if not moving:
        return 0.0
    return math.inf if moving[-1] == len(moments) - 1 else (moving[-1] + 1) * graph.world.tick_s
