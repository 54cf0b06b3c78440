"""Keeps a path while it is valid and plans anew when it is not."""

from __future__ import annotations

import numpy as np

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_executor_geo.goal_tree import GoalTree, grow_tree, repair_path
from mnav_executor_geo.grid_search import CellPath, cost_factors, find_path, is_traversable
from mnav_executor_geo.paths import Cell, NoPath, Path, is_clear, plan
from mnav_executor_geo.settings import PlannerSettings

_FAR_OFF_M = 0.6


def cost_along(costmap: GridMap, path: Path, from_index: int, cost_weight: float) -> float:
    """Cost, in metres of free space, of the rest of a path on a costmap; points outside count like unknown."""
    points = path.points[from_index:]
    if len(points) < 2:
        return 0.0
    cells = np.floor((points - np.asarray(costmap.origin)) / costmap.resolution).astype(int)
    inside = (cells >= 0).all(axis=1) & (cells[:, 1] < costmap.shape[0]) & (cells[:, 0] < costmap.shape[1])
    cells = np.where(inside[:, None], cells, 0)
    values = np.where(inside, costmap.data[cells[:, 1], cells[:, 0]].astype(int), -1)
    factors = cost_factors(cost_weight)[values + 1]
    steps = np.hypot(*np.diff(points, axis=0).T)
    return float((steps * 0.5 * (factors[1:] + factors[:-1])).sum())


class Replanner:
    """The path to one goal over a map that changes."""

    def __init__(self, settings: PlannerSettings) -> None:
        self._settings = settings
        self._path: Path | None = None
        self._goal: tuple[float, float] | None = None
        self._checked: GridMap | None = None
        self._planned_s = 0.0
        self._tree: GoalTree | None = None

    @property
    def path(self) -> Path | None:
        """The path that is valid now."""
        return self._path

    def forget(self) -> None:
        """Plan anew at the next update whatever the map says."""
        self._path = None

    def update(
        self, now_s: float, pose: SE2, costmap: GridMap, goal: tuple[float, float], index: int, off_path_m: float
    ) -> Path | NoPath:
        """The path to follow. It is another object only when it changed.

        `index` and `off_path_m` say where on the present path the base is. Plans anew when there is no path, the goal
        moved, the base is far off, the path is blocked ahead, or periodically when the map changed and a clearly
        cheaper path exists.
        """
        path = self._path
        if path is None or goal != self._goal or off_path_m > _FAR_OFF_M or now_s < self._planned_s:
            return self._plan(now_s, pose, costmap, goal)
        if costmap is self._checked:
            self._freshen(pose, costmap)
            return path
        self._checked = costmap
        if not is_clear(costmap, path, index):
            return self._plan(now_s, pose, costmap, goal)
        if now_s - self._planned_s < self._settings.replan_period_s:
            return path
        self._planned_s = now_s
        other = self._plan_once(pose, costmap, goal)
        if isinstance(other, Path) and self._is_better(costmap, other, path, index):
            self._path = other
            return other
        return path

    def _freshen(self, pose: SE2, costmap: GridMap) -> None:
        """Between two maps there is time: grow the tree anew once changes have worn it."""
        if self._tree is None or not self._tree.is_worn or self._tree.costmap is not costmap:
            return
        start = costmap.to_cell(pose.x, pose.y)
        if is_traversable(costmap, *start):
            self._tree = grow_tree(costmap, start, self._tree.goal, self._settings.cost_weight)

    def _is_better(self, costmap: GridMap, other: Path, path: Path, index: int) -> bool:
        if other.moved_m < path.moved_m - costmap.resolution:
            return True
        weight = self._settings.cost_weight
        kept = cost_along(costmap, path, index, weight)
        return cost_along(costmap, other, 0, weight) < self._settings.keep_ratio * kept

    def _plan(self, now_s: float, pose: SE2, costmap: GridMap, goal: tuple[float, float]) -> Path | NoPath:
        result = self._plan_once(pose, costmap, goal)
        self._planned_s, self._goal, self._checked = now_s, goal, costmap
        self._path = result if isinstance(result, Path) else None
        return result

    def _plan_once(self, pose: SE2, costmap: GridMap, goal: tuple[float, float]) -> Path | NoPath:
        return plan(costmap, pose, goal, self._settings, lambda start, target: self._search(costmap, start, target))

    def _search(self, costmap: GridMap, start: Cell, target: Cell) -> CellPath | None:
        """Cells between two cells: from the last search where the map only got dearer since, else by a new one."""
        if not is_traversable(costmap, *start):
            return find_path(costmap, start, target, self._settings.cost_weight, self._settings.escape_m)
        if self._tree is not None and self._tree.goal == target:
            repair = repair_path(self._tree, costmap, start)
            if repair.usable:
                return repair.path
        self._tree = grow_tree(costmap, start, target, self._settings.cost_weight)
        return None if self._tree is None else self._tree.path
