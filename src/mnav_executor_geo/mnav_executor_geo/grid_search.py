"""A* and flooding on a graded costmap: exact, 8-connected, never across the corner of a lethal cell."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import INSCRIBED, LETHAL, GridMap
from mnav_executor_geo.compiled import kernel

_BUCKETS = 256
_WIDTH = 0.5
_DIAGONAL = math.sqrt(2.0)
# How much dearer than the dearest free cell a cell is that may only be crossed to leave inflation.
_ESCAPE_RATIO = 3.0


@kernel
def _remaining(row: int, column: int, goal_row: int, goal_column: int) -> float:
    """Octile distance in cells: never more than the cost, as the factor of a cell is at least one."""
    if goal_row < 0:
        return 0.0
    a, b = abs(row - goal_row), abs(column - goal_column)
    return float(max(a, b)) + (1.4142135623730951 - 1.0) * float(min(a, b))


@kernel
def _enterable(
    cost: NDArray[np.int8], row: int, column: int, leaving: bool, start_row: int, start_column: int, escape_cells: float
) -> bool:
    if row < 0 or column < 0 or row >= cost.shape[0] or column >= cost.shape[1]:
        return False
    c = cost[row, column]
    if 0 <= c < 99:
        return True
    if not leaving or c == 100:
        return False
    return (row - start_row) ** 2 + (column - start_column) ** 2 <= escape_cells * escape_cells


@kernel
def search(
    cost: NDArray[np.int8],
    factor: NDArray[np.float32],
    start_row: int,
    start_column: int,
    goal_row: int,
    goal_column: int,
    escape_cells: float,
    beyond: float,
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Costs (cells) and parents of all settled cells. `goal_row` < 0 floods; else it stops once the goal is settled,
    and with it every cell over which a path to the goal costs up to `beyond` cells more.

    A bucket queue with one entry a cell: a bucket is drained, improved cells re-entering it, before the next is
    opened, so the result is exact for a consistent heuristic.
    """
    rows, columns = cost.shape
    n = rows * columns
    g = np.full(n, np.inf, np.float32)
    parent = np.full(n, -1, np.int32)
    after = np.empty(n, np.int32)
    before = np.empty(n, np.int32)
    slot = np.full(n, -1, np.int32)
    heads = np.full(_BUCKETS, -1, np.int32)
    start = start_row * columns + start_column
    goal = goal_row * columns + goal_column if goal_row >= 0 else -1
    origin = _remaining(start_row, start_column, goal_row, goal_column)
    g[start] = 0.0
    heads[0] = start
    after[start] = -1
    before[start] = -1
    slot[start] = 0
    waiting = 1
    current, last = 0, -1
    while waiting > 0:
        bucket = current % _BUCKETS
        i = heads[bucket]
        if i < 0:
            if goal >= 0 and last < 0 and slot[goal] < 0 and g[goal] < np.inf:
                last = current + int(beyond / _WIDTH)
            if 0 <= last <= current:
                break
            current += 1
            continue
        heads[bucket] = after[i]
        if after[i] >= 0:
            before[after[i]] = -1
        slot[i] = -1
        waiting -= 1
        row, column = i // columns, i % columns
        c = cost[row, column]
        leaving = c < 0 or c >= 99
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                if dr == 0 and dc == 0:
                    continue
                r, k = row + dr, column + dc
                if not _enterable(cost, r, k, leaving, start_row, start_column, escape_cells):
                    continue
                step = 1.0
                if dr != 0 and dc != 0:
                    if cost[row, k] == 100 or cost[r, column] == 100:
                        continue
                    step = 1.4142135623730951
                j = r * columns + k
                value = g[i] + np.float32(step * 0.5) * (factor[c + 1] + factor[cost[r, k] + 1])
                if value < g[j] - np.float32(1e-5):
                    if slot[j] >= 0:
                        if before[j] >= 0:
                            after[before[j]] = after[j]
                        else:
                            heads[slot[j]] = after[j]
                        if after[j] >= 0:
                            before[after[j]] = before[j]
                        waiting -= 1
                    g[j] = value
                    parent[j] = i
                    index = int((value + _remaining(r, k, goal_row, goal_column) - origin) / _WIDTH)
                    index = max(index, current) % _BUCKETS
                    slot[j] = index
                    after[j] = heads[index]
                    before[j] = -1
                    if heads[index] >= 0:
                        before[heads[index]] = j
                    heads[index] = j
                    waiting += 1
    # What still waits was not settled: its cost may be too high.
    for bucket in range(_BUCKETS):
        i = heads[bucket]
        while i >= 0:
            g[i] = np.inf
            parent[i] = -1
            i = after[i]
    return g, parent


