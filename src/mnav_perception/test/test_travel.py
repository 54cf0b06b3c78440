"""Travel cost against an independent shortest-path solver."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_perception.exploration.travel import TravelSettings, travel_cost

EXACT = TravelSettings(cost_weight=0.0)


def grid(rows, resolution=0.1):
    return GridMap(0.0, resolution, (0.0, 0.0), np.array(rows, np.int8))


def at(row, column, resolution=0.1):
    return SE2((column + 0.5) * resolution, (row + 0.5) * resolution)


def reference(cost, start, weight, resolution):
    """SciPy's Dijkstra on the octile graph without corner cutting."""
    rows, columns = cost.shape
    ok = (cost >= 0) & (cost < 99)
    sources, targets, lengths = [], [], []
    for r in range(rows):
        for c in range(columns):
            for dr in (-1, 0, 1):
                for dc in (-1, 0, 1):
                    q, p = r + dr, c + dc
                    if (dr, dc) == (0, 0) or not (0 <= q < rows and 0 <= p < columns):
                        continue
                    if not (ok[r, c] and ok[q, p] and ok[r, p] and ok[q, c]):
                        continue
                    sources.append(r * columns + c)
                    targets.append(q * columns + p)
                    lengths.append(math.hypot(dr, dc) * resolution * (1 + weight * cost[q, p] / 98))
    graph = coo_array((lengths, (sources, targets)), shape=(rows * columns,) * 2).tocsr()
    return dijkstra(graph, indices=start[0] * columns + start[1]).reshape(rows, columns)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), weight=st.sampled_from([0.0, 2.0]))
def test_cost_equals_an_independent_solver(seed, weight):
    rng = np.random.default_rng(seed)
    cost = rng.choice([-1, 0, 30, 98, 99, 100], (12, 14), p=[0.08, 0.5, 0.12, 0.1, 0.1, 0.1]).astype(np.int8)
    start = (int(rng.integers(12)), int(rng.integers(14)))
    cost[start] = 0
    ours = travel_cost(grid(cost), at(*start), TravelSettings(cost_weight=weight))
    theirs = reference(cost, start, weight, 0.1)
    np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(theirs))
    finite = np.isfinite(theirs)
    # Lengths are whole seventieths of a cell.
    np.testing.assert_allclose(ours[finite], theirs[finite], rtol=0.01, atol=1e-6)


def test_octile_lengths_by_hand():
    cost = travel_cost(grid(np.zeros((5, 5))), at(0, 0), EXACT)
    assert cost[0, 0] == 0.0
    assert cost[0, 4] == pytest.approx(0.4) and cost[4, 4] == pytest.approx(0.4 * math.sqrt(2), rel=1e-3)
    assert cost[1, 3] == pytest.approx(0.2 + 0.1 * math.sqrt(2), rel=1e-3)


def test_a_metre_through_cost_98_counts_three():
    rows = np.full((1, 11), 98)
    assert travel_cost(grid(rows), at(0, 0))[0, 10] == pytest.approx(3.0)


def test_no_corner_is_cut():
    cost = travel_cost(grid([[0, 100], [0, 0]]), at(0, 0), EXACT)
    assert cost[1, 1] == pytest.approx(0.2)
    assert np.isinf(travel_cost(grid([[0, 99], [-1, 0]]), at(0, 0), EXACT)[1, 1])


def test_a_start_in_inflation_gets_out_and_does_not_go_back_in():
    row = [[0, 99, 99, 99, 0, 0, 99, 0]]
    cost = travel_cost(grid(row), at(0, 2), EXACT)
    assert cost[0, 0] == pytest.approx(0.2) and cost[0, 5] == pytest.approx(0.3)
    assert np.isinf(cost[0, 6]) and np.isinf(cost[0, 7])


def test_the_escape_is_short_and_never_through_lethal():
    far = [[99] * 15 + [0]]
    assert np.isinf(travel_cost(grid(far), at(0, 0), EXACT)[0, 15])
    assert np.isinf(travel_cost(grid([[0, 100, 99, 100, 0]]), at(0, 2), EXACT)[0, [0, 4]]).all()
    # A start that is itself taken for lethal or unknown leaves it.
    for start in (100, -1):
        assert travel_cost(grid([[start, 0, 0]]), at(0, 0), EXACT)[0, 2] == pytest.approx(0.2)


def test_a_pose_outside_the_grid_reaches_nothing():
    assert np.isinf(travel_cost(grid(np.zeros((3, 3))), SE2(-1.0, 0.0))).all()


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match=r"cost_weight = -1"):
        TravelSettings(cost_weight=-1)
    with pytest.raises(ValueError, match=r"escape_m = 9"):
        TravelSettings(escape_m=9)
