"""Two hundred random goals in random rooms, for both robots: driven without touching anything."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.motion import MotionStatus
from mnav_core.requests import GoToPose
from mnav_executor_geo.grid_search import flood

EPISODES = 100
ROOM_M = 0.06


@pytest.mark.slow
def test_random_goals_are_reached_without_a_collision(any_robot, make_random_rooms, simulate, fits_through) -> None:
    """`EPISODES` for each of the two robots; a goal counts when the footprint with 6 cm of room can get there."""
    driven, failures, longest = 0, [], 0.0
    for episode in range(10 * EPISODES):
        if driven == EPISODES:
            break
        rng = np.random.default_rng([20, episode])
        rooms = make_random_rooms(rng)
        costmap = rooms.costmap(any_robot)
        start = SE2(*rng.uniform((0.3, 0.3, -math.pi), (9.7, 7.7, math.pi)))
        if not 0 <= costmap.at(start.x, start.y) < 99 or rooms.collides(any_robot.footprint, start):
            continue
        reach = flood(costmap, costmap.to_cell(start.x, start.y), 3.0, 0.0)
        assert reach is not None
        reachable = np.argwhere(np.isfinite(reach.cost_m) & (costmap.data >= 0) & (costmap.data < 99))
        goal = costmap.to_point(*(int(v) for v in reachable[rng.integers(len(reachable))]))
        if not fits_through(rooms, any_robot, start, goal, ROOM_M):
            continue
        driven += 1
        world = simulate(any_robot, rooms, start)
        report = world.navigator.start(1, GoToPose(*goal), "test", world.inputs()) or world.run(1)
        if report.status is not MotionStatus.REACHED or world.pose.distance_to(*goal) > 0.2 or world.collided:
            failures.append((episode, report, world.collided))
        elif report.planned_m > 2.0:
            longest = max(longest, report.travelled_m / report.planned_m)
    assert driven == EPISODES
    assert not any(collided for _, _, collided in failures), failures
    assert len(failures) <= EPISODES // 100, failures


@pytest.mark.parametrize("yaw", [0.0, 1.57, 3.1, -2.0])
def test_a_pose_behind_a_door_is_reached_with_its_heading(any_robot, make_rooms, simulate, yaw: float) -> None:
    boxes = [(3.0, 0.0, 3.1, 1.55), (3.0, 2.45, 3.1, 4.0), (0.0, 0.0, 6.0, 0.1), (0.0, 3.9, 6.0, 4.0)]
    world = simulate(any_robot, make_rooms((6.0, 4.0), boxes), SE2(1.0, 3.2, 2.0))
    assert world.navigator.start(1, GoToPose(4.8, 1.0, yaw, 0.1), "test", world.inputs()) is None
    report = world.run(1)
    assert report.status is MotionStatus.REACHED, report
    assert world.pose.distance_to(4.8, 1.0) <= 0.1 + 0.03
    assert abs(math.remainder(world.pose.yaw - yaw, 2 * math.pi)) < 0.1
    assert not world.collided and world.backed_m == 0.0
    assert report.travelled_m == pytest.approx(report.planned_m, rel=0.15)


def test_the_middle_of_a_door_is_passed(any_robot, make_rooms, simulate) -> None:
    boxes = [(3.0, 0.0, 3.1, 1.55), (3.0, 2.45, 3.1, 4.0)]
    world = simulate(any_robot, make_rooms((6.0, 4.0), boxes), SE2(2.0, 0.8, 0.0))
    world.navigator.start(1, GoToPose(4.5, 0.8), "test", world.inputs())
    offsets = []
    while 1 not in world.reports and world.now_s < 60.0:
        world.tick()
        if 3.0 <= world.pose.x <= 3.1:
            offsets.append(abs(world.pose.y - 2.0))
    assert world.reports[1].status is MotionStatus.REACHED
    assert offsets and max(offsets) <= 0.15


def test_a_goal_at_a_wall_is_reached_alongside(cobot, make_rooms, simulate) -> None:
    """The goal is 0.30 m from a wall and the front reaches 0.35 m: it cannot be reached head on."""
    world = simulate(cobot, make_rooms((6.0, 4.0), [(0.0, 3.9, 6.0, 4.0)]), SE2(3.0, 1.0, 1.5))
    world.navigator.start(1, GoToPose(3.0, 3.6, None, 0.1), "test", world.inputs())
    report = world.run(1)
    assert report.status is MotionStatus.REACHED, report
    assert world.pose.distance_to(3.0, 3.6) <= 0.12 and not world.collided


def test_a_dead_end_too_narrow_to_turn_in_is_left_backwards(cobot, make_rooms, simulate) -> None:
    boxes = [(1.0, 1.0, 3.0, 1.6), (1.0, 2.4, 3.0, 3.0), (1.0, 1.0, 1.1, 3.0)]
    world = simulate(cobot, make_rooms((6.0, 4.0), boxes), SE2(1.6, 2.0, math.pi))
    world.navigator.start(1, GoToPose(4.5, 2.0), "test", world.inputs())
    report = world.run(1)
    assert report.status is MotionStatus.REACHED, report
    assert world.backed_m > 0.5 and not world.collided
