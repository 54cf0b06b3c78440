"""Lookahead path follower with proportional heading control and footprint lookahead, made to be stepped at 10 Hz."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, Velocity
from mnav_core.robot import RobotDescription
from mnav_executor_geo.footprint import Outlines, clear_times, sweep_clear
from mnav_executor_geo.paths import Path
from mnav_executor_geo.settings import FollowerSettings
from mnav_executor_geo.smoothing import line_is_clear

Array = NDArray[np.float64]
_PERIOD_S = 0.1
_SEARCH_AHEAD_M = 1.5


class FollowerState(Enum):
    """What the follower does."""

    TRACKING = auto()
    BLOCKED = auto()
    ARRIVED = auto()


@dataclass(frozen=True)
class FollowerStep:
    """Velocity of this tick; path left (m) and heading left to turn (rad) measure progress."""

    velocity: Velocity
    state: FollowerState
    remaining_m: float
    turn_left_rad: float
    off_path_m: float = 0.0


class PathFollower:
    """Drives one path after another; keeps where on the path the base is and what was commanded last."""

    def __init__(self, robot: RobotDescription, settings: FollowerSettings) -> None:
        self._limits = robot.limits
        self._settings = settings
        self._outlines = Outlines(robot.footprint, settings.padding_m)
        self._path: Path | None = None
        self._index = 0
        self._turn_sign: float | None = None
        self._aligning = False
        self._last = STOP
        self._last_s: float | None = None

    @property
    def outlines(self) -> Outlines:
        """Outlines of the footprint in the base frame."""
        return self._outlines

    @property
    def index(self) -> int:
        """Index of the path point that the base is at."""
        return self._index

    @property
    def is_aligning(self) -> bool:
        """Whether the base is near enough to the goal and only turns."""
        return self._aligning

    def follow(self, path: Path) -> None:
        """Take a new path, from its beginning."""
        self._path = path
        self._index = 0
        self._turn_sign = None
        self._aligning = False

    def halt(self) -> None:
        """Forget the last command: the base is commanded to rest by somebody else."""
        self._last = STOP
        self._last_s = None

    def step(self, now_s: float, pose: SE2, costmap: GridMap, tolerance_m: float, yaw: float | None) -> FollowerStep:
        """One tick towards the end of the path and then, unless `yaw` is None, to that heading."""
        path = self._path
        if path is None:
            raise ValueError("follower: step before follow, allowed: follow a path first")
        off_path = self._advance(path, pose)
        end = path.end
        distance = pose.distance_to(*end)
        remaining = max(distance, path.length_m - float(path.lengths_m[self._index]))
        # Within the tolerance, a base that would have to turn round to get nearer is near enough.
        beside = abs(pose.bearing_to(*end)) > self._settings.rotate_enter_rad
        self._aligning = distance <= (tolerance_m if self._aligning or beside else 0.5 * tolerance_m)
        if self._aligning:
            step = self._align(now_s, pose, costmap, yaw)
        else:
            step = self._track(now_s, pose, costmap, path, distance)
            if step.state is FollowerState.BLOCKED and distance <= tolerance_m:
                self._aligning = True
                step = self._align(now_s, pose, costmap, yaw)
        return FollowerStep(step.velocity, step.state, remaining, step.turn_left_rad, off_path)

    def settle(self) -> None:
        """Where the base is within the tolerance of the goal, take that for arrived and only turn to the heading."""
        self._aligning = True

    def drive(
        self,
        now_s: float,
        pose: SE2,
        costmap: GridMap,
        wanted: Velocity,
        left_s: float = math.inf,
        points: Array | None = None,
    ) -> Velocity:
        """Drive freely (recoveries) for the `left_s` to go, within limits and never into a lethal cell.

        `points` (N, 2) is the outline that must stay clear, the padded footprint by default.
        """
        horizon_s = max(2.0 * _PERIOD_S, min(self._settings.horizon_s, left_s))
        limit = abs(wanted.wz) * horizon_s if wanted.vx == 0.0 else math.inf
        clear = self.clear_for(pose, costmap, np.array([[wanted.vx, wanted.wz, limit]]), horizon_s, points)
        return self.ramp(now_s, wanted if clear[0] >= horizon_s - 1e-6 else STOP)

    def _advance(self, path: Path, pose: SE2) -> float:
        """Move the index to the nearest point a bounded way ahead; the distance to it."""
        stop = int(np.searchsorted(path.lengths_m, path.lengths_m[self._index] + _SEARCH_AHEAD_M)) + 1
        ahead = path.points[self._index : stop]
        distances = np.hypot(ahead[:, 0] - pose.x, ahead[:, 1] - pose.y)
        nearest = int(np.argmin(distances))
        self._index += nearest
        return float(distances[nearest])

    def _align(self, now_s: float, pose: SE2, costmap: GridMap, yaw: float | None) -> FollowerStep:
        error = 0.0 if yaw is None else wrap_angle(yaw - pose.yaw)
        if abs(error) <= self._settings.yaw_tolerance:
            return FollowerStep(self.ramp(now_s, STOP), FollowerState.ARRIVED, 0.0, abs(error))
        return self._rotate(now_s, pose, costmap, error)

    def _track(self, now_s: float, pose: SE2, costmap: GridMap, path: Path, distance: float) -> FollowerStep:
        settings, limits = self._settings, self._limits
        target = self._lookahead(path, pose, costmap)
        error = pose.bearing_to(*target)
        threshold = settings.rotate_enter_rad if self._turn_sign is None else settings.rotate_leave_rad
        if abs(error) > threshold and pose.distance_to(*target) > 1e-3:
            return self._rotate(now_s, pose, costmap, error)
        self._turn_sign = None
        value = min(98, max(0, costmap.at(pose.x, pose.y)))
        speed = limits.vx_max * (1.0 - settings.obstacle_slowdown * value / 98.0)
        speed *= max(0.2, 1.0 - abs(error) / settings.rotate_enter_rad)
        speed = max(settings.min_speed, min(speed, settings.approach_gain * distance))
        turn = max(-limits.wz_max, min(limits.wz_max, settings.heading_gain * error))
        return self._avoid(now_s, pose, costmap, speed, turn, error)

    def _lookahead(self, path: Path, pose: SE2, costmap: GridMap) -> tuple[float, float]:
        """A point of the path some way ahead that the base can head for in a straight line."""
        here = float(path.lengths_m[self._index])
        reach = self._settings.lookahead_m + self._settings.lookahead_s * max(0.0, self._last.vx)
        # Near obstacles a short lookahead keeps the base on the path round corners.
        reach *= 1.0 - 0.5 * min(98, max(0, costmap.at(pose.x, pose.y))) / 98.0
        for fraction in (1.0, 0.75, 0.5):
            index = min(len(path.points) - 1, int(np.searchsorted(path.lengths_m, here + fraction * reach)))
            point = (float(path.points[index, 0]), float(path.points[index, 1]))
            if line_is_clear(costmap, (pose.x, pose.y), point):
                return point
        return point

    def _rotate(self, now_s: float, pose: SE2, costmap: GridMap, error: float) -> FollowerStep:
        """Turn in place; the way round is chosen once: the shorter one unless the footprint only fits the longer."""
        if self._turn_sign is None:
            self._turn_sign = self._way_round(pose, costmap, error)
        left = error if self._turn_sign * error > 0.0 else error + self._turn_sign * 2.0 * math.pi
        if abs(left) > 2.0 * math.pi - 0.3:
            left = error
        rate = max(self._settings.min_turn, min(self._limits.wz_max, self._settings.heading_gain * abs(left)))
        return self._avoid(now_s, pose, costmap, 0.0, math.copysign(rate, left), left)

    def _way_round(self, pose: SE2, costmap: GridMap, error: float) -> float:
        sign = math.copysign(1.0, error)
        points = self._outlines.fitting(costmap, pose)
        if sweep_clear(costmap, points, pose, error) < abs(error):
            other = error - sign * 2.0 * math.pi
            if sweep_clear(costmap, points, pose, other) >= abs(other):
                return -sign
        return sign

    def _avoid(
        self, now_s: float, pose: SE2, costmap: GridMap, speed: float, turn: float, error: float
    ) -> FollowerStep:
        """The velocity nearest to the wanted one whose arc the footprint can drive for the horizon."""
        limits = self._limits
        limit = abs(error) if speed == 0.0 else math.inf
        speeds = [speed, 0.6 * speed, 0.3 * speed] if speed > 0.0 else [0.0, 0.08, 0.16]
        turns = [turn, 0.5 * turn, 0.0, *(turn + d * limits.wz_max for d in (0.3, -0.3, 0.7, -0.7))]
        options = [
            (v, max(-limits.wz_max, min(limits.wz_max, w)), limit)
            for v in speeds
            for w in turns
            if v > 0.0 or w == turn
        ]
        if speed > 0.0:
            options.append((0.0, turn, abs(error)))
        candidates = np.array(options)
        horizon_s = self._settings.horizon_s
        clear = self.clear_for(pose, costmap, candidates, horizon_s) >= horizon_s - 1e-6
        if not clear.any():
            return FollowerStep(self.ramp(now_s, STOP), FollowerState.BLOCKED, 0.0, abs(error))
        slower = np.abs(candidates[:, 0] - speed) / limits.vx_max
        deviation = slower + 0.5 * np.abs(candidates[:, 1] - turn) / limits.wz_max
        best = int(np.argmin(np.where(clear, deviation, np.inf)))
        wanted = Velocity(float(candidates[best, 0]), 0.0, float(candidates[best, 1]))
        return FollowerStep(self.ramp(now_s, wanted), FollowerState.TRACKING, 0.0, abs(error))

    def clear_for(
        self, pose: SE2, costmap: GridMap, candidates: Array, horizon_s: float, points: Array | None = None
    ) -> Array:
        """Seconds (N,) that candidates (N, 3) can be driven from the present velocity, at most the horizon."""
        velocity = (self._last.vx, self._last.wz)
        accelerations = (self._limits.decel, self._limits.angular_decel)
        checked = self._outlines.fitting(costmap, pose) if points is None else points
        return clear_times(costmap, checked, pose, velocity, candidates, accelerations, horizon_s)

    def ramp(self, now_s: float, wanted: Velocity) -> Velocity:
        """The wanted velocity within the accelerations of the robot, counted from the last command."""
        limits = self._limits
        dt = _PERIOD_S if self._last_s is None else min(max(now_s - self._last_s, 0.0), 2.0 * _PERIOD_S)
        self._last_s = now_s
        self._last = Velocity(
            _ramp(self._last.vx, wanted.vx, limits.accel * dt, limits.decel * dt),
            0.0,
            _ramp(self._last.wz, wanted.wz, limits.angular_accel * dt, limits.angular_decel * dt),
        )
        return self._last


def _ramp(now: float, wanted: float, faster: float, slower: float) -> float:
    """One step from `now` to `wanted`: at most `faster` away from zero, at most `slower` towards it."""
    if now * wanted < 0.0:
        wanted = 0.0
    change = faster if abs(wanted) > abs(now) else slower
    return now + max(-change, min(change, wanted - now))
