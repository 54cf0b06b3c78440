"""Rows, timing, and the inputs of the figures: that a bound can fail, and that scenes are what they say."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from mnav_bench.figures.growth import growth_figures
from mnav_bench.figures.insertion import crossed, insertion_figures
from mnav_bench.figures.memory import MemoryLog, run_minutes
from mnav_bench.figures.peers import Peers, install_peers
from mnav_bench.figures.planning import far_pairs, planning_figures
from mnav_bench.figures.room_grids import room_grid
from mnav_bench.figures.rows import (
    RowOutcome,
    at_least,
    at_most,
    equal,
    row_line,
    skipped,
    unreadable,
    verdict_code,
    write_rows,
)
from mnav_bench.figures.scan_scene import Scene, furnished_hall, round_trip, scan
from mnav_bench.figures.timing import time_calls
from mnav_bench.foreign.map_checks import footprint_costmap
from mnav_core.errors import UsageError
from mnav_core.robot import RobotDescription, find_robot


@pytest.fixture(scope="module")
def robot() -> RobotDescription:
    return find_robot("cobot_magic")


def test_bounds_hold_on_their_side_and_never_for_nan() -> None:
    assert [at_most("a", v, 2.0).passed for v in (1.9, 2.0, 2.1, math.nan)] == [True, True, False, False]
    assert [at_least("a", v, 2.0).passed for v in (1.9, 2.0, math.nan)] == [False, True, False]
    assert [equal("a", v, 0.0).passed for v in (0.0, 1.0)] == [True, False]


def test_the_exit_code_tells_failed_from_unreadable() -> None:
    good, bad = at_most("a", 1.0, 2.0), at_most("a", 3.0, 2.0)
    assert verdict_code([good, skipped("b", "x")]) == 0
    assert verdict_code([good, unreadable("b", "x")]) == 2
    assert verdict_code([good, unreadable("b", "x"), bad]) == 1


def test_rows_are_written_as_plain_json(tmp_path: Path) -> None:
    file = tmp_path / "sub" / "rows.json"
    write_rows(file, [at_most("a", 3.0, 2.0, "ms", "why"), at_most("b", math.nan, 2.0)], {"robot": "r"})
    first, second = json.loads(file.read_text())["rows"]
    assert first == {
        "name": "a", "measured": 3.0, "unit": "ms", "bound": "<= 2", "pass": False, "outcome": "FAIL", "detail": "why",
    }  # fmt: skip
    assert second["measured"] is None and second["pass"] is False
    assert row_line(at_most("a", 3.0, 2.0, "ms", "why")) == "FAIL       a: 3 ms (bound <= 2 ms)  [why]"


def test_the_first_call_is_the_cold_one() -> None:
    times = iter([0.0, 1.0, 1.0, 1.1, 2.0, 2.3, 3.0, 3.2])
    timing = time_calls([lambda: None] * 4, lambda: next(times))
    assert timing.cold_ms == pytest.approx(1000.0)
    assert timing.median_ms == pytest.approx(200.0)


def test_a_ray_ends_at_the_nearest_face() -> None:
    scene = Scene(np.zeros(3), np.array([10.0, 8.0, 3.0]), np.array([[[4.0, 3.0, 0.0], [5.0, 5.0, 1.0]]]))
    origin = np.array([1.0, 4.0, 0.5])
    directions = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, 0.8]])
    assert scene.cast(origin, directions) == pytest.approx([3.0, 1.0, 2.5, 3.125])


def test_scans_lie_on_the_scene_and_never_repeat() -> None:
    scene = furnished_hall(1)
    pose = round_trip(scene, 5)[0]
    first, second = scan(scene, pose, 500, 0), scan(scene, pose, 500, 1)
    assert not np.array_equal(first, second)
    world = pose.apply(first)
    assert (world >= scene.low - 1e-4).all() and (world <= scene.high + 1e-4).all()
    slope = np.degrees(np.arctan2(first[:, 2], np.hypot(first[:, 0], first[:, 1])))
    assert -7.01 < slope.min() < -6.5 and 51.0 < slope.max() < 52.01


def test_a_ray_crosses_the_voxels_on_its_way_but_not_the_one_it_ends_in() -> None:
    keys = np.array([[0, 0, 0], [5, 0, 0], [9, 0, 0], [5, 1, 0]])
    origin, end = np.array([-0.2, 0.02, 0.02]), np.array([[0.48, 0.02, 0.02]])
    assert crossed(keys, origin, end, 0.05).tolist() == [True, True, False, False]


def test_every_room_of_a_grid_can_be_reached(robot: RobotDescription) -> None:
    grid = room_grid(400, 3)
    costmap = footprint_costmap(grid, robot)
    pairs = far_pairs(costmap, 12, 3)
    assert len(pairs) == 12 and len({start for start, _ in pairs}) == 3
    assert all(math.dist(start, goal) >= 200 for start, goal in pairs)


def test_insertion_rows_hold_without_peers() -> None:
    rows = insertion_figures(None)
    assert [row.outcome for row in rows] == [RowOutcome.SKIPPED, RowOutcome.PASS, RowOutcome.PASS]


def test_replanned_costs_are_those_of_a_fresh_search(robot: RobotDescription) -> None:
    rows = {row.name: row for row in planning_figures(robot, None, 500)}
    assert rows["500x500 rooms: replanned cost over a fresh search"].passed
    assert rows["500x500 rooms: first plan, times pyastar2d"].outcome is RowOutcome.SKIPPED


def test_growth_is_measured_for_all_three(robot: RobotDescription) -> None:
    rows = growth_figures(robot)
    assert [row.name for row in rows][::2] == ["transform lookup", "costmap from map", "frontier extraction"]
    assert all(row.measured is not None and row.measured > 0.0 for row in rows)


def test_growth_of_memory_is_the_slope_after_settling() -> None:
    assert MemoryLog((50.0, 90.0, *(100.0 + 2.0 * k for k in range(8)))).growth_mb == pytest.approx(14.0)
    assert MemoryLog((50.0, 90.0, *[100.0] * 8)).growth_mb == pytest.approx(0.0)


def test_memory_is_read_every_minute(robot: RobotDescription) -> None:
    assert len(run_minutes(robot, 1).resident_mb) == 1


def test_a_peer_that_fails_is_quoted() -> None:
    with pytest.raises(RuntimeError, match=r"peer job 'nothing' failed: .*KeyError"):
        Peers(Path(sys.executable)).run("nothing", {"a": np.zeros(1)})


def test_peers_without_their_lock_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"peers: .*peers\.lock is missing"):
        install_peers(tmp_path / "peers.lock", tmp_path / "peers")


def test_an_installed_environment_is_used_as_it_is(tmp_path: Path) -> None:
    lock = tmp_path / "peers.lock"
    lock.write_text("")
    first = install_peers(lock, tmp_path / "peers")
    made = (tmp_path / "peers" / "peers.stamp").stat().st_mtime_ns
    assert install_peers(lock, tmp_path / "peers") == first
    assert (tmp_path / "peers" / "peers.stamp").stat().st_mtime_ns == made
