"""The oracle.

Drives the reference route with the robot's own executor and looks at the target; shows what is possible.
"""

from __future__ import annotations

from collections.abc import Generator

from mnav_bench.episodes import Reference
from mnav_core.geometry import wrap_angle
from mnav_core.maps import INSCRIBED, GridMap
from mnav_core.motion import MotionGroup
from mnav_core.requests import (
    GoToPose,
    Look,
    Mind,
    MotionHandle,
    Observation,
    Observe,
    Reply,
    Request,
    Stop,
    TaskOutcome,
    TaskResult,
    Turn,
    Wait,
    WaitReason,
    WaitResult,
)
from mnav_core.robot import RobotDescription
from mnav_planner.agents.approach import motion

MAX_STEPS = 400
REPLAN_S = 1.5


def oracle_mind(reference: Reference, robot: RobotDescription) -> Mind:
    """Follow the waypoints as far as the map knows them, then take the reference pose and pitch."""
    end = reference.pose
    yield from motion(Look(reference.camera_pitch), 10.0)
    reached = yield from _follow(reference)
    if not reached:
        return TaskResult(TaskOutcome.BLOCKED, "the reference pose was not reached")
    now = yield Observe()
    assert isinstance(now, Observation)
    turn = wrap_angle(end.yaw - now.pose.yaw)
    if abs(turn) > 0.05:
        yield from motion(Turn(turn), 30.0)
    yield Stop()
    return TaskResult(TaskOutcome.ACHIEVED, "reference pose reached")


def _follow(reference: Reference) -> Generator[Request, Reply, bool]:
    index, failures = 0, 0
    waypoints = [*reference.waypoints, (reference.pose.x, reference.pose.y)]
    for _ in range(MAX_STEPS):
        now = yield Observe()
        assert isinstance(now, Observation)
        while index < len(waypoints) - 1 and now.pose.distance_to(*waypoints[index]) < 0.35:
            index += 1
        ahead = _farthest_known(now.maps.costmap if now.maps else None, waypoints, index)
        is_last = ahead == len(waypoints) - 1
        handle = yield GoToPose(*waypoints[ahead], None, 0.12 if is_last else 0.3)
        assert isinstance(handle, MotionHandle)
        until = None if is_last else now.stamp_s + REPLAN_S
        ended = yield Wait(handle.motion_id, until_s=until if until is not None else now.stamp_s + 60.0)
        assert isinstance(ended, WaitResult)
        if ended.reason is not WaitReason.MOTION or ended.report is None:
            continue
        if ended.report.status.group is MotionGroup.REACHED:
            if is_last:
                return True
            index = max(index, ahead)
            continue
        failures += 1
        if failures > 12:
            return False
        waited = yield Observe()
        assert isinstance(waited, Observation)
        yield Wait(until_s=waited.stamp_s + 1.0)
    return False


def _farthest_known(costmap: GridMap | None, waypoints: list[tuple[float, float]], index: int) -> int:
    """The last waypoint of the unbroken run of known free ones from `index` on."""
    if costmap is None:
        return index
    last = index
    for i in range(index, len(waypoints)):
        if not 0 <= costmap.at(*waypoints[i]) < INSCRIBED:
            break
        last = i
    return last
