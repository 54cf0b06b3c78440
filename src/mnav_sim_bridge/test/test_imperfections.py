"""Imperfect sensors and wheels: the numbers that were asked for, what is true left alone, the same again for a seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.motion import RobotCommand, Velocity
from mnav_core.robot import find_robot
from mnav_core.sensing import SensorRequest, ViewRequest
from mnav_sim_bridge.flat_world import FlatWorld, Target, Yard
from mnav_sim_bridge.imperfections import Imperfections, ImperfectWorld, imperfect, profile_record

ROBOT = find_robot("cobot_magic")
NONE = Imperfections(0.0, 0.0, 0.0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0)
ALL = SensorRequest(scan=True, views=(ViewRequest("front", 320, 240),), detect=("front",))
YARD = Yard((4.0, 4.0), targets=(Target("egg_1", "egg", (2.0, 0.0, 1.0)),))


def world(profile: Imperfections, seed: int = 1) -> ImperfectWorld:
    flat = FlatWorld(YARD, {"r": (ROBOT, SE2(0.0, 0.0))})
    flat.reset(1)
    return ImperfectWorld(flat, profile, seed)


def drive(one: ImperfectWorld, ticks: int, velocity: Velocity) -> None:
    for _ in range(ticks):
        one.step({"r": RobotCommand(velocity)})


def test_the_clean_profile_is_the_world_itself_and_others_are_refused() -> None:
    flat = FlatWorld(YARD, {"r": (ROBOT, SE2(0.0, 0.0))})
    flat.reset(1)
    assert imperfect(flat, "clean", 1) is flat and profile_record("clean") == {}
    assert profile_record("realistic")["latency_ticks"] == 1
    with pytest.raises(UsageError, match=r"'perfect', allowed: clean, realistic"):
        imperfect(flat, "perfect", 1)


def test_without_any_imperfection_nothing_changes() -> None:
    one = world(NONE)
    clean = FlatWorld(YARD, {"r": (ROBOT, SE2(0.0, 0.0))})
    clean.reset(1)
    for _ in range(20):
        command = {"r": RobotCommand(Velocity(0.3, 0.0, 0.4))}
        one.step(command)
        clean.step(command)
    ours, theirs = one.sense("r", ALL), clean.sense("r", ALL)
    assert one.state_hash() == clean.state_hash()
    assert (ours.odometry.pose.x, ours.odometry.pose.yaw) == pytest.approx(
        (theirs.odometry.pose.x, theirs.odometry.pose.yaw), abs=1e-9
    )
    assert ours.images[0].depth == pytest.approx(theirs.images[0].depth)


def test_depth_noise_grows_with_range_as_published() -> None:
    profile = replace(NONE, depth_noise_m=0.0012, depth_noise_per_m2=0.0019)
    one = world(profile)
    noisy = one.sense("r", ALL).images[0].depth
    clean = one.inner.sense("r", ALL).images[0].depth
    near = np.abs(clean - 3.9) < 0.05
    assert near.sum() > 2000
    # 0.0012 + 0.0019 * 3.5^2 = 0.0245 m at 3.9 m.
    assert float((noisy - clean)[near].std()) == pytest.approx(0.0245, rel=0.05)
    assert (noisy[clean == 0.0] == 0.0).all()


def test_a_command_reaches_the_wheels_a_tick_later() -> None:
    one = world(replace(NONE, latency_ticks=2))
    moved = []
    for _ in range(4):
        one.step({"r": RobotCommand(Velocity(0.5, 0.0, 0.0))})
        moved.append(one.truth().robot_velocity("r").vx > 0.0)
    assert moved == [False, False, True, True]


def test_frames_are_dropped_as_often_as_asked() -> None:
    one = world(replace(NONE, dropped=0.25))
    frames = [one.sense("r", SensorRequest(scan=True, detect=("front",))) for _ in range(300)]
    lost = sum(frame.scan is None for frame in frames) + sum(not frame.detections for frame in frames)
    assert 0.18 < lost / 600 < 0.32


def test_odometry_drifts_and_what_is_sensed_drifts_with_it() -> None:
    one = world(replace(NONE, drift_per_m=0.02, drift_per_rad=0.01))
    drive(one, 80, Velocity(0.3, 0.0, 0.3))
    frame, truth = one.sense("r", ALL), one.truth().robot_pose("r")
    off = frame.odometry.pose.distance_to(truth.x, truth.y)
    assert 0.001 < off < 0.3
    assert ROBOT.lidar is not None and frame.scan is not None
    expected = frame.odometry.pose.to_se3() @ ROBOT.lidar.pose_in_base()
    assert frame.scan.sensor_in_map.translation == pytest.approx(expected.translation)
    assert frame.detections[0].camera_in_map.translation == pytest.approx(frame.images[0].camera_in_map.translation)


def test_wheels_that_slip_carry_the_base_less_far_and_odometry_counts_some_of_it() -> None:
    firm, slipping = world(NONE), world(replace(NONE, slip_event=0.5, slip_event_share=1.0, slip_unseen=1.0))
    for one in (firm, slipping):
        drive(one, 40, Velocity(0.2, 0.0, 0.0))
    true, whole = slipping.truth().robot_pose("r").x, firm.truth().robot_pose("r").x
    assert 0.45 * whole < true < 0.9 * whole
    counted = slipping.sense("r", SensorRequest()).odometry.pose.x
    assert true < counted <= whole * 1.05


def test_equal_seeds_give_equal_runs() -> None:
    def end(seed: int) -> tuple[float, float, str]:
        one = world(Imperfections(), seed)
        drive(one, 50, Velocity(0.3, 0.0, 0.2))
        frame = one.sense("r", ALL)
        return frame.odometry.pose.x, float(sum(i.depth.sum() for i in frame.images)), one.state_hash()

    assert end(3) == end(3) and end(3) != end(4)
    one = world(Imperfections(), 3)
    drive(one, 5, Velocity(0.3, 0.0, 0.2))
    one.reset(3)
    drive(one, 50, Velocity(0.3, 0.0, 0.2))
    again = world(Imperfections(), 3)
    drive(again, 50, Velocity(0.3, 0.0, 0.2))
    assert one.state_hash() == again.state_hash()
