"""Search over place and heading, checked against exact rectangles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from mnav_core.geometry import SE2
from mnav_executor_geo.footprint import outline, sweep_clear, touched_points
from mnav_executor_geo.lease import MotionLease
from mnav_executor_geo.maneuver_search import Leg, LegKind, find_maneuver
from mnav_executor_geo.settings import ExecutorSettings, ManeuverSettings
from mnav_executor_geo.warm import warm


def legs_for(robot, rooms, start, goal, yaw=None) -> tuple[Leg, ...] | None:
    points, roomy = (outline(robot.footprint, 0.04, padding) for padding in (0.0, 0.05))
    costmap = rooms.costmap(robot)
    return find_maneuver(costmap, points, roomy, start, goal, 0.1, yaw, 3.0, ManeuverSettings())


def poses_along(start: SE2, legs: tuple[Leg, ...]) -> list[SE2]:
    poses, last = [start], start
    for leg in legs:
        for t in np.linspace(0.0, 1.0, 40)[1:]:
            if leg.kind is LegKind.ROTATE:
                poses.append(SE2(last.x, last.y, last.yaw + t * leg.turn))
            else:
                poses.append(SE2(last.x + t * (leg.x - last.x), last.y + t * (leg.y - last.y), last.yaw))
        last = poses[-1]
    return poses


def test_parking_beside_a_wall_touches_nothing_and_legs_join(any_robot, make_rooms) -> None:
    rooms = make_rooms((6.0, 4.0), [(0.0, 3.9, 6.0, 4.0), (4.2, 3.0, 5.0, 3.9)])
    start, goal = SE2(3.0, 2.6, 1.2), (3.4, 3.55)
    legs = legs_for(any_robot, rooms, start, goal)
    assert legs is not None
    poses = poses_along(start, legs)
    assert math.hypot(poses[-1].x - goal[0], poses[-1].y - goal[1]) <= 0.101
    assert not any(rooms.collides(any_robot.footprint, pose) for pose in poses)
    for leg, end in zip(legs, poses[39::39], strict=True):
        assert abs(math.remainder(leg.yaw - end.yaw, 2.0 * math.pi)) < 1e-6
        assert (leg.x, leg.y) == pytest.approx((end.x, end.y))
        if leg.kind is not LegKind.ROTATE:
            along = (leg.x - end.x, leg.y - end.y)
            assert math.hypot(*along) < 1e-9


def test_a_heading_is_met_within_half_a_step(cobot, make_rooms) -> None:
    legs = legs_for(cobot, make_rooms((6.0, 4.0), [(0.0, 0.0, 0.1, 0.1)]), SE2(2.0, 2.0, 0.0), (3.0, 2.5), 2.2)
    assert legs is not None and abs(legs[-1].yaw - 2.2) <= math.radians(14.0)


def test_a_gap_narrower_than_the_robot_is_not_passed(cobot, make_rooms) -> None:
    """The robot is 0.5 m wide."""
    for gap, found in ((0.45, False), (0.75, True)):
        boxes = [(3.0, 0.0, 3.1, 2.0 - gap / 2), (3.0, 2.0 + gap / 2, 3.1, 4.0)]
        legs = legs_for(cobot, make_rooms((6.0, 4.0), boxes), SE2(2.0, 2.0, 0.0), (4.2, 2.0))
        assert (legs is not None) is found


def test_a_goal_outside_the_window_is_none(cobot, make_rooms) -> None:
    assert legs_for(cobot, make_rooms((9.0, 4.0), [(0.0, 0.0, 0.1, 0.1)]), SE2(1.0, 2.0, 0.0), (7.0, 2.0)) is None


def test_the_sweep_stops_where_the_corner_meets_the_wall(cobot, make_rooms) -> None:
    """Half length 0.35, half width 0.25, wall cells 0.40 m to the left: 0.35 sin a + 0.25 cos a = 0.40 at 0.57 rad."""
    costmap = make_rooms((4.0, 4.0), [(0.0, 2.41, 4.0, 2.5)]).costmap(cobot)
    points = outline(cobot.footprint, 0.02, 0.0)
    angle = math.asin(0.40 / math.hypot(0.35, 0.25)) - math.atan2(0.25, 0.35)
    assert sweep_clear(costmap, points, SE2(2.0, 2.0, 0.0), math.pi, 0.01) == pytest.approx(angle, abs=0.04)
    assert touched_points(costmap, points, SE2(2.0, 2.0, 0.9)) > 0
    assert touched_points(costmap, points, SE2(2.0, 2.0, 0.0)) == 0


def test_the_lease() -> None:
    lease = MotionLease()
    assert lease.acquire("a") is None and lease.acquire("a") is None
    assert lease.acquire("b") == "a" and lease.holder == "a"
    lease.release()
    assert lease.acquire("b") is None


def test_settings_out_of_range_are_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="lookahead_m"):
        ExecutorSettings.model_validate({"follower": {"lookahead_m": -1.0}})
    with pytest.raises(ValidationError, match="speling"):
        ExecutorSettings.model_validate({"speling": 1.0})


def test_everything_can_be_warmed(any_robot) -> None:
    warm(any_robot)
