"""Planning on a costmap from where the robot stands to where it shall stand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, INSCRIBED, GridMap
from mnav_core.motion import MotionStatus
from mnav_executor_geo.grid_search import CellPath, Reach, find_path, flood, is_lethal, is_traversable
from mnav_executor_geo.settings import PlannerSettings
from mnav_executor_geo.smoothing import resample, smooth

Array = NDArray[np.float64]
Cell = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Path:
    """Points (N, 2) of `map` about one cell apart, first the robot's place, last the goal's.

    `cost_m` is the search's cost in metres of free space; `moved_m` how far the goal was moved to where one can stand.
    """

    points: Array
    cost_m: float
    moved_m: float = 0.0

    @cached_property
    def lengths_m(self) -> Array:
        """Length (N,) from the first point to each."""
        steps = np.hypot(*np.diff(self.points, axis=0).T)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def length_m(self) -> float:
        """Whole length."""
        return float(self.lengths_m[-1])

    @property
    def end(self) -> tuple[float, float]:
        """The goal's place."""
        return (float(self.points[-1, 0]), float(self.points[-1, 1]))


@dataclass(frozen=True)
class NoPath:
    """Why there is no path."""

    status: MotionStatus
    reason: str


def plan(
    costmap: GridMap,
    start: SE2,
    goal: tuple[float, float],
    settings: PlannerSettings,
    search: Callable[[Cell, Cell], CellPath | None] | None = None,
) -> Path | NoPath:
    """Cheapest path of the base from `start` to `goal` on the graded costmap, shortened by line of sight.

    A goal where one cannot stand, or that cannot be reached, is moved to the nearest place that can, at most
    `settings.snap_m` away.
    `search` finds the cells between two cells, `find_path` unless given.
    """
    refused = check_start(costmap, start)
    if refused is not None:
        return refused
    origin, target = costmap.to_cell(start.x, start.y), costmap.to_cell(*goal)
    if is_traversable(costmap, *target):
        if search is None:
            cells = find_path(costmap, origin, target, settings.cost_weight, settings.escape_m)
        else:
            cells = search(origin, target)
        if cells is not None:
            return to_path(costmap, cells, start, goal, settings)
    reach = flood(costmap, origin, settings.cost_weight, settings.escape_m)
    near = None if reach is None else nearest_reachable(costmap, reach, goal, settings.snap_m)
    if reach is None or near is None:
        return NoPath(
            MotionStatus.BLOCKED_NO_PATH,
            f"no path to ({goal[0]:.2f}, {goal[1]:.2f}): {_describe(costmap, target)},"
            f" nothing reachable within {settings.snap_m:.2f} m",
        )
    moved = reach.path_to(*near)
    assert moved is not None
    return to_path(costmap, moved, start, costmap.to_point(*near), settings, math.dist(costmap.to_point(*near), goal))


def check_start(costmap: GridMap, start: SE2) -> NoPath | None:
    """A refusal when the base's cell is lethal or outside the grid, else None."""
    cell = costmap.to_cell(start.x, start.y)
    place = f"start ({start.x:.2f}, {start.y:.2f})"
    if not costmap.contains(*cell):
        return NoPath(MotionStatus.REFUSED_START_LETHAL, f"{place} lies outside the costmap")
    if is_lethal(costmap, *cell):
        return NoPath(MotionStatus.REFUSED_START_LETHAL, f"{place} lies in a lethal cell")
    return None


def to_path(
    costmap: GridMap,
    cells: CellPath,
    start: SE2,
    goal: tuple[float, float],
    settings: PlannerSettings,
    moved_m: float = 0.0,
) -> Path:
    """The shortened path of a cell path, its ends replaced by the exact places."""
    corners = smooth(costmap, cells, settings.cost_weight, settings.shortcut_m)
    if len(corners) == 1:
        corners = np.repeat(corners, 2, axis=0)
    corners[0], corners[-1] = (start.x, start.y), goal
    return Path(resample(corners, costmap.resolution), cells.cost_m, moved_m)


def nearest_reachable(
    costmap: GridMap, reach: Reach, goal: tuple[float, float], within_m: float
) -> tuple[int, int] | None:
    """The reachable, traversable cell whose centre is nearest to a point, at most `within_m` away."""
    row, column = costmap.to_cell(*goal)
    span = math.ceil(within_m / costmap.resolution) + 1
    rows, columns = costmap.shape
    r0, r1 = max(0, row - span), min(rows, row + span + 1)
    c0, c1 = max(0, column - span), min(columns, column + span + 1)
    if r0 >= r1 or c0 >= c1:
        return None
    data = costmap.data[r0:r1, c0:c1]
    x = costmap.origin[0] + (np.arange(c0, c1) + 0.5) * costmap.resolution - goal[0]
    y = costmap.origin[1] + (np.arange(r0, r1) + 0.5) * costmap.resolution - goal[1]
    distance = np.hypot(x[None, :], y[:, None])
    good = (data >= FREE) & (data < INSCRIBED) & np.isfinite(reach.cost_m[r0:r1, c0:c1]) & (distance <= within_m)
    if not good.any():
        return None
    index = int(np.argmin(np.where(good, distance, np.inf)))
    return (r0 + index // (c1 - c0), c0 + index % (c1 - c0))


def is_clear(costmap: GridMap, path: Path, from_index: int = 0) -> bool:
    """Whether every point of a path from an index on is traversable, after those that leave inflation at its begin."""
    points = path.points[from_index:]
    columns = np.floor((points[:, 0] - costmap.origin[0]) / costmap.resolution).astype(int)
    rows = np.floor((points[:, 1] - costmap.origin[1]) / costmap.resolution).astype(int)
    inside = (rows >= 0) & (columns >= 0) & (rows < costmap.shape[0]) & (columns < costmap.shape[1])
    if not inside.all():
        return False
    values = costmap.data[rows, columns]
    bad = (values < FREE) | (values >= INSCRIBED)
    first_good = int(np.argmin(bad))
    return not bool(bad[first_good:].any())


def _describe(costmap: GridMap, cell: tuple[int, int]) -> str:
    if not costmap.contains(*cell):
        return "outside the map"
    value = int(costmap.data[cell])
    if value < FREE:
        return "unknown"
    return {100: "lethal", 99: "too near an obstacle"}.get(value, "cut off")
