"""Faulty worlds fail as they say; rows over a graph hold with few repeats; resets and full disks are measured."""

from __future__ import annotations

import numpy as np
import pytest

from mnav_bench.figures.rows import RowOutcome
from mnav_bench.robustness.faulty_world import Fault, FaultyWorld
from mnav_core.geometry import SE2
from mnav_core.robot import find_robot
from mnav_core.sensing import SensorRequest, ViewRequest
from mnav_sim_bridge.flat_world import FlatWorld, Yard

ROBOT = find_robot("cobot_magic")
ALL = SensorRequest(scan=True, views=(ViewRequest("front", 32, 24),))


def faulty() -> FaultyWorld:
    world = FaultyWorld(FlatWorld(Yard(), {"r": (ROBOT, SE2(0.0, 0.0))}))
    world.reset(1)
    return world


def test_each_fault_takes_what_it_says_and_no_more() -> None:
    world = faulty()
    clean = world.sense("r", ALL)
    assert clean.scan is not None and len(clean.images) == 1 and clean.odometry.is_finite
    world.step({})
    world.fault = Fault.FROZEN_ODOMETRY
    frozen = world.sense("r", ALL)
    assert frozen.odometry.stamp_s == 0.0 and frozen.stamp_s == pytest.approx(0.1) and frozen.scan is not None
    world.fault = Fault.NO_RANGES
    assert world.sense("r", ALL).scan is None and not world.sense("r", ALL).images
    world.fault = Fault.NO_IMAGES
    assert world.sense("r", ALL).scan is not None and not world.sense("r", ALL).images
    world.fault = Fault.NAN_ODOMETRY
    assert not world.sense("r", ALL).odometry.is_finite
    world.fault = Fault.NAN_RANGES
    half = world.sense("r", ALL)
    assert half.scan is not None
    assert np.isnan(half.scan.points).mean() == pytest.approx(0.5, abs=0.01)
    assert np.isnan(half.images[0].depth).mean() == pytest.approx(0.5)


def test_a_jump_of_the_clock_moves_every_stamp() -> None:
    world = faulty()
    world.step({})
    world.jump_s = -3.0
    frame = world.sense("r", ALL)
    assert frame.scan is not None
    stamps = {frame.stamp_s, frame.odometry.stamp_s, frame.scan.stamp_s, frame.images[0].stamp_s, world.time_s}
    assert stamps == {-2.9}


@pytest.mark.ros
def test_cancels_newer_goals_and_stops_bring_rest(ros_domain: int) -> None:
    pytest.importorskip("rclpy")
    from mnav_bench.robustness.motions import motion_rows

    rows = list(motion_rows(2))
    assert len(rows) == 8
    assert [row.name for row in rows if row.outcome is not RowOutcome.PASS] == []


@pytest.mark.sim
def test_resets_end_in_one_state() -> None:
    from mnav_bench.robustness.resets import reset_rows

    rows = reset_rows(ROBOT, 3)
    assert rows[0].outcome is RowOutcome.PASS and rows[0].measured == 0.0
