"""A* against SciPy's Dijkstra, and the rules about lethal, inscribed and unknown cells."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from mnav_core.maps import GridMap
from mnav_executor_geo.grid_search import find_path, flood

WEIGHT = 4.0


def grid(rows: list[str]) -> GridMap:
    """`.` free, `#` lethal, `+` inscribed, `?` unknown; the first string is row 0."""
    values = {".": 0, "#": 100, "+": 99, "?": -1}
    return GridMap(0.0, 1.0, (0.0, 0.0), np.array([[values[c] for c in row] for row in rows], np.int8))


def factor(value: int) -> float:
    """Cost of a metre as documented: 1 when free, 1 + weight just below inscribed."""
    return 1.0 + WEIGHT * value / 98.0


def scipy_costs(costmap: GridMap, start: tuple[int, int]) -> np.ndarray:
    """All costs from one cell by SciPy on an explicit graph: steps between cells below 99, none round an obstacle."""
    data = costmap.data.astype(int)
    rows, columns = data.shape
    edges = []
    for r in range(rows):
        for c in range(columns):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                i, k = r + dr, c + dc
                if not (0 <= i < rows and 0 <= k < columns):
                    continue
                if not (0 <= data[r, c] < 99 and 0 <= data[i, k] < 99):
                    continue
                if dr and dc and not (0 <= data[r, k] < 99 and 0 <= data[i, c] < 99):
                    continue
                cost = math.hypot(dr, dc) * 0.5 * (factor(data[r, c]) + factor(data[i, k]))
                edges.append((r * columns + c, i * columns + k, cost))
    a, b, w = zip(*edges, strict=True) if edges else ((), (), ())
    graph = coo_matrix((w, (a, b)), shape=(rows * columns, rows * columns))
    return dijkstra(graph, directed=False, indices=start[0] * columns + start[1]).reshape(rows, columns)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_paths_cost_what_dijkstra_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Inscribed and unknown cells come without lethal ones, so that both rules about corners agree.
    data = rng.integers(0, 99, (14, 17)).astype(np.int8)
    data[rng.random(data.shape) < 0.25] = 100
    costmap = GridMap(0.0, 0.5, (0.0, 0.0), data)
    free = np.argwhere(data < 99)
    start, goal = (tuple(int(v) for v in free[rng.integers(len(free))]) for _ in range(2))
    wanted = scipy_costs(costmap, start)
    path = find_path(costmap, start, goal, WEIGHT, 0.0)
    reach = flood(costmap, start, WEIGHT, 0.0)
    assert reach is not None
    np.testing.assert_allclose(reach.cost_m, wanted * 0.5, rtol=1e-4)
    if not math.isfinite(wanted[goal]):
        assert path is None
        return
    assert path is not None and path.cost_m == pytest.approx(wanted[goal] * 0.5, rel=1e-4)
    assert tuple(path.cells[0]) == start and tuple(path.cells[-1]) == goal
    assert np.abs(np.diff(path.cells, axis=0)).max(initial=0) <= 1
    assert (data[path.cells[:, 0], path.cells[:, 1]] < 99).all()


@pytest.mark.parametrize("wall", ["#", "+", "?"])
def test_no_way_through_lethal_inscribed_or_unknown(wall: str) -> None:
    costmap = grid([f"..{wall}.."] * 5)
    assert find_path(costmap, (2, 0), (2, 4), WEIGHT, 0.0) is None


def test_corners_of_lethal_cells_are_not_cut() -> None:
    costmap = grid([".#", ".."])
    path = find_path(costmap, (0, 0), (1, 1), 0.0, 0.0)
    assert path is not None and path.cost_m == pytest.approx(2.0)


def test_a_dear_gap_loses_against_a_cheap_way_round() -> None:
    data = np.zeros((9, 9), np.int8)
    data[:, 4] = 100
    data[4, 4], data[0, 4] = 90, 0
    path = find_path(GridMap(0.0, 1.0, (0.0, 0.0), data), (4, 3), (4, 5), 10.0, 0.0)
    # Through the gap: two steps at (1 + 10.18) / 2; round by row 0: four up, two over, four down.
    assert path is not None and path.cost_m == pytest.approx(10.0, rel=1e-4)


def test_a_start_in_inflation_is_left_by_the_shortest_way_and_never_entered_again() -> None:
    costmap = grid(["#++++++", "#++++++", "#+++...", "#++++++", "..++..."])
    path = find_path(costmap, (2, 1), (2, 6), WEIGHT, 4.0)
    assert path is not None
    values = costmap.data[path.cells[:, 0], path.cells[:, 1]]
    assert values.tolist() == [99, 99, 99, 0, 0, 0]
    # From free ground the same band is a wall.
    assert find_path(costmap, (4, 0), (4, 6), WEIGHT, 4.0) is None


def test_the_escape_is_bounded() -> None:
    costmap = grid(["." + "+" * 8 + "."])
    assert find_path(costmap, (0, 1), (0, 9), WEIGHT, 4.0) is None
    assert find_path(costmap, (0, 1), (0, 0), WEIGHT, 4.0) is not None


def test_an_unknown_start_can_be_left() -> None:
    assert find_path(grid(["??..."]), (0, 0), (0, 4), WEIGHT, 3.0) is not None


def test_a_lethal_start_has_no_path() -> None:
    costmap = grid(["#...."])
    assert find_path(costmap, (0, 0), (0, 4), WEIGHT, 3.0) is None
    assert flood(costmap, (0, 0), WEIGHT, 3.0) is None


def test_the_flood_knows_the_same_paths() -> None:
    costmap = grid([".....", ".###.", "....."])
    reach = flood(costmap, (1, 0), WEIGHT, 0.0)
    assert reach is not None
    path = reach.path_to(1, 4)
    direct = find_path(costmap, (1, 0), (1, 4), WEIGHT, 0.0)
    assert path is not None and direct is not None and path.cost_m == pytest.approx(direct.cost_m)
    assert reach.path_to(1, 1) is None


def test_a_plan_over_a_large_house_takes_ten_milliseconds(inflated, cobot) -> None:
    rng = np.random.default_rng(5)
    occupied = np.zeros((400, 400), bool)
    occupied[[0, -1], :] = occupied[:, [0, -1]] = True
    for at in (100, 200, 300):
        occupied[at, :] = True
        occupied[:, at] = True
    for at in (100, 200, 300):
        for door in (40, 140, 240, 340):
            occupied[at, door : door + 18] = False
            occupied[door : door + 18, at] = False
    costmap = GridMap(0.0, 0.05, (0.0, 0.0), inflated(occupied, cobot))
    free = np.argwhere(costmap.data < 99)
    find_path(costmap, (50, 50), (60, 60), WEIGHT, 0.6)
    times = []
    for _ in range(40):
        start, goal = (tuple(int(v) for v in free[rng.integers(len(free))]) for _ in range(2))
        begin = time.perf_counter()
        assert find_path(costmap, start, goal, WEIGHT, 0.6) is not None
        times.append(time.perf_counter() - begin)
    assert np.median(times) <= 0.010
