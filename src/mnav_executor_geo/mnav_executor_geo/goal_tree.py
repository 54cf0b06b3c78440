"""Planning again after the map got dearer: the last search from the goal guides the next one, and ends it early.

Costs to the goal on the old map never exceed those on a map that only got dearer, so they are an admissible heuristic,
and exact wherever the old way to the goal does not meet a change. What each search learns is kept for the next one: a
cell that it expanded at g lies at least (total - g) from the goal (adaptive A*), and the new path joins the tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import GridMap
from mnav_executor_geo.compiled import kernel
from mnav_executor_geo.grid_search import CellPath, cost_factors, is_traversable, search, trace_back

Cell = tuple[int, int]
Box = tuple[int, int, int, int]
_WIDTH = 0.5
_BUCKETS = 1 << 14
_LEAST_EXPANSIONS = 10_000
# Of what the first search settled, the share that makes a tree worn.
_WORN_SHARE, _WORN_LEAST = 0.03, 1000
# So much longer a way round may be, in metres of free space, without leaving what the first search settled.
_BEYOND_M = 4.0
# Layer of a cell whose way to the goal no longer holds.
_BROKEN = -1
# Columns of what a search notes of a cell, side by side in memory; the last one holds single precision.
_CAME_FROM, _SEEN, _MARK, _COST = 0, 1, 2, 3


@kernel
def _settled_box(to_goal: NDArray[np.float32], columns: int) -> tuple[int, int, int, int, int]:
    """How many cells were settled, and the box (first row, end, first column, end) around them."""
    count, r0, r1, c0, c1 = 0, to_goal.shape[0] // columns, 0, columns, 0
    for row in range(to_goal.shape[0] // columns):
        base = row * columns
        first, last, found = -1, -1, 0
        for column in range(columns):
            if to_goal[base + column] < np.inf:
                found += 1
                last = column
                if first < 0:
                    first = column
        if found > 0:
            count += found
            r0, r1 = min(r0, row), row + 1
            c0, c1 = min(c0, first), max(c1, last + 1)
    return count, r0, r1, c0, c1


@kernel
def _mark_changes(
    old: NDArray[np.int8],
    new: NDArray[np.int8],
    factor: NDArray[np.float32],
    box: tuple[int, int, int, int],
    layer: NDArray[np.int32],
) -> bool:
    """Mark the cells of a box that got dearer, with their neighbours where diagonals may be cut off; False when one
    got cheaper.
    """
    rows, columns = new.shape
    r0, r1, c0, c1 = box
    for row in range(r0, r1):
        # Without a branch, so that the compiler compares many cells at once.
        differ = 0
        for column in range(c0, c1):
            differ |= old[row, column] ^ new[row, column]
        if differ == 0:
            continue
        for column in range(c0, c1):
            value = new[row, column]
            if value == old[row, column]:
                continue
            if factor[value + 1] < factor[old[row, column] + 1]:
                return False
            layer[row * columns + column] = _BROKEN
            if value == 100:
                for r in range(max(row - 1, 0), min(row + 2, rows)):
                    for c in range(max(column - 1, 0), min(column + 2, columns)):
                        layer[r * columns + c] = _BROKEN
    return True


@kernel
def _is_intact(
    cell: int,
    parent: NDArray[np.int32],
    layer: NDArray[np.int32],
    notes: NDArray[np.int32],
    turn: int,
) -> bool:
    """Whether the way from `cell` to the goal costs what it did; what was walked is noted.

    It does when no cell of it is broken, and none joined the tree anew (in a later `layer`) after those before it.
    """
    yes, no = 2 * turn, 2 * turn + 1
    i, verdict = cell, yes
    while True:
        if notes[i, _MARK] == yes or notes[i, _MARK] == no:
            verdict = notes[i, _MARK]
            break
        if layer[i] == _BROKEN:
            verdict = no
            break
        j = parent[i]
        if j < 0:
            break
        if layer[j] > layer[i]:
            verdict = no
            break
        i = j
    end = i
    notes[end, _MARK] = verdict
    i = cell
    while i != end:
        notes[i, _MARK] = verdict
        i = parent[i]
    return verdict == yes


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
    to_goal: NDArray[np.float32],
    old_parent: NDArray[np.int32],
    layer: NDArray[np.int32],
    start: int,
    goal_row: int,
    goal_column: int,
    old_row: int,
    old_column: int,
    old_total: float,
    most: int,
    turn: int,
    notes: NDArray[np.int32],
    costs: NDArray[np.float32],
    box: tuple[int, int, int, int],
) -> tuple[int, float, int, int, int, int, int]:
    """Cell at which the new path meets the tree, the whole cost, how many cells were expanded, and the box of what is
    known now; for the cell and the cost (-1, inf) without a path, (-2, inf) given up.

    `notes` hold values of this turn only where a cell is seen; `costs` is the same memory in single precision. What was
    expanded gets better lower bounds, and the new path joins the tree.
    """
    rows, columns = cost.shape
    heads = np.full(_BUCKETS, -1, np.int32)
    entry_cell, entry_next, entry_g = np.empty(4096, np.int32), np.empty(4096, np.int32), np.empty(4096, np.float32)
    closed = np.empty(4096, np.int32)
    first = _lower_bound(start, columns, to_goal, goal_row, goal_column, old_row, old_column, old_total)
    costs[start, _COST], notes[start, _CAME_FROM], notes[start, _SEEN] = 0.0, -1, turn
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
        if entry_g[entry] > costs[i, _COST]:
            continue
        row, column = i // columns, i % columns
        if row == goal_row and column == goal_column:
            if float(costs[i, _COST]) < best:
                best, meeting = float(costs[i, _COST]), i
            continue
        if to_goal[i] < np.inf and _is_intact(i, old_parent, layer, notes, turn):
            if float(costs[i, _COST]) + float(to_goal[i]) < best:
                best, meeting = float(costs[i, _COST]) + float(to_goal[i]), i
            continue
        if expanded == closed.shape[0]:
            closed = np.concatenate((closed, np.empty(expanded, np.int32)))
        closed[expanded] = i
        expanded += 1
        if expanded > most:
            return -2, np.inf, expanded, box[0], box[1], box[2], box[3]
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
                value = costs[i, _COST] + np.float32(step * 0.5) * (here + factor[cost[r, k] + 1])
                if notes[j, _SEEN] == turn and value >= costs[j, _COST] - np.float32(1e-5):
                    continue
                costs[j, _COST], notes[j, _CAME_FROM], notes[j, _SEEN] = value, i, turn
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
    r0, r1, c0, c1 = box
    if meeting >= 0:
        for n in range(expanded):
            i = closed[n]
            row, column = i // columns, i % columns
            r0, r1, c0, c1 = min(r0, row), max(r1, row + 1), min(c0, column), max(c1, column + 1)
            bound = max(
                best - float(costs[i, _COST]) - 1e-3,
                _lower_bound(i, columns, to_goal, goal_row, goal_column, old_row, old_column, old_total),
            )
            to_goal[i] = bound
            # A bound is no way: where the tree had none to the goal, it still has none.
            layer[i] = _BROKEN
        i = meeting
        while notes[i, _CAME_FROM] >= 0:
            i, after = notes[i, _CAME_FROM], i
            to_goal[i], old_parent[i], layer[i] = best - float(costs[i, _COST]), after, turn
    return meeting, best, expanded, r0, r1, c0, c1


@dataclass(eq=False)
class GoalTree:
    """The search from a goal over one costmap: cost to the goal and the next cell of every cell that it settled, with
    what later searches learnt. `costmap` is the map that it holds for; `repair_path` moves it on.

    A path over a cell that was not settled costs at least `total` cells. `settled` says how many were, `box` (first
    row, end, first column, end) holds every cell that anything is known of.
    """

    costmap: GridMap
    start: Cell
    goal: Cell
    cost_weight: float
    to_goal: NDArray[np.float32]
    parent: NDArray[np.int32]
    total: float
    settled: int
    box: Box
    turn: int = 0
    expanded: int = 0
    layer: NDArray[np.int32] = field(init=False)
    notes: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        # Zeroed by the operating system page by page: what is never touched costs nothing.
        self.layer, self.notes = np.zeros(self.to_goal.size, np.int32), np.zeros((self.to_goal.size, 4), np.int32)

    @property
    def is_worn(self) -> bool:
        """Whether the last planning again had to search so much that a new tree would be worth its time."""
        return self.expanded > max(self.settled * _WORN_SHARE, _WORN_LEAST)

    @property
    def path(self) -> CellPath:
        """The way from the start through the tree."""
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
    beyond = _BEYOND_M / costmap.resolution
    to_goal, parent = search(data, cost_factors(cost_weight), *goal, *start, 0.0, beyond)
    total = float(to_goal[start[0] * data.shape[1] + start[1]])
    if not math.isfinite(total):
        return None
    settled, *box = _settled_box(to_goal, data.shape[1])
    return GoalTree(
        costmap, start, goal, cost_weight, to_goal, parent, total + beyond, settled, (box[0], box[1], box[2], box[3])
    )


def repair_path(tree: GoalTree, costmap: GridMap, start: Cell) -> Repair:
    """The cheapest path from a new start to the tree's goal on a map of the same grid that got dearer since.

    Exact like a fresh search; the tree then holds for the new map. Unusable, and the tree with it, when a cell that the
    tree knows got cheaper, the grid is another one, an end is not traversable, or when so much would have to be
    searched that a fresh search is no slower.
    """
    old = tree.costmap
    if (costmap.shape, costmap.origin, costmap.resolution) != (old.shape, old.origin, old.resolution):
        return UNUSABLE
    if not is_traversable(costmap, *start) or not is_traversable(costmap, *tree.goal):
        return UNUSABLE
    data, before = np.ascontiguousarray(costmap.data), np.ascontiguousarray(old.data)
    factors, columns = cost_factors(tree.cost_weight), data.shape[1]
    # Outside of the box nothing is known but the straight distance, which no change undercuts.
    if not _mark_changes(before, data, factors, tree.box, tree.layer):
        return UNUSABLE
    tree.turn += 1
    meeting, total, tree.expanded, *box = _repair(
        data, factors, tree.to_goal, tree.parent, tree.layer, start[0] * columns + start[1], *tree.goal,
        *tree.start, tree.total, max(tree.settled, _LEAST_EXPANSIONS), tree.turn,
        tree.notes, tree.notes.view(np.float32), tree.box,
    )  # fmt: skip
    if meeting == -2:
        return UNUSABLE
    tree.costmap, tree.box = costmap, (box[0], box[1], box[2], box[3])
    if meeting < 0:
        return Repair(True, None)
    head = trace_back(tree.notes[:, _CAME_FROM], columns, meeting)
    tail = trace_back(tree.parent, columns, meeting)[::-1]
    return Repair(True, CellPath(np.concatenate([head, tail[1:]]), total * costmap.resolution))
