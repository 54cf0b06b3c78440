"""Bounded recoveries of a motion that is stuck: a maneuver, a wait, a short move to where there is more room."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, Velocity
from mnav_core.robot import Limits
from mnav_executor_geo.follower import PathFollower
from mnav_executor_geo.maneuvers import Maneuver, ManeuverState
from mnav_executor_geo.settings import ProgressSettings
from mnav_executor_geo.tight_places import Route

# After this much progress towards the goal a new obstacle gets all recoveries again.
_FORGIVEN_M = 1.0
_SHORTEST_S = 0.9
_CREEP = 0.12
_CURVATURES = (0.0, 0.4, -0.4, 0.8, -0.8, 1.6, -1.6, 3.0, -3.0)

FindRoute = Callable[[], Route | None]


class _Wait:
    def __init__(self, until_s: float) -> None:
        self._until_s = until_s

    def step(self, now_s: float, pose: SE2, costmap: GridMap, follower: PathFollower) -> Velocity | None:
        return follower.ramp(now_s, STOP) if now_s < self._until_s else None


class _ShortMove:
    def __init__(self, velocity: Velocity, until_s: float, origin: SE2, distance_m: float) -> None:
        self._velocity = velocity
        self._until_s = until_s
        self._origin = origin
        self._distance_m = distance_m

    def step(self, now_s: float, pose: SE2, costmap: GridMap, follower: PathFollower) -> Velocity | None:
        moved = pose.distance_to(self._origin.x, self._origin.y)
        if now_s >= self._until_s or moved >= self._distance_m:
            return None
        velocity = follower.drive(now_s, pose, costmap, self._velocity)
        return None if velocity == STOP else velocity


class _Maneuvering:
    def __init__(self, maneuver: Maneuver) -> None:
        self._maneuver = maneuver

    def step(self, now_s: float, pose: SE2, costmap: GridMap, follower: PathFollower) -> Velocity | None:
        state, velocity = self._maneuver.step(now_s, pose, costmap, follower)
        return velocity if state is ManeuverState.DRIVING else None


class Recoveries:
    """One recovery after another, each bounded in time or distance and all of them in number."""

    def __init__(self, settings: ProgressSettings, limits: Limits) -> None:
        self._settings = settings
        self._limits = limits
        self._back_speed = min(settings.back_up_speed, -limits.vx_min)
        self._used = 0
        self._remaining_m = math.inf
        self._active: _Wait | _ShortMove | _Maneuvering | None = None

    @property
    def is_active(self) -> bool:
        """Whether a recovery runs."""
        return self._active is not None

    @property
    def used(self) -> int:
        """How many were begun since the base last got on."""
        return self._used

    def begin(
        self,
        now_s: float,
        pose: SE2,
        costmap: GridMap,
        follower: PathFollower,
        remaining_m: float,
        find_route: FindRoute,
    ) -> bool:
        """Begin the next recovery; False when all are used up. By `remaining_m` it sees whether the base got on.

        Maneuvers (`find_route`), short moves and waits take turns; what cannot be done now is a wait.
        """
        if remaining_m < self._remaining_m - _FORGIVEN_M:
            self._used = 0
            self._remaining_m = remaining_m
        if self._used >= self._settings.rounds:
            return False
        self._used += 1
        turn = self._used % 3
        if turn == 1:
            route = find_route()
            if route is not None:
                self.maneuver(route)
                return True
        if turn != 2:
            velocity = self._roomiest(pose, costmap, follower)
            if velocity is not None:
                until_s = now_s + self._settings.back_up_s
                self._active = _ShortMove(velocity, until_s, pose, self._settings.back_up_m)
                return True
        self._active = _Wait(now_s + self._settings.wait_s)
        return True

    def maneuver(self, route: Route) -> None:
        """Begin a maneuver that the plan asks for; it does not count."""
        self._active = _Maneuvering(Maneuver(route.legs, route.points, self._limits))

    def step(self, now_s: float, pose: SE2, costmap: GridMap, follower: PathFollower) -> Velocity | None:
        """Velocity of this tick, None once the recovery is over: done, out of time, or something in the way."""
        velocity = None if self._active is None else self._active.step(now_s, pose, costmap, follower)
        if velocity is None:
            self._active = None
        return velocity

    def _roomiest(self, pose: SE2, costmap: GridMap, follower: PathFollower) -> Velocity | None:
        """The slow arc, backwards or forwards, that ends where the costmap is lowest; None when none is free."""
        back = self._back_speed
        speeds = [-back, _CREEP] if back > 0.0 else [_CREEP]
        # Wide arcs peel off a wall alongside, where the tail would swing into it on narrow ones.
        arcs = [(v, v * curvature) for v in speeds for curvature in _CURVATURES]
        candidates = np.array([(v, w, math.inf) for v, w in arcs])
        duration = min(self._settings.back_up_s, self._settings.back_up_m / max(back, _CREEP))
        times = follower.clear_for(pose, costmap, candidates, duration)
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
