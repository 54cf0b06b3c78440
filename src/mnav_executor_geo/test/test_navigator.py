"""Every motion status, provoked; lease, rest, and what reports say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import OPTICAL_IN_BODY, SE2, SE3
from mnav_core.interaction import Operation
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, MotionGroup, MotionStatus, Velocity
from mnav_core.requests import Capture, GoByIntent, GoToPoint, GoToPose, Interact, Look, PointIntent, Turn
from mnav_core.robot import find_robot
from mnav_core.sensing import Odometry, RgbdImage
from mnav_executor_geo.inputs import NavigatorInputs
from mnav_executor_geo.navigator import Navigator

CAMERA = PinholeCamera.from_hfov(64, 48, math.radians(90.0))
BORDER = [(0.0, 0.0, 8.0, 0.1), (0.0, 5.9, 8.0, 6.0), (0.0, 0.0, 0.1, 6.0), (7.9, 0.0, 8.0, 6.0)]
FAR = GoToPose(6.5, 3.0)


@pytest.fixture
def world(cobot, make_rooms, simulate):
    """The robot at (1, 3), facing along x, in an empty room of 8 m by 6 m."""
    return simulate(cobot, make_rooms((8.0, 6.0), list(BORDER)), SE2(1.0, 3.0, 0.0))


def seen(pose: SE2, depth_m: float, ref: str = "c1") -> Capture:
    """A front view in which everything is `depth_m` away."""
    camera = pose.to_se3(1.25) @ SE3(OPTICAL_IN_BODY, np.zeros(3))
    image = RgbdImage(
        "front", 0.0, CAMERA, camera, np.zeros((48, 64, 3), np.uint8), np.full((48, 64), depth_m, np.float32)
    )
    return Capture(ref, 0.0, True, (image,))


def refused(world, request, **changes):
    """The report that a request is refused with at once."""
    report = world.navigator.start(7, request, "mind", world.inputs(**changes))
    assert report is not None and report.motion_id == 7 and report.reason
    assert world.navigator.active_id is None and world.tick().velocity == STOP
    return report


def begin(world, request=FAR, motion_id=1, holder="mind", ticks=0, **changes):
    assert world.navigator.start(motion_id, request, holder, world.inputs(**changes)) is None
    for _ in range(ticks):
        world.tick()


def test_reached_and_what_its_report_says(world) -> None:
    begin(world)
    assert world.navigator.active_id == 1 and world.navigator.path is not None
    report = world.run(1)
    assert report.status is MotionStatus.REACHED and report.status.group is MotionGroup.REACHED
    assert report.planned_m == pytest.approx(5.5, abs=0.05)
    assert report.travelled_m == pytest.approx(5.5, abs=0.2)
    assert report.distance_to_target_m <= 0.15 and report.end_s == pytest.approx(world.now_s, abs=0.11)
    assert world.navigator.active_id is None and world.navigator.holder is None and world.navigator.path is None
    assert 11.0 <= report.end_s <= 20.0


def test_a_visual_point_is_approached_at_the_standoff_and_faced(world) -> None:
    begin(world, GoToPoint("c1", "front", 0.5, 0.5), newest_capture=seen(world.pose, 4.0))
    report = world.run(1)
    assert report.status is MotionStatus.REACHED
    assert world.pose.distance_to(5.0, 3.0) == pytest.approx(0.7, abs=0.25)
    assert abs(world.pose.bearing_to(5.0, 3.0)) < 0.2
    assert report.distance_to_target_m == pytest.approx(world.pose.distance_to(5.0, 3.0), abs=0.05)


def test_a_visual_point_to_pass_through_is_driven_to(world) -> None:
    begin(world, GoToPoint("c1", "front", 0.5, 0.5, PointIntent.PASS_THROUGH), newest_capture=seen(world.pose, 4.0))
    assert world.run(1).status is MotionStatus.REACHED and world.pose.distance_to(5.0, 3.0) < 0.2


def test_unknown_and_stale_images(world) -> None:
    request, newest = GoToPoint("c0", "front", 0.5, 0.5), seen(world.pose, 4.0)
    assert refused(world, request, newest_capture=newest).status is MotionStatus.REFUSED_UNKNOWN_IMAGE
    stale = refused(world, request, newest_capture=newest, known_refs=("c0", "c1"))
    assert stale.status is MotionStatus.REFUSED_STALE_IMAGE and "c1" in stale.reason
    assert refused(world, request).status is MotionStatus.REFUSED_UNKNOWN_IMAGE


@pytest.mark.parametrize(
    ("view", "u", "v"),
    [
        ("front", 1.01, 0.5),
        ("front", 0.5, -0.01),
        ("front", math.nan, 0.5),
        ("front", 0.5, math.inf),
        ("back", 0.5, 0.5),
    ],
)
def test_points_out_of_range(world, view: str, u: float, v: float) -> None:
    report = refused(world, GoToPoint("c1", view, u, v), newest_capture=seen(world.pose, 4.0))
    assert report.status is MotionStatus.REFUSED_OUT_OF_RANGE and "allowed" in report.reason


def test_no_depth(world) -> None:
    report = refused(world, GoToPoint("c1", "front", 0.5, 0.5), newest_capture=seen(world.pose, 0.0))
    assert report.status is MotionStatus.REFUSED_NO_DEPTH


def test_no_standoff(world) -> None:
    report = refused(world, GoToPoint("c1", "front", 0.5, 0.5), newest_capture=seen(world.pose, 20.0))
    assert report.status is MotionStatus.REFUSED_NO_STANDOFF


def test_start_lethal(world) -> None:
    world.rooms.boxes.append((0.9, 2.9, 1.1, 3.1))
    world.costmap = world.rooms.costmap(world.robot)
    assert refused(world, FAR).status is MotionStatus.REFUSED_START_LETHAL
    point = GoToPoint("c1", "front", 0.5, 0.5)
    assert refused(world, point, newest_capture=seen(world.pose, 4.0)).status is MotionStatus.REFUSED_START_LETHAL


def test_unsupported(world, go2) -> None:
    for request in (GoByIntent("to the kitchen"), Interact("c1", "front", 0.5, 0.5, Operation.OPEN)):
        assert refused(world, request).status is MotionStatus.UNSUPPORTED
    report = Navigator(go2).start(1, Look(0.2), "mind", world.inputs())
    assert report is not None and report.status is MotionStatus.UNSUPPORTED


@pytest.mark.parametrize(
    "request_",
    [Turn(7.0), Turn(math.nan), Look(1.2), Look(math.inf), GoToPose(math.nan, 0.0), GoToPose(1.0, 1.0, None, 0.0)],
)
def test_other_requests_out_of_range(world, request_) -> None:
    assert refused(world, request_).status is MotionStatus.REFUSED_OUT_OF_RANGE


def test_blocked_no_path_at_once(world) -> None:
    report = refused(world, GoToPose(20.0, 3.0))
    assert report.status is MotionStatus.BLOCKED_NO_PATH


def test_blocked_no_path_when_the_way_closes(world) -> None:
    begin(world, ticks=20)
    world.rooms.boxes.append((4.0, 0.0, 4.1, 6.0))
    world.costmap = world.rooms.costmap(world.robot)
    report = world.run(1, 30.0)
    assert report.status is MotionStatus.BLOCKED_NO_PATH and not world.collided


def test_a_way_that_opens_again_in_time_is_taken(world) -> None:
    begin(world, ticks=20)
    world.rooms.boxes.append((4.0, 0.0, 4.1, 6.0))
    world.costmap = world.rooms.costmap(world.robot)
    for _ in range(15):
        world.tick()
    assert world.command.velocity == STOP
    world.rooms.boxes.pop()
    world.costmap = world.rooms.costmap(world.robot)
    assert world.run(1).status is MotionStatus.REACHED


def test_blocked_no_progress_when_the_wheels_do_not_turn(world) -> None:
    begin(world)
    here = world.pose
    while 1 not in world.reports and world.now_s < 120.0:
        world.tick()
        world.pose = here
    report = world.reports[1]
    assert report.status is MotionStatus.BLOCKED_NO_PROGRESS and report.end_s < 80.0


def test_timed_out_when_progress_is_too_slow(world) -> None:
    begin(world)
    while 1 not in world.reports and world.now_s < 300.0:
        before = world.pose
        world.tick()
        world.pose = SE2(before.x + 0.0022, before.y, 0.0)
    report = world.reports[1]
    # 20 s and five times the 5.5 m at 0.5 m/s with one full turn at 0.785 rad/s: 20 + 5 (11 + 8) = 115 s.
    assert report.status is MotionStatus.TIMED_OUT and report.end_s == pytest.approx(115.0, abs=6.0)


@pytest.mark.parametrize("which", ["odometry", "map", "none", "future"])
def test_stale_inputs_stop_the_base_at_once_and_end_the_motion(world, which: str) -> None:
    begin(world, ticks=20)
    assert world.command.velocity.vx > 0.2
    frozen_s, odometry = world.now_s - 0.1, Odometry(world.now_s - 0.1, world.pose, world.velocity)
    ages = []
    while 1 not in world.reports and world.now_s < 20.0:
        changes = {
            "odometry": {"odometry": odometry},
            "map": {"map_stamp_s": frozen_s},
            "none": {"costmap": None, "map_stamp_s": None},
            "future": {"odometry": replace(odometry, stamp_s=world.now_s + 5.0)},
        }[which]
        age = world.now_s - frozen_s
        allowed = {"odometry": 0.3, "map": 2.0, "none": 0.0, "future": 0.0}[which]
        command = world.tick(**changes)
        if age > allowed + 1e-6:
            assert command.velocity == STOP
            ages.append(age)
        if which == "map":
            world.pose = SE2(2.0, 3.0, 0.0)
    assert world.reports[1].status is MotionStatus.BLOCKED_STALE_INPUT
    assert ages[-1] - ages[0] == pytest.approx(2.1, abs=0.15)


@given(age=st.floats(0.31, 60.0))
@settings(deadline=None, max_examples=20)
def test_no_age_beyond_the_limit_moves_the_base(age: float) -> None:
    navigator, inputs = stale_case(age)
    assert navigator.start(1, FAR, "mind", inputs) is None
    assert navigator.step(inputs).command.velocity == STOP


def stale_case(age: float) -> tuple[Navigator, NavigatorInputs]:
    costmap = GridMap(0.0, 0.05, (0.0, 0.0), np.zeros((120, 160), np.int8))
    pose = SE2(1.0, 3.0, 0.0)
    inputs = NavigatorInputs(100.0, Odometry(100.0 - age, pose, Velocity()), pose, 0.0, costmap, map_stamp_s=100.0)
    return Navigator(find_robot("cobot_magic")), inputs


def test_a_short_gap_in_the_inputs_is_survived(world) -> None:
    begin(world, ticks=20)
    for _ in range(15):
        assert world.tick(odometry=None).velocity == STOP
    assert world.run(1).status is MotionStatus.REACHED


def test_busy_names_the_holder_who_keeps_driving(world) -> None:
    begin(world, ticks=20)
    report = world.navigator.start(2, GoToPose(1.0, 1.0), "other", world.inputs())
    assert report is not None and report.status is MotionStatus.REFUSED_BUSY and "mind" in report.reason
    assert world.tick().velocity.vx > 0.3 and world.navigator.active_id == 1
    world.run(1)
    assert world.navigator.start(3, GoToPose(1.0, 1.0), "other", world.inputs()) is None


def rests(world) -> bool:
    """Whether the base rests within 0.3 s, having been commanded to in the first tick."""
    first = world.tick().velocity
    for _ in range(2):
        world.tick()
    return first == STOP and world.velocity.is_rest


@pytest.mark.parametrize("seed", range(20))
def test_cancelled_motions_rest(world, seed: int) -> None:
    rng = np.random.default_rng(seed)
    target = rng.uniform((4.0, 0.5), (7.5, 5.5))
    begin(world, Turn(3.0) if seed % 5 == 0 else GoToPose(*target), ticks=int(rng.integers(3, 25)))
    world.navigator.cancel(world.now_s)
    assert rests(world)
    assert world.reports[1].status is MotionStatus.CANCELLED and world.navigator.active_id is None


@pytest.mark.parametrize("seed", range(20))
def test_superseded_motions_rest_and_the_newer_one_is_served(world, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.uniform((4.0, 0.5), (7.5, 5.5)), rng.uniform((0.5, 0.5), (7.5, 5.5))
    begin(world, GoToPose(*first), ticks=int(rng.integers(3, 25)))
    assert world.navigator.start(2, GoToPose(*second), "mind", world.inputs()) is None
    assert rests(world)
    assert world.reports[1].status is MotionStatus.SUPERSEDED and "2" in world.reports[1].reason
    assert world.navigator.active_id == 2
    assert world.run(2).status is MotionStatus.REACHED


def test_superseding_waits_for_rest(world) -> None:
    begin(world, ticks=30)
    assert world.velocity.vx > 0.4
    begin(world, GoToPose(1.0, 5.0), motion_id=2)
    assert rests(world)


def test_a_refused_request_leaves_the_running_motion_alone(world) -> None:
    begin(world, ticks=20)
    assert world.navigator.start(2, GoToPose(20.0, 0.0), "mind", world.inputs()) is not None
    assert world.tick().velocity.vx > 0.3 and world.navigator.active_id == 1


def test_the_emergency_stop_wins_and_is_latched(world) -> None:
    begin(world, ticks=20)
    world.navigator.emergency_stop(True)
    assert rests(world) and world.reports[1].status is MotionStatus.ESTOP
    assert refused(world, FAR).status is MotionStatus.ESTOP
    world.navigator.emergency_stop(False)
    begin(world, motion_id=2)
    assert world.run(2).status is MotionStatus.REACHED


def test_somebody_in_the_way_is_not_hit_and_driven_round(world) -> None:
    begin(world, ticks=30)
    ahead = world.pose.x + 0.9
    world.rooms.boxes.append((ahead, 2.8, ahead + 0.3, 3.2))
    world.costmap = world.rooms.costmap(world.robot)
    report = world.run(1)
    assert report.status is MotionStatus.REACHED and not world.collided


def test_driving_backwards_is_for_recoveries(world) -> None:
    begin(world, GoToPose(0.7, 3.0))
    world.run(1)
    assert world.backed_m == 0.0


@pytest.mark.parametrize("angle", [0.5, -1.0, math.pi, 1.5 * math.pi, -2.0 * math.pi])
def test_turns_add_up(world, angle: float) -> None:
    begin(world, Turn(angle))
    turned = 0.0
    while 1 not in world.reports and world.now_s < 30.0:
        before = world.pose.yaw
        world.tick()
        turned += math.remainder(world.pose.yaw - before, 2.0 * math.pi)
    for _ in range(3):
        world.tick()
    assert world.reports[1].status is MotionStatus.REACHED
    assert turned == pytest.approx(angle, abs=0.06)


def test_a_turn_needs_no_map(world) -> None:
    world.costmap = None
    begin(world, Turn(1.0))
    assert world.run(1, 20.0).status is MotionStatus.REACHED


def test_a_turn_beside_a_wall_makes_room_first(cobot, make_rooms, simulate) -> None:
    world = simulate(cobot, make_rooms((8.0, 6.0), list(BORDER)), SE2(3.0, 0.42, 0.0))
    begin(world, Turn(math.pi))
    assert world.run(1, 60.0).status is MotionStatus.REACHED
    assert not world.collided and abs(math.remainder(world.pose.yaw - math.pi, 2 * math.pi)) < 0.1


def test_a_turn_with_no_room_anywhere_is_blocked(cobot, make_rooms, simulate) -> None:
    cage = [(2.6, 2.5, 3.4, 2.7), (2.6, 3.3, 3.4, 3.5), (2.5, 2.5, 2.6, 3.5), (3.4, 2.5, 3.5, 3.5)]
    world = simulate(cobot, make_rooms((8.0, 6.0), cage), SE2(3.0, 3.0, 0.0))
    begin(world, Turn(math.pi))
    assert world.run(1, 60.0).status is MotionStatus.BLOCKED_NO_PROGRESS and not world.collided


def test_looking(world) -> None:
    begin(world, Look(0.6))
    assert world.run(1, 5.0).status is MotionStatus.REACHED and world.pitch == pytest.approx(0.6, abs=0.03)
    for _ in range(5):
        assert world.tick().camera_pitch == 0.6
    begin(world, motion_id=2, ticks=5)
    assert world.command.camera_pitch == 0.2


def test_a_head_that_does_not_move_times_out(world) -> None:
    begin(world, Look(0.6))
    while 1 not in world.reports and world.now_s < 60.0:
        world.tick()
        world.pitch = 0.0
    assert world.reports[1].status is MotionStatus.TIMED_OUT


def test_an_odometry_jump_is_not_travel(world) -> None:
    begin(world, ticks=20)
    jumped = SE2(world.pose.x + 50.0, world.pose.y, 0.0)
    world.tick(odometry=Odometry(world.now_s, jumped, world.velocity))
    world.navigator.cancel(world.now_s)
    world.tick()
    assert world.reports[1].travelled_m < 2.0


def test_a_start_inside_inflation_is_escaped(cobot, make_rooms, simulate) -> None:
    world = simulate(cobot, make_rooms((8.0, 6.0), [*BORDER, (2.0, 0.0, 2.1, 2.0)]), SE2(2.0 - 0.26, 1.0, math.pi / 2))
    world.costmap.data[world.costmap.to_cell(world.pose.x, world.pose.y)] = 99
    begin(world)
    assert world.run(1).status is MotionStatus.REACHED and not world.collided


def test_an_empty_holder_is_an_error(world) -> None:
    with pytest.raises(ValueError, match="holder"):
        world.navigator.start(1, FAR, "", world.inputs())
