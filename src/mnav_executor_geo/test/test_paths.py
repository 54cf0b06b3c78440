"""Planning to a place, smoothing, and keeping or replacing a path."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import MotionStatus
from mnav_executor_geo.navigator import compute_path
from mnav_executor_geo.paths import NoPath, Path, is_clear, plan
from mnav_executor_geo.replanning import Replanner, cost_along
from mnav_executor_geo.settings import PlannerSettings

SETTINGS = PlannerSettings()


def empty(size: int = 60) -> GridMap:
    return GridMap(0.0, 0.1, (-1.0, -1.0), np.zeros((size, size), np.int8))


def changed(costmap: GridMap, rows: slice, columns: slice, value: int) -> GridMap:
    data = costmap.data.copy()
    data[rows, columns] = value
    return GridMap(costmap.stamp_s + 1.0, costmap.resolution, costmap.origin, data)


def planned(costmap: GridMap, start: SE2, goal: tuple[float, float]) -> Path:
    path = plan(costmap, start, goal, SETTINGS)
    assert isinstance(path, Path)
    return path


def test_free_ground_is_crossed_in_a_straight_line() -> None:
    path = planned(empty(), SE2(0.0, 0.0), (3.3, 1.7))
    assert path.length_m == pytest.approx(math.hypot(3.3, 1.7), rel=2e-2)
    assert tuple(path.points[0]) == (0.0, 0.0) and path.end == (3.3, 1.7)
    assert np.hypot(*np.diff(path.points, axis=0).T).max() <= 0.1 + 1e-9


def test_a_start_and_goal_in_one_cell_make_a_path() -> None:
    assert planned(empty(), SE2(0.01, 0.01), (0.05, 0.02)).length_m == pytest.approx(math.hypot(0.04, 0.01))


def test_shortcuts_never_cost_more_than_the_cells(inflated, cobot) -> None:
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(20):
        occupied = rng.random((120, 120)) < 0.003
        costmap = GridMap(0.0, 0.05, (0.0, 0.0), inflated(occupied, cobot))
        path = plan(costmap, SE2(0.525, 0.525), (5.325, 4.875), SETTINGS)
        if isinstance(path, Path) and path.moved_m == 0.0:
            found += 1
            assert cost_along(costmap, path, 0, SETTINGS.cost_weight) <= path.cost_m * 1.02
            assert is_clear(costmap, path)
    assert found >= 5


def test_a_goal_in_an_obstacle_is_moved_a_little_and_says_so() -> None:
    costmap = changed(empty(), slice(20, 23), slice(38, 41), 100)
    path = planned(costmap, SE2(0.0, 0.0), (2.95, 1.05))
    assert 0.0 < path.moved_m <= SETTINGS.snap_m and costmap.at(*path.end) == 0


@pytest.mark.parametrize("value", [100, 99, -1])
def test_a_goal_deep_in_what_cannot_be_entered_has_no_path(value: int) -> None:
    costmap = changed(empty(), slice(15, 30), slice(30, 45), value)
    answer = compute_path(SE2(0.0, 0.0), SE2(2.75, 1.25), costmap)
    assert isinstance(answer, NoPath) and answer.status is MotionStatus.BLOCKED_NO_PATH
    assert "(2.75, 1.25)" in answer.reason


def test_a_goal_outside_the_map_has_no_path() -> None:
    answer = compute_path(SE2(0.0, 0.0), SE2(20.0, 0.0), empty())
    assert isinstance(answer, NoPath) and "outside the map" in answer.reason


def test_a_lethal_start_is_refused() -> None:
    costmap = changed(empty(), slice(9, 12), slice(9, 12), 100)
    answer = compute_path(SE2(0.0, 0.0), SE2(3.0, 0.0), costmap)
    assert isinstance(answer, NoPath) and answer.status is MotionStatus.REFUSED_START_LETHAL


class TestReplanner:
    """One goal over a map that changes."""

    start, goal = SE2(0.0, 0.0), (4.0, 0.0)

    def begin(self) -> tuple[Replanner, GridMap, Path]:
        replanner, costmap = Replanner(SETTINGS), empty()
        path = replanner.update(0.0, self.start, costmap, self.goal, 0, 0.0)
        assert isinstance(path, Path)
        return replanner, costmap, path

    def test_the_path_is_kept_while_nothing_is_in_its_way(self) -> None:
        replanner, costmap, path = self.begin()
        for k in range(1, 60):
            elsewhere = changed(costmap, slice(40, 41), slice(k, k + 1), 100)
            assert replanner.update(0.1 * k, self.start, elsewhere, self.goal, 0, 0.0) is path

    def test_an_obstacle_ahead_makes_another_path_at_once(self) -> None:
        replanner, costmap, path = self.begin()
        blocked = changed(costmap, slice(5, 16), slice(28, 30), 100)
        other = replanner.update(0.1, self.start, blocked, self.goal, 0, 0.0)
        assert isinstance(other, Path) and other is not path and is_clear(blocked, other)

    def test_an_obstacle_behind_does_not(self) -> None:
        replanner, costmap, path = self.begin()
        behind = changed(costmap, slice(5, 16), slice(14, 16), 100)
        assert replanner.update(0.1, SE2(2.0, 0.0), behind, self.goal, 20, 0.0) is path

    def test_a_shorter_way_that_opens_is_taken_after_the_period(self) -> None:
        walled = changed(empty(), slice(0, 50), slice(28, 30), 100)
        replanner = Replanner(SETTINGS)
        path = replanner.update(0.0, self.start, walled, self.goal, 0, 0.0)
        opened = changed(walled, slice(8, 12), slice(28, 30), 0)
        assert replanner.update(1.0, self.start, opened, self.goal, 0, 0.0) is path
        later = changed(opened, slice(55, 56), slice(0, 1), 5)
        other = replanner.update(2.5, self.start, later, self.goal, 0, 0.0)
        assert isinstance(path, Path) and isinstance(other, Path) and other.length_m < 0.6 * path.length_m

    def test_a_closed_way_leaves_no_path_until_it_opens(self) -> None:
        replanner, costmap, _ = self.begin()
        closed = changed(costmap, slice(0, 60), slice(28, 30), 100)
        assert isinstance(replanner.update(0.1, self.start, closed, self.goal, 0, 0.0), NoPath)
        assert replanner.path is None
        assert isinstance(replanner.update(0.2, self.start, costmap, self.goal, 0, 0.0), Path)

    def test_a_new_goal_and_a_far_deviation_plan_anew(self) -> None:
        replanner, costmap, path = self.begin()
        strayed = replanner.update(0.1, SE2(1.0, 1.0), costmap, self.goal, 5, 0.9)
        assert isinstance(strayed, Path) and strayed is not path and tuple(strayed.points[0]) == (1.0, 1.0)
        moved = replanner.update(0.2, SE2(1.0, 1.0), costmap, (4.0, 2.0), 5, 0.0)
        assert isinstance(moved, Path) and moved.end == (4.0, 2.0)
