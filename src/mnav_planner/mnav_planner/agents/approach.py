"""Going to a seen target and making sure that it is there: visual point first, remembered position second."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mnav_core.geometry import wrap_angle
from mnav_core.maps import INSCRIBED, MapSnapshot
from mnav_core.motion import MotionGroup, MotionReport, MotionStatus
from mnav_core.requests import (
    GoToPoint,
    GoToPose,
    Look,
    MotionHandle,
    MotionRequest,
    Note,
    Observation,
    Observe,
    PointIntent,
    Reply,
    Request,
    Stop,
    Turn,
    Wait,
    WaitResult,
)
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame
from mnav_perception.exploration.travel import travel_cost
from mnav_planner.sightings import Sighting, TargetMemory, sightings_of


@dataclass(frozen=True)
class ApproachSettings:
    """When a target counts as found: its estimated centre is nearer than `distance_m` and it is in the success view.

    Driving towards it ends at `enough_m` if it was seen within `fresh_s`, looked at every `check_s`.
    """

    distance_m: float = 1.4
    attempts: int = 3
    motion_timeout_s: float = 120.0
    look_wait_s: float = 2.5
    enough_m: float = 1.3
    fresh_s: float = 1.5
    check_s: float = 0.3
    near_m: float = 0.55


Step = Generator[Request, Reply, MotionReport]


class Seeing(Protocol):
    """Whoever wants to know what is seen on the way."""

    def add(self, frames: Iterable[DetectionFrame]) -> None:
        """Take in detection frames."""
        ...


def motion(request: MotionRequest, timeout_s: float, memory: Seeing | None = None) -> Step:
    """Start a motion and wait for its end, at most `timeout_s`; what is seen on the way goes into the memory."""
    handle = yield request
    assert isinstance(handle, MotionHandle)
    now = yield Observe()
    assert isinstance(now, Observation)
    if memory is not None:
        memory.add(now.detections)
    ended = yield Wait(motion_id=handle.motion_id, until_s=now.stamp_s + timeout_s)
    assert isinstance(ended, WaitResult)
    if memory is not None:
        memory.add(ended.detections)
    return ended.report or MotionReport(handle.motion_id, MotionStatus.TIMED_OUT, "the mind stopped waiting")


def approach(
    target: Sighting, robot: RobotDescription, memory: TargetMemory, settings: ApproachSettings
) -> Generator[Request, Reply, bool]:
    """Go near the target, face it, look at it; True once it is in the success view and near enough."""
    tried: list[tuple[float, float]] = []
    for attempt in range(settings.attempts):
        if not (yield from _is_near(target, settings)):
            if attempt == 0:
                yield from _by_visual_point(target, memory, settings)
            if not (yield from _is_near(target, settings)) and not (
                yield from _by_position(target, memory, settings, tried)
            ):
                yield Note(f"no way to within {settings.distance_m} m of the {target.category}")
                return False
        if (yield from _verify(target, robot, memory, settings)):
            return True
        yield Note(f"the {target.category} is not in the {robot.success_view} view from here, attempt {attempt + 1}")
        now = yield Observe()
        assert isinstance(now, Observation)
        tried.append((now.pose.x, now.pose.y))
        target = memory.newest(target.entity_id) or target
        if not (yield from _by_position(target, memory, settings, tried)):
            return False
        if (yield from _verify(target, robot, memory, settings)):
            return True
    return False


def _is_near(target: Sighting, settings: ApproachSettings) -> Generator[Request, Reply, bool]:
    now = yield Observe()
    assert isinstance(now, Observation)
    return now.pose.distance_to(*target.position[:2]) < settings.distance_m - 0.1


def _by_visual_point(
    target: Sighting, memory: TargetMemory, settings: ApproachSettings
) -> Generator[Request, Reply, bool]:
    now = yield Observe(capture=True)
    assert isinstance(now, Observation)
    memory.add(now.detections)
    if now.capture is None:
        return False
    memory.add(now.capture.detections)
    seen = [s for s in sightings_of(now.capture.detections, target.category) if s.entity_id == target.entity_id]
    if not seen:
        return False
    u, v = seen[-1].uv
    yield Note(f"driving to the {target.category} by the {seen[-1].view} view at ({u:.2f}, {v:.2f})")
    point = GoToPoint(now.capture.ref, seen[-1].view, u, v, PointIntent.APPROACH)
    return (yield from _drive_until_near(point, target, memory, settings))


def _by_position(
    target: Sighting, memory: TargetMemory, settings: ApproachSettings, tried: list[tuple[float, float]]
) -> Generator[Request, Reply, bool]:
    for _ in range(4):
        now = yield Observe()
        assert isinstance(now, Observation)
        memory.add(now.detections)
        if now.maps is None:
            return False
        pose = next(_standing_places(now.maps, now, target, settings, tried), None)
        if pose is None:
            return False
        tried.append(pose)
        yaw = math.atan2(target.position[1] - pose[1], target.position[0] - pose[0])
        if (yield from _drive_until_near(GoToPose(pose[0], pose[1], yaw), target, memory, settings)):
            return True
    return False


def _drive_until_near(
    request: GoToPoint | GoToPose, target: Sighting, memory: TargetMemory, settings: ApproachSettings
) -> Generator[Request, Reply, bool]:
    """Drive, and stop as soon as the target is near enough and was seen a moment ago: going closer shows no more.

    False when the motion ended before its goal.
    """
    handle = yield request
    assert isinstance(handle, MotionHandle)
    now = yield Observe()
    assert isinstance(now, Observation)
    deadline_s = now.stamp_s + settings.motion_timeout_s
    while now.stamp_s < deadline_s:
        waited = yield Wait(handle.motion_id, until_s=now.stamp_s + settings.check_s)
        assert isinstance(waited, WaitResult)
        memory.add(waited.detections)
        if waited.report is not None:
            return waited.report.status.group is MotionGroup.REACHED
        now = yield Observe()
        assert isinstance(now, Observation)
        memory.add(now.detections)
        newest = memory.newest(target.entity_id)
        is_fresh = newest is not None and now.stamp_s - newest.stamp_s <= settings.fresh_s
        if is_fresh and now.pose.distance_to(*target.position[:2]) < settings.enough_m:
            yield Stop()
            return True
    yield Stop()
    return False


def _standing_places(
    maps: MapSnapshot, now: Observation, target: Sighting, settings: ApproachSettings, tried: list[tuple[float, float]]
) -> Iterator[tuple[float, float]]:
    """Reachable free cells around the target, cheapest first: travel plus a wish for half of the allowed distance."""
    costmap = maps.costmap
    cost = travel_cost(costmap, now.pose)
    rows, columns = np.nonzero((costmap.data >= 0) & (costmap.data < INSCRIBED) & np.isfinite(cost))
    xs = costmap.origin[0] + (columns + 0.5) * costmap.resolution
    ys = costmap.origin[1] + (rows + 0.5) * costmap.resolution
    distance = np.hypot(xs - target.position[0], ys - target.position[1])
    ok = (distance < settings.distance_m - 0.15) & (distance > settings.near_m)
    for x, y in tried:
        ok &= np.hypot(xs - x, ys - y) > 0.4
    score = cost[rows, columns] + 2.0 * np.abs(distance - 0.9) + 0.01 * costmap.data[rows, columns]
    for i in np.argsort(np.where(ok, score, np.inf), kind="stable")[:1]:
        if ok[i]:
            yield float(xs[i]), float(ys[i])


def _verify(
    target: Sighting, robot: RobotDescription, memory: TargetMemory, settings: ApproachSettings
) -> Generator[Request, Reply, bool]:
    """Face the target with the success camera, tilt to it, and see it there."""
    camera = robot.views[robot.success_view]
    for _ in range(2):
        now = yield Observe()
        assert isinstance(now, Observation)
        memory.add(now.detections)
        x, y, z = (memory.newest(target.entity_id) or target).position
        angle = wrap_angle(now.pose.bearing_to(x, y) - camera.rpy[2])
        if abs(angle) > 0.12:
            yield from motion(Turn(angle), 30.0, memory)
        if camera.tilt is not None:
            down = math.atan2(camera.xyz[2] - z, max(0.2, now.pose.distance_to(x, y) - camera.xyz[0]))
            pitch = min(max(down, camera.tilt.min_rad), camera.tilt.max_rad)
            yield from motion(Look(pitch), 10.0, memory)
        turned = yield Observe()
        assert isinstance(turned, Observation)
        looked = yield Wait(until_s=turned.stamp_s + settings.look_wait_s)
        assert isinstance(looked, WaitResult)
        memory.add(looked.detections)
        fresh = [
            s
            for s in sightings_of(looked.detections, target.category)
            if s.view == robot.success_view and s.stamp_s >= turned.stamp_s
        ]
        here = yield Observe()
        assert isinstance(here, Observation)
        if any(here.pose.distance_to(*s.position[:2]) < settings.distance_m for s in fresh):
            return True
    return False
