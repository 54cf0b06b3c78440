"""Notices that a motion is stuck and runs bounded recoveries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, Velocity
from mnav_executor_geo.follower import PathFollower
from mnav_executor_geo.settings import ProgressSettings

# After this much driving a new obstacle gets all recoveries again.
_FORGIVEN_M = 1.0
_SHORTEST_S = 0.9


class ProgressMonitor:
    """Compares path and heading left with the best so far; both are bounded, so it cannot be satisfied for ever."""

    def __init__(self, settings: ProgressSettings) -> None:
        self._settings = settings
        self._best_m = math.inf
        self._best_rad = math.inf
        self._since_s: float | None = None
        self._blocked_since_s: float | None = None

    def restart(self, now_s: float) -> None:
        """Begin to measure anew, after a new path or a recovery."""
        self._best_m = self._best_rad = math.inf
        self._since_s = now_s
        self._blocked_since_s = None

    def is_stuck(self, now_s: float, remaining_m: float, turn_left_rad: float, blocked: bool) -> bool:
        """Whether nothing got better for the window, or the follower found no free velocity for `blocked_s`."""
        settings = self._settings
        if self._since_s is None or remaining_m <= self._best_m - settings.min_progress_m:
            self._best_m, self._best_rad, self._since_s = remaining_m, turn_left_rad, now_s
        elif turn_left_rad <= self._best_rad - settings.min_progress_rad:
            self._best_rad, self._since_s = turn_left_rad, now_s
        if not blocked:
            self._blocked_since_s = None
        elif self._blocked_since_s is None:
            self._blocked_since_s = now_s
        blocked_s = 0.0 if self._blocked_since_s is None else now_s - self._blocked_since_s
        return now_s - self._since_s >= settings.window_s or blocked_s >= settings.blocked_s


class RecoveryKind(Enum):
    """What is tried."""

    WAIT = auto()
    BACK_UP = auto()


@dataclass(frozen=True)
class _Active:
    kind: RecoveryKind
    until_s: float
    origin: SE2
    velocity: Velocity


class Recoveries:
    """Waits and short moves to a place with more room, in turn, each bounded in time and distance and all in number."""

    def __init__(self, settings: ProgressSettings, vx_min: float, wz_max: float) -> None:
        self._settings = settings
        self._back_speed = min(settings.back_up_speed, -vx_min)
        self._wz_max = wz_max
        self._used = 0
        self._last_pose: SE2 | None = None
        self._active: _Active | None = None

    @property
    def is_active(self) -> bool:
        """Whether a recovery runs."""
        return self._active is not None

    @property
    def used(self) -> int:
        """How many were begun since the base last got on."""
        return self._used

    def begin(self, now_s: float, pose: SE2, costmap: GridMap, follower: PathFollower) -> bool:
        """Begin the next recovery; False when all are used up."""
        if self._last_pose is not None and pose.distance_to(self._last_pose.x, self._last_pose.y) > _FORGIVEN_M:
            self._used = 0
        if self._used >= self._settings.rounds:
            return False
        self._last_pose = pose
        self._used += 1
        # A wait serves people who walk by; from the second time on the robot makes room for itself.
        velocity = None if self._used == 1 else self._roomiest(now_s, pose, costmap, follower)
        if velocity is None:
            self._active = _Active(RecoveryKind.WAIT, now_s + self._settings.wait_s, pose, STOP)
        else:
            self._active = _Active(RecoveryKind.BACK_UP, now_s + self._settings.back_up_s, pose, velocity)
        return True

    def step(self, now_s: float, pose: SE2, costmap: GridMap, follower: PathFollower) -> Velocity | None:
        """Velocity of this tick, None once the recovery is over: time or distance used up, or something in the way."""
        active = self._active
        if active is None:
            return None
        moved = pose.distance_to(active.origin.x, active.origin.y)
        if now_s >= active.until_s or moved >= self._settings.back_up_m:
            self._active = None
            return None
        velocity = follower.drive(now_s, pose, costmap, active.velocity)
        if active.kind is RecoveryKind.BACK_UP and velocity == STOP:
            self._active = None
            return None
        return velocity

    def _roomiest(self, now_s: float, pose: SE2, costmap: GridMap, follower: PathFollower) -> Velocity | None:
        """The slow arc, backwards or forwards, that ends where the costmap is lowest; None when none is free."""
        back, turn = self._back_speed, 0.5 * self._wz_max
        speeds = [-back, min(back, 0.1)] if back > 0.0 else [0.1]
        arcs = [(v, w) for v in speeds for w in (0.0, 0.5 * turn, -0.5 * turn, turn, -turn)]
        candidates = np.array([(v, w, math.inf) for v, w in arcs])
        duration = min(self._settings.back_up_s, self._settings.back_up_m / max(back, 0.1))
        times = follower.clear_for(now_s, pose, costmap, candidates, duration)
        best: tuple[float, Velocity] | None = None
        for (v, w), clear_s in zip(arcs, times, strict=True):
            if clear_s < _SHORTEST_S:
                continue
            driven_s = clear_s - 0.1
            middle = pose.yaw + 0.5 * w * driven_s
            value = costmap.at(pose.x + v * math.cos(middle) * driven_s, pose.y + v * math.sin(middle) * driven_s)
            # Unknown ground is the last to back into; a longer free arc is worth a little.
            score = (100.0 if value < 0 else float(value)) - 10.0 * driven_s + (2.0 if v > 0 else 0.0)
            if best is None or score < best[0]:
                best = (score, Velocity(v, 0.0, w))
        return None if best is None else best[1]
