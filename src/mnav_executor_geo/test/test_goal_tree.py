"""Planning again with the last search's tree equals a fresh search, and SciPy's, and is refused where it would not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_executor_geo.goal_tree import grow_tree, repair_path
from mnav_executor_geo.grid_search import cost_factors
from mnav_executor_geo.paths import Path
from mnav_executor_geo.replanning import Replanner
from mnav_executor_geo.settings import PlannerSettings

WEIGHT = 3.0


def grid(data: NDArray[np.int8]) -> GridMap:
    return GridMap(0.0, 0.05, (0.0, 0.0), data)


def random_costs(rng: np.random.Generator) -> NDArray[np.int8]:
    data = rng.integers(0, 60, (20, 25)).astype(np.int8)
    data[rng.random(data.shape) < 0.25] = 100
    return data


def scipy_cost(data: NDArray[np.int8], start: tuple[int, int], goal: tuple[int, int]) -> float:
    """The same edges (8 neighbours, mean of both factors, no corner of a lethal cell) searched by SciPy."""
    rows, columns = data.shape
    factor = cost_factors(WEIGHT).astype(float)
    sources, targets, weights = [], [], []
    for r in range(rows):
        for c in range(columns):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                i, k = r + dr, c + dc
                if not (0 <= i < rows and 0 <= k < columns) or data[r, c] >= 99 or data[i, k] >= 99:
                    continue
                if dr and dc and (data[r, k] == 100 or data[i, c] == 100):
                    continue
                sources.append(r * columns + c)
                targets.append(i * columns + k)
                weights.append(0.5 * math.hypot(dr, dc) * (factor[data[r, c] + 1] + factor[data[i, k] + 1]))
    graph = coo_matrix((weights, (sources, targets)), shape=(data.size, data.size)).tocsr()
    distance = dijkstra(graph, directed=False, indices=start[0] * columns + start[1])
    return 0.05 * float(distance[goal[0] * columns + goal[1]])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_repair_on_a_dearer_map_is_optimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = random_costs(rng)
    free = [(int(r), int(c)) for r, c in np.argwhere(before < 99)]
    start, goal, later = (free[int(i)] for i in rng.integers(0, len(free), 3))
    tree = grow_tree(grid(before), start, goal, WEIGHT)
    best = scipy_cost(before, start, goal)
    assert (tree is None) == (best == math.inf)
    if tree is None:
        return
    assert tree.path.cost_m == pytest.approx(best, rel=1e-5, abs=1e-6)
    after = before.copy()
    dearer = rng.random(after.shape) < 0.1
    dearer[later] = dearer[goal] = False
    after[dearer] = np.where(rng.random(int(dearer.sum())) < 0.5, 100, np.maximum(after[dearer], 80))
    repair = repair_path(tree, grid(after), later)
    best = scipy_cost(after, later, goal)
    assert repair.usable
    assert (repair.path is None) == (best == math.inf)
    if repair.path is not None:
        assert repair.path.cost_m == pytest.approx(best, rel=1e-5, abs=1e-6)
        assert tuple(repair.path.cells[0]) == later and tuple(repair.path.cells[-1]) == goal
        assert np.abs(np.diff(repair.path.cells, axis=0)).max(initial=0) <= 1


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_change_after_change_with_one_tree_stays_optimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = random_costs(rng)
    free = [(int(r), int(c)) for r, c in np.argwhere(data < 99)]
    start, goal = (free[int(i)] for i in rng.integers(0, len(free), 2))
    tree = grow_tree(grid(data), start, goal, WEIGHT)
    path = None if tree is None else tree.path
    for _ in range(6):
        if tree is None or path is None or len(path.cells) < 4:
            return
        # On, and something is put on the way and elsewhere.
        here = tuple(int(n) for n in path.cells[int(rng.integers(0, 2))])
        data = data.copy()
        for row, column in (path.cells[int(rng.integers(2, len(path.cells) - 1))], *rng.integers(0, 20, (3, 2))):
            block = np.s_[max(row - 1, 0) : row + 1, max(column - 1, 0) : column + 1]
            data[block] = np.where(rng.random(data[block].shape) < 0.6, 100, np.maximum(data[block], 70))
        data[here] = data[goal] = 0 if data[here] == 0 else min(int(data[here]), 98)
        if (data < tree.costmap.data).any():
            return
        repair = repair_path(tree, grid(data), here)
        best = scipy_cost(data, here, goal)
        assert repair.usable and (repair.path is None) == (best == math.inf)
        path = repair.path
        if path is not None:
            assert path.cost_m == pytest.approx(best, rel=1e-4, abs=1e-6)
            assert tuple(path.cells[0]) == here and tuple(path.cells[-1]) == goal


def corridor() -> NDArray[np.int8]:
    """Two ways round a block: the upper one is shorter."""
    data = np.zeros((21, 41), np.int8)
    data[4:18, 10:30] = 100
    return data


def test_a_map_that_got_cheaper_is_searched_afresh() -> None:
    blocked = corridor()
    blocked[0:4, 20] = 100
    tree = grow_tree(grid(blocked), (2, 2), (2, 38), WEIGHT)
    assert tree is not None
    assert not repair_path(tree, grid(corridor()), (2, 2)).usable


def test_a_map_on_another_grid_is_searched_afresh() -> None:
    tree = grow_tree(grid(corridor()), (2, 2), (2, 38), WEIGHT)
    assert tree is not None
    moved = GridMap(0.0, 0.05, (0.05, 0.0), corridor())
    assert not repair_path(tree, moved, (2, 2)).usable


def test_replanner_takes_the_other_way_when_the_first_is_blocked_and_comes_back_when_it_opens() -> None:
    replanner = Replanner(PlannerSettings())
    open_map, start, goal = grid(corridor()), SE2(0.125, 0.125), (1.925, 0.125)
    first = replanner.update(0.0, start, open_map, goal, 0, 0.0)
    data = corridor()
    data[0:4, 20] = 100
    second = replanner.update(0.1, start, grid(data), goal, 0, 0.0)
    assert isinstance(first, Path) and isinstance(second, Path)
    assert first.points[:, 1].max() < 0.2 < 0.9 < second.points[:, 1].max()
    third = replanner.update(10.0, start, grid(corridor()), goal, 0, 0.0)
    assert isinstance(third, Path)
    assert third.cost_m == pytest.approx(first.cost_m)
