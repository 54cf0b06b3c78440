"""Maneuvers out of and into places where the base fits only in some headings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, INSCRIBED, GridMap
from mnav_core.robot import RobotDescription
from mnav_executor_geo.footprint import Outlines, outline, sweep_clear, touched_points
from mnav_executor_geo.maneuver_search import Leg, find_maneuver
from mnav_executor_geo.paths import Path
from mnav_executor_geo.settings import ExecutorSettings

Array = NDArray[np.float64]
_SPACING_M = 0.04
_ROOM_WITHIN_M = 1.0
_REACHED_M = 0.12


@dataclass(frozen=True, eq=False)
class Route:
    """Legs of a maneuver and the outline (N, 2) to keep clear while driving them."""

    legs: tuple[Leg, ...]
    points: Array


class TightPlaces:
    """Finds maneuvers for one robot."""

    def __init__(self, robot: RobotDescription, settings: ExecutorSettings) -> None:
        self._settings = settings
        self._outlines = Outlines(robot.footprint, settings.maneuver.padding_m)
        self._wished = outline(robot.footprint, _SPACING_M, settings.maneuver.wished_padding_m)

    def to_goal(
        self, costmap: GridMap, pose: SE2, goal: tuple[float, float], tolerance_m: float, yaw: float | None
    ) -> Route | None:
        """Legs to a goal nearby, None when it is far or cannot be reached so."""
        if pose.distance_to(*goal) > self._settings.maneuver.goal_m:
            return None
        return self._find(costmap, pose, goal, max(costmap.resolution, 0.85 * tolerance_m), yaw)

    def along(self, costmap: GridMap, pose: SE2, path: Path, index: int) -> Route | None:
        """Legs past a narrow part of a path: to the first point ahead where the base can turn, None without one."""
        limits = self._settings.maneuver
        here = float(path.lengths_m[index])
        ahead = np.nonzero(
            (path.lengths_m >= here + limits.ahead_min_m) & (path.lengths_m <= here + limits.ahead_max_m)
        )[0]
        points = [(float(path.points[i, 0]), float(path.points[i, 1])) for i in ahead]
        roomy = [p for p in points if self._can_turn(costmap, p)]
        for target in roomy[:1] or points[-1:]:
            return self._find(costmap, pose, target, _REACHED_M, None)
        return None

    def to_room(self, costmap: GridMap, pose: SE2) -> Route | None:
        """Legs to the nearest place where the base can turn all the way round, None without one."""
        span = math.ceil(_ROOM_WITHIN_M / costmap.resolution)
        row, column = costmap.to_cell(pose.x, pose.y)
        offsets = [(r, c) for r in range(-span, span + 1) for c in range(-span, span + 1)]
        for r, c in sorted(offsets, key=lambda o: o[0] ** 2 + o[1] ** 2):
            if costmap.contains(row + r, column + c) and FREE <= int(costmap.data[row + r, column + c]) < INSCRIBED:
                place = costmap.to_point(row + r, column + c)
                if self._can_turn(costmap, place):
                    return self._find(costmap, pose, place, costmap.resolution, None)
        return None

    def fits_head_on(self, costmap: GridMap, pose: SE2, goal: tuple[float, float]) -> bool:
        """Whether the footprint fits at a goal when the base comes straight from where it is."""
        heading = math.atan2(goal[1] - pose.y, goal[0] - pose.x)
        return touched_points(costmap, self._outlines.padded, SE2(goal[0], goal[1], heading)) == 0

    def _can_turn(self, costmap: GridMap, place: tuple[float, float]) -> bool:
        pose = SE2(place[0], place[1], 0.0)
        points = self._outlines.padded
        if touched_points(costmap, points, pose) > 0:
            return False
        return sweep_clear(costmap, points, pose, 2.0 * math.pi, 0.1) >= 2.0 * math.pi

    def _find(
        self, costmap: GridMap, pose: SE2, goal: tuple[float, float], within_m: float, yaw: float | None
    ) -> Route | None:
        weight, settings = self._settings.planner.cost_weight, self._settings.maneuver
        points = self._outlines.fitting(costmap, pose)
        legs = find_maneuver(costmap, points, self._wished, pose, goal, within_m, yaw, weight, settings)
        return Route(legs, self._outlines.fitting(costmap, pose, 1)) if legs else None
