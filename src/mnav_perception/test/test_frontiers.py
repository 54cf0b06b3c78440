"""Frontiers: which there are, what is in the way, and when there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, LETHAL, UNKNOWN, GridMap, MapSnapshot
from mnav_perception.exploration.frontiers import (
    Blacklisted,
    FrontierKind,
    FrontierState,
    find_frontiers,
)
from mnav_perception.mapper import Mapper
from mnav_perception.mapping.costmap import InflationSettings, inflate
from mnav_perception.testing.scenes import Scene, looked

R = 0.05


def snapshot(occupancy, inspected=None, origin=(0.0, 0.0)):
    cost = inflate(occupancy, R, 0.25, 0.43, InflationSettings())
    seen = np.ones(occupancy.shape, bool) if inspected is None else inspected
    return MapSnapshot(0.0, GridMap(0.0, R, origin, occupancy), GridMap(0.0, R, origin, cost), seen)


def walled(width_m, height_m):
    """A free room in walls of one cell, in a margin of unknown cells."""
    rows, columns = round(height_m / R), round(width_m / R)
    grid = np.full((rows + 22, columns + 22), UNKNOWN, np.int8)
    grid[10:-10, 10:-10] = LETHAL
    grid[11:-11, 11:-11] = FREE
    return grid


def cell(x_m, y_m):
    return 11 + round(y_m / R), 11 + round(x_m / R)


def pose(x_m, y_m):
    return SE2((11 + x_m / R) * R, (11 + y_m / R) * R)


def test_a_closed_and_inspected_room_has_none_left():
    report = find_frontiers(snapshot(walled(4, 3)), pose(1, 1))
    assert report.state is FrontierState.NONE_LEFT and report.frontiers == ()


def test_an_open_doorway_is_a_geometric_frontier_with_a_goal_that_sees_it():
    grid = walled(4, 3)
    row, column = cell(4, 1.0)
    grid[row : row + 20, column] = FREE  # 1 m wide, in the right wall
    maps = snapshot(grid)
    report = find_frontiers(maps, pose(1, 1.5))
    assert report.state is FrontierState.AVAILABLE and len(report.frontiers) == 1
    (f,) = report.frontiers
    assert f.kind is FrontierKind.GEOMETRIC and f.size_m == pytest.approx(1.0)
    assert f.centroid == pytest.approx(maps.occupancy.to_point(row + 10, column), abs=0.051)
    goal = maps.costmap.to_cell(*f.goal)
    assert maps.occupancy.data[goal] == FREE and 0 <= maps.costmap.data[goal] < 99
    assert math.dist(f.goal, f.centroid) <= 1.0
    straight = math.dist(f.goal, (pose(1, 1.5).x, pose(1, 1.5).y))
    assert straight <= f.path_cost_m + 0.05 and f.path_cost_m < 1.6 * straight
    # The unknown margin is 10 cells deep: a half disc of 1.5 m cut to 0.5 m.
    assert 200 < f.gain < 700


def test_small_openings_are_left_out_by_size():
    grid = walled(4, 3)
    row, column = cell(4, 1.0)
    grid[row : row + 6, column] = FREE
    assert find_frontiers(snapshot(grid), pose(1, 1.5)).state is FrontierState.NONE_LEFT
    assert find_frontiers(snapshot(grid), pose(1, 1.5), min_size_m=0.2).state is FrontierState.AVAILABLE
    with pytest.raises(ValueError, match="min_size_m = -1"):
        find_frontiers(snapshot(grid), pose(1, 1.5), min_size_m=-1)


def test_an_opening_behind_a_gap_too_narrow_for_the_robot_is_unreachable():
    grid = walled(6, 3)
    _row, column = cell(3, 0)
    grid[11:-11, column] = LETHAL
    grid[cell(3, 1.3)[0] : cell(3, 1.7)[0], column] = FREE  # 0.4 m gap, the robot is 0.5 m wide
    door, side = cell(6, 1.0)
    grid[door : door + 20, side] = FREE
    report = find_frontiers(snapshot(grid), pose(1, 1.5))
    assert report.state is FrontierState.ALL_UNREACHABLE
    assert report.frontiers == () and report.unreachable == 1
    grid[cell(3, 1.0)[0] : cell(3, 2.0)[0], column] = FREE  # 1 m
    assert find_frontiers(snapshot(grid), pose(1, 1.5)).state is FrontierState.AVAILABLE


def test_a_blacklisted_frontier_comes_back_when_its_time_is_over():
    grid = walled(4, 3)
    row, column = cell(4, 1.0)
    grid[row : row + 20, column] = FREE
    maps, start = snapshot(grid), pose(1, 1.5)
    (f,) = find_frontiers(maps, start).frontiers
    for xy in (f.goal, f.centroid):
        bad = Blacklisted(xy, 0.3, until_s=100.0)
        report = find_frontiers(maps, start, blacklist=[bad], now_s=99.9)
        assert report.state is FrontierState.ALL_BLACKLISTED and report.blacklisted == 1
        assert find_frontiers(maps, start, blacklist=[bad], now_s=100.0).frontiers == (f,)
    elsewhere = Blacklisted((f.goal[0] - 2.0, f.goal[1]), 0.3, until_s=100.0)
    assert find_frontiers(maps, start, blacklist=[elsewhere], now_s=0.0).state is FrontierState.AVAILABLE


def test_blacklisted_is_said_rather_than_unreachable_when_both_hold():
    grid = walled(6, 3)
    grid[11:-11, cell(3, 0)[1]] = LETHAL
    for x in (0, 6):
        row, column = cell(x, 1.0)
        grid[row : row + 20, column if x else column - 1] = FREE
    maps, start = snapshot(grid), pose(1.5, 1.5)
    report = find_frontiers(maps, start)
    assert report.state is FrontierState.AVAILABLE and report.unreachable == 1
    bad = Blacklisted(report.frontiers[0].goal, 0.5, 10.0)
    assert find_frontiers(maps, start, blacklist=[bad]).state is FrontierState.ALL_BLACKLISTED


def test_what_the_camera_has_not_seen_is_a_coverage_frontier():
    grid = walled(4, 3)
    inspected = np.ones(grid.shape, bool)
    r0, c0 = cell(3.0, 1.0)
    inspected[r0 : r0 + 20, c0 : c0 + 18] = False
    maps = snapshot(grid, inspected)
    report = find_frontiers(maps, pose(0.7, 1.5))
    (f,) = report.frontiers
    assert f.kind is FrontierKind.COVERAGE and f.gain == 20 * 18
    assert f.size_m == pytest.approx(math.sqrt(20 * 18) * R)
    assert f.centroid == pytest.approx(maps.occupancy.to_point(r0 + 10, c0 + 9), abs=0.06)
    assert 0.3 < math.dist(f.goal, f.centroid) <= 3.0
    assert f.path_cost_m < 2.0


def test_an_uninspected_surface_counts_and_a_wall_between_does_not_help():
    grid = walled(4, 3)
    grid[11:-11, cell(2, 0)[1]] = LETHAL  # two rooms, no way between
    inspected = np.ones(grid.shape, bool)
    inspected[11:-11, cell(4, 0)[1]] = False  # the far wall's face
    report = find_frontiers(snapshot(grid, inspected), pose(1, 1.5), min_size_m=0.3)
    assert report.state is FrontierState.ALL_UNREACHABLE
    near = find_frontiers(snapshot(grid, inspected), pose(3, 1.5), min_size_m=0.3)
    (f,) = near.frontiers
    assert f.gain == 60 and f.goal[0] > 11 * R + 2.0


def test_a_large_area_is_cut_into_pieces_that_stay_put():
    grid = walled(8, 6)
    inspected = np.zeros(grid.shape, bool)
    first = find_frontiers(snapshot(grid, inspected), pose(4, 3))
    assert len(first.frontiers) >= 10 and max(f.size_m for f in first.frontiers) <= 2.01
    assert sum(f.gain for f in first.frontiers) > 0.9 * 160 * 120
    # The same room on a grid that has grown by 7 and 3 cells: the same frontiers.
    grown = np.full((grid.shape[0] + 3, grid.shape[1] + 7), UNKNOWN, np.int8)
    grown[3:, 7:] = grid
    seen = np.zeros(grown.shape, bool)
    again = find_frontiers(snapshot(grown, seen, (-7 * R, -3 * R)), pose(4, 3))
    assert {f.id for f in again.frontiers} == {f.id for f in first.frontiers}


def test_cheapest_first_and_ids_unique():
    grid = walled(8, 6)
    report = find_frontiers(snapshot(grid, np.zeros(grid.shape, bool)), pose(1, 1))
    costs = [f.path_cost_m for f in report.frontiers]
    assert costs == sorted(costs) and len({f.id for f in report.frontiers}) == len(costs)


def test_maps_on_different_grids_are_refused():
    grid = walled(4, 3)
    maps = snapshot(grid)
    wrong = MapSnapshot(0.0, maps.occupancy, maps.costmap, maps.inspected[1:])
    with pytest.raises(ValueError, match="inspected"):
        find_frontiers(wrong, pose(1, 1))


def test_exploring_two_rooms_ends_with_none_left(cobot, rng):
    """Goes from frontier to frontier, jumping to each goal: everything gets known and looked at in a few steps."""
    wall = (((2.52, -2.02, 0.0), (2.64, -0.45, 2.5)), ((2.52, 0.45, 0.0), (2.64, 2.02, 2.5)))
    scene = Scene.room(-1.02, -2.02, 5.52, 2.02, *wall)
    mapper, base = Mapper(cobot), SE2(0.0, 0.0)
    mapper.mark_start(base)
    visited = []
    for _ in range(20):
        sensor = base.to_se3() @ cobot.lidar.pose_in_base()
        for _ in range(2):
            mapper.integrate_scan(scene.scan(sensor, rng))
        for view in cobot.views.values():
            image = scene.depth_image(view.intrinsics(80, 60), base.to_se3() @ view.optical_in_base(0.2))
            mapper.integrate_depth(image)
            mapper.look_at(looked(image))
        maps = mapper.snapshot(0.0)
        report = find_frontiers(maps, base)
        if report.state is not FrontierState.AVAILABLE:
            break
        f = report.frontiers[0]
        assert maps.costmap.at(*f.goal) < 99
        visited.append(f.goal)
        base = SE2(*f.goal, math.atan2(f.centroid[1] - f.goal[1], f.centroid[0] - f.goal[0]))
    assert report.state is FrontierState.NONE_LEFT, (report, visited)
    free = maps.occupancy.data == FREE
    assert free.sum() * R * R == pytest.approx(6.5 * 4.0, rel=0.05)
    assert maps.inspected[free].mean() > 0.98