@kernel
def trace_back(parent: NDArray[np.int32], columns: int, end: int) -> NDArray[np.int32]:
    count = 1
    i = end
    while parent[i] >= 0:
        i = parent[i]
        count += 1
    cells = np.empty((count, 2), np.int32)
    i = end
    for k in range(count - 1, -1, -1):
        cells[k, 0] = i // columns
        cells[k, 1] = i % columns
        i = parent[i]
    return cells


def cost_factors(cost_weight: float) -> NDArray[np.float32]:
    """Cost of a metre by costmap value, (102,): index value + 1; free 1, graded up to 1 + weight, then the escape's."""
    factors = np.empty(102, np.float32)
    factors[1:100] = 1.0 + cost_weight * np.arange(99) / 98.0
    factors[0] = factors[100] = factors[101] = (1.0 + cost_weight) * _ESCAPE_RATIO
    return factors


@dataclass(frozen=True, eq=False)
class CellPath:
    """Cells (N, 2) from start to goal, and their cost in metres of free space."""

    cells: NDArray[np.int32]
    cost_m: float


@dataclass(frozen=True, eq=False)
class Reach:
    """Everything that can be reached from one cell: `cost_m` (H, W) float32, inf where it cannot."""

    cost_m: NDArray[np.float32]
    parents: NDArray[np.int32]

    def path_to(self, row: int, column: int) -> CellPath | None:
        """Cheapest path to a cell, None when it cannot be reached."""
        cost = float(self.cost_m[row, column])
        if not math.isfinite(cost):
            return None
        columns = self.cost_m.shape[1]
        return CellPath(trace_back(self.parents, columns, row * columns + column), cost)


def is_traversable(costmap: GridMap, row: int, column: int) -> bool:
    """Whether a path may lead over the cell: known, and below inscribed and lethal."""
    return costmap.contains(row, column) and 0 <= int(costmap.data[row, column]) < INSCRIBED


def is_lethal(costmap: GridMap, row: int, column: int) -> bool:
    """Whether an obstacle is in the cell."""
    return costmap.contains(row, column) and int(costmap.data[row, column]) == LETHAL


def find_path(
    costmap: GridMap, start: tuple[int, int], goal: tuple[int, int], cost_weight: float, escape_m: float
) -> CellPath | None:
    """Cheapest path between two cells, None when there is none.

    Never over lethal, inscribed or unknown cells, except that a start which lies on inscribed or unknown ones is left
    by the cheapest way over such cells within `escape_m` of it. A start outside the grid or in a lethal cell has none.
    """
    if not costmap.contains(*start) or is_lethal(costmap, *start) or not is_traversable(costmap, *goal):
        return None
    data = np.ascontiguousarray(costmap.data)
    costs, parents = search(data, cost_factors(cost_weight), *start, *goal, escape_m / costmap.resolution, 0.0)
    columns = data.shape[1]
    end = goal[0] * columns + goal[1]
    if not math.isfinite(float(costs[end])):
        return None
    return CellPath(trace_back(parents, columns, end), float(costs[end]) * costmap.resolution)


def flood(costmap: GridMap, start: tuple[int, int], cost_weight: float, escape_m: float) -> Reach | None:
    """Cheapest paths from a cell to all others under the rules of `find_path`; None for a start that has no path."""
    if not costmap.contains(*start) or is_lethal(costmap, *start):
        return None
    data = np.ascontiguousarray(costmap.data)
    costs, parents = search(data, cost_factors(cost_weight), *start, -1, -1, escape_m / costmap.resolution, 0.0)
    return Reach(costs.reshape(data.shape) * np.float32(costmap.resolution), parents)
