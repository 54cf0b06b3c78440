"""Shortest paths against hand-made maps."""

import math

import numpy as np
import pytest

from mnav_bench.geodesic import geodesic_field, inflate, path_length
from mnav_core.maps import GridMap


def grid_of(data: np.ndarray, resolution: float = 0.1) -> GridMap:
    return GridMap(0.0, resolution, (0.0, 0.0), data.astype(np.int8))


def test_a_straight_line_is_as_long_as_it_is() -> None:
    grid = grid_of(np.zeros((60, 60)))
    field = geodesic_field(grid, grid.data == 0, (0.05, 0.05))
    # 50 cells across and 20 up: the octile distance is 5.83 m, the straight line 5.385 m.
    path = field.path_to(20, 50)
    assert path_length(path) == pytest.approx(math.hypot(5.0, 2.0), rel=0.01)
    assert field.distance_m[20, 50] == pytest.approx((30 + 20 * math.sqrt(2)) * 0.1)


def test_a_wall_with_a_gap_is_walked_around() -> None:
    data = np.zeros((41, 41))
    data[:, 20] = 100
    data[38, 20] = 0
    grid = grid_of(data)
    field = geodesic_field(grid, grid.data == 0, (0.55, 0.55))
    path = field.path_to(5, 35)
    # From (0.55, 0.55) through the gap at (2.05, 3.85) to (3.55, 0.55); corners of the gap are not cut.
    assert path_length(path) == pytest.approx(2 * math.hypot(1.5, 3.3), rel=0.02)


def test_no_way_is_infinite_and_has_no_path() -> None:
    data = np.zeros((20, 20))
    data[:, 10] = 100
    grid = grid_of(data)
    field = geodesic_field(grid, grid.data == 0, (0.25, 0.25))
    assert math.isinf(field.distance_m[5, 15]) and field.path_to(5, 15) == []


def test_inflation_keeps_the_radius() -> None:
    data = np.zeros((21, 21))
    data[10, 10] = 100
    free = inflate(grid_of(data), 0.3)
    assert not free[10, 13] and free[10, 14] and not free[12, 12]


def test_a_start_in_an_obstacle_is_refused() -> None:
    data = np.zeros((10, 10))
    data[3, 3] = 100
    grid = grid_of(data)
    with pytest.raises(ValueError, match="not in free space"):
        geodesic_field(grid, grid.data == 0, (0.35, 0.35))
