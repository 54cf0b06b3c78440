"""The oracle.

Drives the reference route with the robot's own executor and looks at the target; shows what is possible.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from mnav_bench.episodes import Reference
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
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
    TaskGoal,
    TaskOutcome,
    TaskResult,
    Wait,
    WaitReason,
    WaitResult,
)
from mnav_core.robot import RobotDescription
from mnav_core.sensing import Detection
from mnav_perception.exploration.travel import travel_cost
from mnav_planner.agents.approach import ApproachSettings, approach, motion
from mnav_planner.sightings import Sighting, TargetMemory

MAX_STEPS = 400
REPLAN_S = 1.5


def oracle_mind(goal: TaskGoal, reference: Reference, robot: RobotDescription) -> Mind:
    """Follow the waypoints as far as the map knows them, then approach and verify the target at its true position."""
    yield from motion(Look(reference.camera_pitch), 10.0)
    if not (yield from follow(reference.waypoints, (reference.pose.x, reference.pose.y))):
        return TaskResult(TaskOutcome.BLOCKED, "the reference pose was not reached")
    memory = TargetMemory(goal.category)
    known = known_target(goal, reference.object_position, robot)
    if not (yield from approach(known, robot, memory, ApproachSettings())):
        return TaskResult(TaskOutcome.BLOCKED, "the target is not to be seen from the end of the reference")
    yield Stop()
    return TaskResult(TaskOutcome.ACHIEVED, "the target is in view at the end of the reference")


def known_target(goal: TaskGoal, position: tuple[float, float, float], robot: RobotDescription) -> Sighting:
    """What the oracle knows of the target, in the form of something seen."""
    x, y, z = position
    detection = Detection("oracle", goal.category, 1.0, (0.0, 0.0, 1.0, 1.0), None, (x, y, z), (0.1, 0.1, 0.1))
    return Sighting("oracle", goal.category, 0.0, robot.success_view, (x, y, z), detection, (1, 1))


def follow(route: Sequence[tuple[float, float]], end: tuple[float, float]) -> Generator[Request, Reply, bool]:
    """Drive along waypoints to an end as far as the map knows them; False after a dozen failures."""
    index, failures = 0, 0
    waypoints = [*route, end]
    for _ in range(MAX_STEPS):
        now = yield Observe()
        assert isinstance(now, Observation)
        while index < len(waypoints) - 1 and now.pose.distance_to(*waypoints[index]) < 0.35:
            index += 1
        ahead = _farthest_reachable(now.maps.costmap if now.maps else None, now.pose, waypoints, index)
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


def _farthest_reachable(costmap: GridMap | None, pose: SE2, waypoints: list[tuple[float, float]], index: int) -> int:
    """The last waypoint, from `index` on, that the map knows a way to."""
    if costmap is None:
        return index
    cost = travel_cost(costmap, pose)
    last = index
    for i in range(index, len(waypoints)):
        row, column = costmap.to_cell(*waypoints[i])
        if costmap.contains(row, column) and np.isfinite(cost[row, column]):
            last = i
    return last
