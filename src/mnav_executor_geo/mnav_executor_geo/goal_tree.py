"""Planning again after the map got dearer: the last search from the goal guides the next one, and ends it early.

Costs to the goal on the old map never exceed those on a map that only got dearer, so they are an admissible heuristic,
and exact wherever the old way to the goal does not meet a change (adaptive A* with reuse of the tree).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import GridMap
from mnav_executor_geo.compiled import kernel
from mnav_executor_geo.grid_search import CellPath, cost_factors, is_traversable, search, trace_back

Cell = tuple[int, int]
_WIDTH = 0.5
_BUCKETS = 1 << 16
_INTACT, _BROKEN = 1, 2


@kernel
def _got_cheaper(old: NDArray[np.int8], new: NDArray[np.int8], factor: NDArray[np.float32]) -> bool:
    """Whether any cell costs less than it did; both flat, compared eight cells at a time."""
    words = old.shape[0] // 8
    cheaper = 0
    for i in range(words * 8, old.shape[0]):
        cheaper += factor[new[i] + 1] < factor[old[i] + 1]
    old_words, new_words = old[: words * 8].view(np.uint64), new[: words * 8].view(np.uint64)
    for word in range(words):
        if old_words[word] != new_words[word]:
            for i in range(word * 8, word * 8 + 8):
                cheaper += factor[new[i] + 1] < factor[old[i] + 1]
    return cheaper > 0


@kernel
def _is_intact(
    cell: int,
    parent: NDArray[np.int32],
    old: NDArray[np.int8],
    cost: NDArray[np.int8],
    mark: NDArray[np.uint8],
) -> bool:
    """Whether no cell of the old way from `cell` to the goal changed; what was walked is remembered in `mark`."""
    columns = cost.shape[1]
    i = cell
    verdict = _INTACT
    while True:
        if mark[i] != 0:
            verdict = mark[i]
            break
        row, column = i // columns, i % columns
        if cost[row, column] != old[row, column]:
            verdict = _BROKEN
            mark[i] = _BROKEN
            break
        j = parent[i]
        if j < 0:
            mark[i] = _INTACT
            break
        r, k = j // columns, j % columns
        if r != row and k != column and (cost[row, k] == 100 or cost[r, column] == 100):
            verdict = _BROKEN
            mark[i] = _BROKEN
            break
        i = j
    end = i
    i = cell
    while i != end:
        mark[i] = verdict
        i = parent[i]
    return verdict == _INTACT


@kernel
def _lower_bound(
    cell: int,
    columns: int,
    to_goal: NDArray[np.float32],
    goal_row: int,
    goal_column: int,
    old_row: int,
    old_column: int,
    old_total: float,
) -> float:
    """Cost from a cell to the goal that no path on the new map undercuts, in cells."""
    if to_goal[cell] < np.inf:
        return float(to_goal[cell])
    row, column = cell // columns, cell % columns
    a, b = abs(row - goal_row), abs(column - goal_column)
    octile = float(max(a, b)) + 0.41421356 * float(min(a, b))
    # The old search ended before this cell: with the way to the old start, the path was at least as dear as the best.
    a, b = abs(row - old_row), abs(column - old_column)
    return max(octile, old_total - 2.0 * _WIDTH - (float(max(a, b)) + 0.41421357 * float(min(a, b))))


@kernel
def _repair(
    cost: NDArray[np.int8],
    factor: NDArray[np.float32],
    old: NDArray[np.int8],
    to_goal: NDArray[np.float32],
    old_parent: NDArray[np.int32],
    start: int,
    goal_row: int,
    goal_column: int,
    old_row: int,
    old_column: int,
    old_total: float,
    most: int,
    g: NDArray[np.float32],
    parent: NDArray[np.int32],
    seen: NDArray[np.uint8],
    mark: NDArray[np.uint8],
) -> tuple[int, float]:
    """Cell at which the new path meets the old tree and the whole cost; (-1, inf) without a path, (-2, inf) given up.

    `g` and `parent` hold values only where `seen`; the arrays come zeroed from the operating system, page by page.
    """
    rows, columns = cost.shape
    heads = np.full(_BUCKETS, -1, np.int32)
    entry_cell, entry_next, entry_g = np.empty(4096, np.int32), np.empty(4096, np.int32), np.empty(4096, np.float32)
    first = _lower_bound(start, columns, to_goal, goal_row, goal_column, old_row, old_column, old_total)
    g[start], parent[start], seen[start] = 0.0, -1, 1
    entry_cell[0], entry_next[0], entry_g[0] = start, -1, 0.0
    heads[0] = 0
    entries, waiting, current, expanded = 1, 1, 0, 0
    best, meeting = np.inf, -1
    while waiting > 0 and current < _BUCKETS:
        entry = heads[current]
        if entry < 0:
            current += 1
            # Rounding of single precision may put a cost one bucket too high.
            if first + _WIDTH * (current - 1) > best:
                break
            continue
        heads[current] = entry_next[entry]
        waiting -= 1
        i = entry_cell[entry]
        if entry_g[entry] > g[i]:
            continue
        if to_goal[i] < np.inf and _is_intact(i, old_parent, old, cost, mark):
            if float(g[i]) + float(to_goal[i]) < best:
                best, meeting = float(g[i]) + float(to_goal[i]), i
            continue
        expanded += 1
        if expanded > most:
            return -2, np.inf
        row, column = i // columns, i % columns
        if row == goal_row and column == goal_column:
            if float(g[i]) < best:
                best, meeting = float(g[i]), i
            continue
        here = factor[cost[row, column] + 1]
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                r, k = row + dr, column + dc
                if (dr == 0 and dc == 0) or r < 0 or k < 0 or r >= rows or k >= columns:
                    continue
                if not 0 <= cost[r, k] < 99:
                    continue
                step = 1.0
                if dr != 0 and dc != 0:
                    if cost[row, k] == 100 or cost[r, column] == 100:
                        continue
                    step = 1.4142135623730951
                j = r * columns + k
                value = g[i] + np.float32(step * 0.5) * (here + factor[cost[r, k] + 1])
                if seen[j] != 0 and value >= g[j] - np.float32(1e-5):
                    continue
                g[j], parent[j], seen[j] = value, i, 1
                total = float(value) + _lower_bound(
                    j, columns, to_goal, goal_row, goal_column, old_row, old_column, old_total
                )
                if total >= best:
                    continue
                if entries == entry_cell.shape[0]:
                    entry_cell = np.concatenate((entry_cell, np.empty(entries, np.int32)))
                    entry_next = np.concatenate((entry_next, np.empty(entries, np.int32)))
                    entry_g = np.concatenate((entry_g, np.empty(entries, np.float32)))
                index = min(max(int((total - first) / _WIDTH), current), _BUCKETS - 1)
                entry_cell[entries], entry_next[entries], entry_g[entries] = j, heads[index], value
                heads[index] = entries
                entries += 1
                waiting += 1
    return meeting, best


@dataclass(frozen=True, eq=False)
class GoalTree:
    """The search from a goal over one costmap: cost to the goal and the next cell of every cell that it settled."""

    costmap: GridMap
    start: Cell
    goal: Cell
    cost_weight: float
    to_goal: NDArray[np.float32]
    parent: NDArray[np.int32]

    @property
    def path(self) -> CellPath:
        """The path that the search was made for."""
        columns = self.costmap.shape[1]
        end = self.start[0] * columns + self.start[1]
        cells = trace_back(self.parent, columns, end)[::-1]
        return CellPath(np.ascontiguousarray(cells), float(self.to_goal[end]) * self.costmap.resolution)


@dataclass(frozen=True, eq=False)
class Repair:
    """What planning again with an old tree came to: `usable` False says to search afresh; no path is None."""

    usable: bool
    path: CellPath | None = None


UNUSABLE = Repair(False)


def grow_tree(costmap: GridMap, start: Cell, goal: Cell, cost_weight: float) -> GoalTree | None:
    """Search from a goal to a start, both traversable; None when there is no path."""
    if not is_traversable(costmap, *start) or not is_traversable(costmap, *goal):
        return None
    data = np.ascontiguousarray(costmap.data)
    # The rule for leaving inflation is of no use between traversable cells.
    to_goal, parent = search(data, cost_factors(cost_weight), *goal, *start, 0.0)
    if not math.isfinite(float(to_goal[start[0] * data.shape[1] + start[1]])):
        return None
    return GoalTree(costmap, start, goal, cost_weight, to_goal, parent)


def repair_path(tree: GoalTree, costmap: GridMap, start: Cell) -> Repair:
    """The cheapest path from a new start to the tree's goal on a map of the same grid that got dearer since.

    Exact like a fresh search. Unusable when a cell got cheaper, the grid is another one, an end is not traversable, or
    when so much would have to be searched that a fresh search is no slower.
    """
    old = tree.costmap
    if (costmap.shape, costmap.origin, costmap.resolution) != (old.shape, old.origin, old.resolution):
        return UNUSABLE
    if not is_traversable(costmap, *start) or not is_traversable(costmap, *tree.goal):
        return UNUSABLE
    data = np.ascontiguousarray(costmap.data)
    before, factors = np.ascontiguousarray(old.data), cost_factors(tree.cost_weight)
    if _got_cheaper(before.ravel(), data.ravel(), factors):
        return UNUSABLE
    columns, count = data.shape[1], data.size
    goal_row, goal_column = tree.goal
    old_total = float(tree.to_goal[tree.start[0] * columns + tree.start[1]])
    g, parent = np.empty(count, np.float32), np.empty(count, np.int32)
    seen, mark = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
    meeting, total = _repair(
        data, factors, before, tree.to_goal, tree.parent, start[0] * columns + start[1], goal_row, goal_column,
        *tree.start, old_total, max(count // 4, 10_000), g, parent, seen, mark,
    )  # fmt: skip
    if meeting == -2:
        return UNUSABLE
    if meeting < 0:
        return Repair(True, None)
    head = trace_back(parent, columns, meeting)
    tail = trace_back(tree.parent, columns, meeting)[::-1]
    return Repair(True, CellPath(np.concatenate([head, tail[1:]]), total * costmap.resolution))
