"""Turning in place by an angle of up to a full turn."""

from __future__ import annotations

import math

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.maps import GridMap
from mnav_core.motion import MotionStatus, Velocity
from mnav_core.requests import Turn
from mnav_core.robot import RobotDescription
from mnav_executor_geo.follower import PathFollower
from mnav_executor_geo.footprint import sweep_clear
from mnav_executor_geo.inputs import NavigatorInputs, TaskStep, is_fresh
from mnav_executor_geo.paths import NoPath
from mnav_executor_geo.recoveries import Recoveries
from mnav_executor_geo.settings import ExecutorSettings
from mnav_executor_geo.tight_places import TightPlaces

_LOOKAHEAD_RAD = 0.4


def check_turn(request: Turn) -> NoPath | None:
    """Why the base cannot turn so, None when it can."""
    if not math.isfinite(request.angle_rad) or abs(request.angle_rad) > 2.0 * math.pi + 1e-6:
        return NoPath(
            MotionStatus.REFUSED_OUT_OF_RANGE,
            f"angle_rad {request.angle_rad}: allowed: at most a full turn, -6.2832 to 6.2832",
        )
    return None


class TurnTask:
    """Adds up what odometry says was turned; makes room when a fresh costmap shows that the footprint would hit."""

    needs_odometry = True
    needs_map = False

    def __init__(self, request: Turn, robot: RobotDescription, settings: ExecutorSettings) -> None:
        self._left = request.angle_rad
        self._settings = settings
        self._limits = robot.limits
        self._follower = PathFollower(robot, settings.follower)
        self._recoveries = Recoveries(settings.progress, robot.limits)
        self._tight = TightPlaces(robot, settings)
        self._last: SE2 | None = None

    def step(self, inputs: NavigatorInputs) -> TaskStep:
        """One tick."""
        assert inputs.odometry is not None
        if self._last is not None:
            self._left -= wrap_angle(inputs.odometry.pose.yaw - self._last.yaw)
        self._last = inputs.odometry.pose
        costmap = inputs.costmap if is_fresh(inputs.now_s, inputs.map_stamp_s, self._settings.map_age_s) else None
        if costmap is not None and self._recoveries.is_active:
            velocity = self._recoveries.step(inputs.now_s, inputs.pose, costmap, self._follower)
            if velocity is not None:
                return TaskStep(velocity)
        if abs(self._left) <= self._settings.turn_tolerance:
            return TaskStep(status=MotionStatus.REACHED)
        if costmap is not None:
            ahead = math.copysign(min(abs(self._left), _LOOKAHEAD_RAD), self._left)
            points = self._follower.outlines.fitting(costmap, inputs.pose)
            if sweep_clear(costmap, points, inputs.pose, ahead) < abs(ahead):
                self._follower.halt()
                if not self._make_room(inputs.now_s, inputs.pose, costmap):
                    return TaskStep(
                        status=MotionStatus.BLOCKED_NO_PROGRESS,
                        reason=f"the footprint does not fit: {abs(self._left):.2f} rad left to turn",
                    )
                return TaskStep()
        gain = self._settings.follower.heading_gain
        rate = max(self._settings.follower.min_turn, min(self._limits.wz_max, gain * abs(self._left)))
        return TaskStep(self._follower.ramp(inputs.now_s, Velocity(0.0, 0.0, math.copysign(rate, self._left))))

    def _make_room(self, now_s: float, pose: SE2, costmap: GridMap) -> bool:
        return self._recoveries.begin(
            now_s, pose, costmap, self._follower, 0.0, lambda: self._tight.to_room(costmap, pose)
        )

    def end(self) -> None:
        """Nobody else is to be told."""

    def pause(self) -> None:
        """The base was commanded to rest."""
        self._follower.halt()

    def distance_to_target(self, inputs: NavigatorInputs) -> float | None:
        """Turning has no place to reach."""
        return None

    def expected_s(self) -> float:
        """Duration at full rate."""
        return abs(self._left) / self._limits.wz_max
