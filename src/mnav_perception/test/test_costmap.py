"""Graded cost by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, LETHAL, UNKNOWN
from mnav_perception.mapping.costmap import InflationSettings, inflate
from mnav_perception.mapping.footprint import footprint_cells

SETTINGS = InflationSettings(decay_per_m=8.0, beyond_m=0.25)


def around_one_obstacle(size=41):
    grid = np.zeros((size, size), np.int8)
    grid[size // 2, size // 2] = LETHAL
    return inflate(grid, 0.05, 0.25, 0.43, SETTINGS)[size // 2, size // 2 :]


def test_cost_by_hand_along_a_row():
    row = around_one_obstacle()
    assert row[0] == 100
    assert row[1:6].tolist() == [99] * 5  # 0.05 to 0.25 m: the inscribed circle
    # 98 exp(-8 (d - 0.25)), d in steps of 0.05 m, until 0.43 + 0.25 = 0.68 m.
    by_hand = [98 * math.exp(-8 * 0.05 * k) for k in range(1, 9)]
    assert row[6:14] == pytest.approx(by_hand, abs=2.0)
    assert (np.diff(row[5:15].astype(int)) < 0).all() and (row[14:] == 0).all()


def test_unknown_stays_unknown_and_pushes_nothing_out():
    grid = np.zeros((30, 30), np.int8)
    grid[:, :10] = UNKNOWN
    cost = inflate(grid, 0.05, 0.25, 0.43, SETTINGS)
    assert (cost[:, :10] == UNKNOWN).all() and (cost[:, 10:] == FREE).all()
    grid[15, 12] = LETHAL
    cost = inflate(grid, 0.05, 0.25, 0.43, SETTINGS)
    assert (cost[:, :10] == UNKNOWN).all() and cost[15, 13] == 99


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), min_size=1, max_size=6))
def test_cost_follows_the_distance_to_the_nearest_obstacle(obstacles):
    grid = np.zeros((25, 25), np.int8)
    for row, column in obstacles:
        grid[row, column] = LETHAL
    cost = inflate(grid, 0.05, 0.16, 0.385, SETTINGS)
    rows, columns = np.mgrid[0:25, 0:25]
    distance = np.min([np.hypot(rows - r, columns - c) for r, c in obstacles], axis=0) * 0.05
    assert ((cost == LETHAL) == (distance == 0)).all()
    assert ((cost >= 99) == (distance <= 0.16 + 1e-6)).all()
    graded = (distance > 0.17) & (distance < 0.385 + 0.24)
    expected = 98 * np.exp(-8.0 * (distance - 0.16))
    assert np.abs(cost - expected)[graded].max(initial=0) < 3.0 and (cost[graded] >= 1).all()
    assert (cost[distance > 0.385 + 0.26] == FREE).all()


def test_wrong_inflation_is_refused():
    with pytest.raises(ValueError, match=r"decay_per_m, beyond_m = -1.0, 0.25"):
        InflationSettings(decay_per_m=-1.0)


@pytest.mark.parametrize("yaw", [0.0, 0.5, math.pi / 2])
def test_footprint_cells_are_those_whose_centres_it_holds(yaw):
    corners = ((0.35, 0.25), (-0.35, 0.25), (-0.35, -0.25), (0.35, -0.25))
    pose = SE2(1.02, -3.01, yaw)
    cells = {tuple(c) for c in footprint_cells(pose, corners, 0.05).tolist()}
    for x in range(0, 41):
        for y in range(-80, -40):
            local = pose.inverse() @ SE2((x + 0.5) * 0.05, (y + 0.5) * 0.05)
            if abs(abs(local.x) - 0.35) < 1e-6 or abs(abs(local.y) - 0.25) < 1e-6:
                continue
            assert ((x, y) in cells) == (abs(local.x) < 0.35 and abs(local.y) < 0.25)
