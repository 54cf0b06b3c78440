"""Maps, motions and tasks as messages: exact round trips and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy")

from mnav_core import nav2_codes
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap, MapSnapshot, VoxelDelta
from mnav_core.messages import maps, motion, task
from mnav_core.motion import MotionReport, MotionStatus
from mnav_core.requests import TaskGoal, TaskOutcome, TaskResult
from mnav_interfaces.msg import MotionStatus as MotionStatusMessage
from mnav_interfaces.msg import TaskGoal as TaskGoalMessage

GRID = GridMap(2.5, 0.05, (-1.25, 3.4), np.array([[-1, 0, 100], [99, 5, -1]], np.int8))


def test_grid_survives() -> None:
    message = maps.to_occupancy_grid(GRID)
    assert (message.info.width, message.info.height, message.header.frame_id) == (3, 2, "map")
    assert list(message.data) == [-1, 0, 100, 99, 5, -1]
    back = maps.grid_of(message)
    assert (back.stamp_s, back.resolution, back.origin) == (2.5, 0.05, (-1.25, 3.4))
    np.testing.assert_array_equal(back.data, GRID.data)


def test_bad_grids_are_refused() -> None:
    message = maps.to_occupancy_grid(GRID)
    message.info.width = 4
    with pytest.raises(ValueError, match="6 cells"):
        maps.grid_of(message)
    message = maps.to_occupancy_grid(GRID)
    message.info.origin.orientation.z = 0.5
    with pytest.raises(ValueError, match="turned"):
        maps.grid_of(message)


def test_snapshot_survives_and_refuses_other_grids() -> None:
    inspected = np.array([[True, False, True], [False, True, False]])
    coverage = maps.grid_of(maps.to_coverage_grid(MapSnapshot(2.5, GRID, GRID, inspected)))
    assert coverage.data.tolist() == [[100, 0, 100], [0, 100, 0]]
    np.testing.assert_array_equal(maps.snapshot_of(GRID, GRID, coverage).inspected, inspected)
    moved = GridMap(2.5, 0.05, (0.0, 0.0), GRID.data)
    with pytest.raises(ValueError, match="costmap"):
        maps.snapshot_of(GRID, moved, coverage)


def test_voxels_survive_in_messages_below_the_limit() -> None:
    rng = np.random.default_rng(3)
    keys = rng.integers(-400, 400, (250_001, 3), dtype=np.int32)
    odds = rng.integers(-100, 100, 250_001, dtype=np.int8)
    messages = maps.to_voxel_deltas(VoxelDelta(1.5, 7, 0.05, keys, odds))
    assert [len(m.log_odds) for m in messages] == [100_000, 100_000, 50_001]
    parts = [maps.voxel_delta_of(m) for m in messages]
    np.testing.assert_array_equal(np.concatenate([p.keys for p in parts]), keys)
    np.testing.assert_array_equal(np.concatenate([p.log_odds for p in parts]), odds)
    assert {(p.sequence, p.resolution, p.stamp_s) for p in parts} == {(7, 0.05, 1.5)}
    empty = VoxelDelta(1.5, 8, 0.05, np.zeros((0, 3), np.int32), np.zeros(0, np.int8))
    assert len(maps.to_voxel_deltas(empty)) == 1


def test_statuses_have_the_numbers_of_the_message() -> None:
    for status in MotionStatus:
        assert getattr(MotionStatusMessage, status.name) == status.value


@pytest.mark.parametrize("status", list(MotionStatus))
def test_report_survives(status: MotionStatus) -> None:
    full = MotionReport(4, status, "why", 3.5, 2.25, 0.5, SE2(1.0, 2.0, 0.5), 12.5, "cap:1:2.000")
    bare = MotionReport(4, status)
    for report in (full, bare):
        assert motion.report_of(motion.to_motion_result(report), 4) == report


def test_nav2_codes_tell_every_terminal_status_apart() -> None:
    ends = [s for s in MotionStatus if s.is_terminal]
    assert [nav2_codes.status_of_error_code(nav2_codes.to_error_code(s)) for s in ends] == ends
    # nav2_msgs: NONE 0, FAILED_TO_MAKE_PROGRESS 105, START_OCCUPIED 205, NO_VALID_PATH 208.
    assert nav2_codes.to_error_code(MotionStatus.REACHED) == 0
    assert nav2_codes.to_error_code(MotionStatus.BLOCKED_NO_PATH) == 208
    assert nav2_codes.status_of_error_code(101) is MotionStatus.BLOCKED_NO_PROGRESS


def test_options_of_a_nav2_goal() -> None:
    options = motion.MotionOptions("patrol", 0.25)
    assert options.encode() == "holder:patrol tolerance:0.25"
    assert motion.MotionOptions.decode(options.encode(), "x") == options
    assert motion.MotionOptions.decode("navigate_w_replanning.xml", "x") == motion.MotionOptions("x")
    for bad in ("tolerance:none", "tolerance:-1", "tolerance:inf", "holder: tolerance:1"):
        with pytest.raises(ValueError, match="allowed"):
            motion.MotionOptions.decode(bad, "x")


def test_path_is_in_the_map() -> None:
    path = motion.to_path([SE2(1, 2, math.pi), SE2(3, 4, 0)], 2.0)
    assert (path.header.frame_id, path.poses[1].pose.position.x) == ("map", 3.0)


def test_tasks_survive_and_bad_ones_are_refused() -> None:
    goal = TaskGoal("g", "egg", "egg")
    assert task.task_goals_of([task.to_task_goal(goal)]) == (goal,)
    for outcome in TaskOutcome:
        result = TaskResult(outcome, "because", "an answer")
        assert task.task_result_of(task.to_task_result(result)) == result
    with pytest.raises(ValueError, match="at least one"):
        task.task_goals_of([])
    with pytest.raises(ValueError, match="'song'"):
        task.task_goals_of([TaskGoalMessage(id="g", kind="song", text="egg")])
    with pytest.raises(ValueError, match="empty"):
        task.task_goals_of([TaskGoalMessage(id="g", kind="category", text=" ")])
