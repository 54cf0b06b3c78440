"""Drives the legs of a maneuver slowly, one after another."""

from __future__ import annotations

import math
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, Velocity
from mnav_core.robot import Limits
from mnav_executor_geo.follower import PathFollower
from mnav_executor_geo.maneuver_search import Leg, LegKind

Array = NDArray[np.float64]
_SPEED = 0.2
_SLOWEST = 0.05
_GAIN = 2.0
_PLACE_M = 0.02
_YAW_RAD = 0.03
_BLOCKED_S = 1.0
# A leg may take this many times its duration at full speed, and the spare seconds on top.
_PATIENCE, _SPARE_S = 3.0, 3.0


class ManeuverState(Enum):
    """Whether a maneuver goes on."""

    DRIVING = auto()
    DONE = auto()
    FAILED = auto()


class Maneuver:
    """Legs in order; fails when one is blocked for a second or takes too long. `points` (N, 2) must stay clear."""

    def __init__(self, legs: tuple[Leg, ...], points: Array, limits: Limits) -> None:
        self._legs = legs
        self._points = points
        self._limits = limits
        self._current = 0
        self._leg_ends_s: float | None = None
        self._blocked_since_s: float | None = None

    def step(self, now_s: float, pose: SE2, costmap: GridMap, follower: PathFollower) -> tuple[ManeuverState, Velocity]:
        """One tick."""
        for _ in range(len(self._legs) + 1):
            if self._current >= len(self._legs):
                return ManeuverState.DONE, follower.ramp(now_s, STOP)
            leg = self._legs[self._current]
            wanted, left_s = self._rotate(leg, pose) if leg.kind is LegKind.ROTATE else self._straight(leg, pose)
            if wanted is not None:
                break
            self._current += 1
            self._leg_ends_s = None
        assert wanted is not None
        if self._leg_ends_s is None:
            self._leg_ends_s = now_s + _PATIENCE * left_s + _SPARE_S
        velocity = follower.drive(now_s, pose, costmap, wanted, left_s, self._points)
        if velocity != STOP:
            self._blocked_since_s = None
        elif self._blocked_since_s is None:
            self._blocked_since_s = now_s
        blocked = self._blocked_since_s is not None and now_s - self._blocked_since_s >= _BLOCKED_S
        state = ManeuverState.FAILED if blocked or now_s >= self._leg_ends_s else ManeuverState.DRIVING
        return state, velocity

    def _rotate(self, leg: Leg, pose: SE2) -> tuple[Velocity | None, float]:
        """Velocity and seconds left; None once the heading is there."""
        error = wrap_angle(leg.yaw - pose.yaw)
        if abs(error) <= _YAW_RAD:
            return None, 0.0
        # Near half a turn the way round is the planned one.
        if abs(error) > 2.5 and error * leg.turn < 0.0:
            error += math.copysign(2.0 * math.pi, leg.turn)
        rate = max(0.1, min(self._limits.wz_max, _GAIN * abs(error)))
        return Velocity(0.0, 0.0, math.copysign(rate, error)), abs(error) / rate

    def _straight(self, leg: Leg, pose: SE2) -> tuple[Velocity | None, float]:
        """Velocity and seconds left; None once the base is level with the end."""
        sign = 1.0 if leg.kind is LegKind.FORWARD else -1.0
        dx, dy = leg.x - pose.x, leg.y - pose.y
        c, s = math.cos(leg.yaw), math.sin(leg.yaw)
        left = sign * (c * dx + s * dy)
        if left <= _PLACE_M:
            return None, 0.0
        lateral = -s * dx + c * dy
        # Steer to the line within half a metre, so that a small offset does not swing the base.
        heading = wrap_angle(leg.yaw + sign * math.atan2(lateral, 0.5) - pose.yaw)
        fastest = min(_SPEED, self._limits.vx_max if sign > 0.0 else -self._limits.vx_min)
        speed = max(_SLOWEST, min(fastest, _GAIN * left))
        turn = max(-0.5 * self._limits.wz_max, min(0.5 * self._limits.wz_max, _GAIN * heading))
        return Velocity(sign * speed, 0.0, turn), left / speed
