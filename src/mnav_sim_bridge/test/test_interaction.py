"""Opening and closing in physics: by the point, within reach and view, out of the leaf's way, with a private log."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest

from mnav_core.geometry import SE2
from mnav_core.interaction import (
    InteractionCause,
    InteractionEnd,
    InteractionGoal,
    InteractionStatus,
    Operation,
)
from mnav_core.motion import RobotCommand, Velocity
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import SensorRequest
from mnav_sim_bridge.house.palette import WHITE
from mnav_sim_bridge.house.shapes import box
from mnav_sim_bridge.interaction import InteractionSettings
from mnav_sim_bridge.testing.scenes import Drawer, Leaf, Thing, one_room
from mnav_sim_bridge.world import MujocoWorld, WorldSettings, make_world

pytestmark = pytest.mark.sim
PITCH = 0.4
REST = Velocity()
PLAIN = WorldSettings()


@pytest.fixture(scope="module")
def robot() -> RobotDescription:
    return find_robot("cobot_magic")


def attempt(world: MujocoWorld, goal: InteractionGoal, velocity: Velocity = REST) -> InteractionEnd:
    """Ask, and let time pass until the world says how it ended; the base is commanded `velocity` all along."""
    for _ in range(10):
        world.step({"a": RobotCommand(velocity, PITCH)})
    world.step({"a": RobotCommand(velocity, PITCH, goal)})
    for _ in range(300):
        found = world.sense("a", SensorRequest()).interactions
        if found:
            return found[0]
        world.step({"a": RobotCommand(velocity, PITCH)})
    raise AssertionError("no end within 30 s")


def door_world(robot: RobotDescription, x: float, settings: WorldSettings = PLAIN) -> MujocoWorld:
    """A leaf across the way of a robot that looks at it along +x; it opens counter-clockwise, away from the robot."""
    leaf = Leaf("door_1", (3.0, 1.58), yaw=math.pi / 2, travel=1.57)
    return make_world(one_room(8, 4, leaves=(leaf,)), {"a": (robot, SE2(x, 2.0, 0.0))}, settings)


ON_LEAF = (2.98, 2.2, 1.0)


def test_a_door_opens_by_the_point_on_it_and_closes_again(robot: RobotDescription) -> None:
    world = door_world(robot, 1.9)
    end = attempt(world, InteractionGoal(1, Operation.OPEN, ON_LEAF, "front"))
    assert end == InteractionEnd(1, InteractionStatus.COMPLETED)
    truth = world.truth()
    assert truth.joint_fraction("door_1_hinge") > 0.95
    moved = truth.joint_motions()
    assert {m.cause for m in moved} == {"attempt:a:1"} and sum(m.crosses(0.8) for m in moved) == 1
    # The leaf swings towards the robot, which backed off before it moved, and was never met.
    assert truth.attempts()[0].parked_m < 0 and not truth.contacts("a")
    at = world.truth().robot_pose("a")
    leaf = (2.3, 1.6, 1.0)
    assert at.distance_to(*leaf[:2]) < 1.75
    closed = attempt(world, InteractionGoal(2, Operation.CLOSE, leaf, "front"))
    assert closed.status is InteractionStatus.COMPLETED
    assert truth.joint_fraction("door_1_hinge") < 0.01 and world.articulation.is_latched("door_1_hinge")


def test_a_drawer_opens_by_a_fraction(robot: RobotDescription) -> None:
    house = one_room(8, 4, drawers=(Drawer("drawer_1", (2.0, 2.0, 0.7)),))
    world = make_world(house, {"a": (robot, SE2(3.3, 2.0, math.pi))})
    end = attempt(world, InteractionGoal(1, Operation.OPEN, (2.01, 2.0, 0.7), "front", 0.5))
    assert end.status is InteractionStatus.COMPLETED
    assert world.truth().joint_fraction("drawer_1_slide") == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("x", "point", "cause"),
    [
        (1.0, ON_LEAF, InteractionCause.TOO_FAR),
        (1.6, (0.4, 2.0, 1.0), InteractionCause.NOT_IN_VIEW),
        (1.6, (2.7, 2.0, 0.0), InteractionCause.NO_PART),
        (1.6, (3.3, 2.0, 1.0), InteractionCause.NOT_IN_VIEW),
        (1.6, (math.nan, 2.0, 1.0), InteractionCause.BAD_GOAL),
    ],
)
def test_what_is_out_of_reach_or_view_or_fixed_is_rejected(
    robot: RobotDescription, x: float, point: tuple[float, float, float], cause: InteractionCause
) -> None:
    world = door_world(robot, x)
    end = attempt(world, InteractionGoal(1, Operation.OPEN, point, "front"))
    assert (end.status, end.cause) == (InteractionStatus.REJECTED, cause)
    assert not world.truth().joint_motions() and world.articulation.is_latched("door_1_hinge")


def test_a_driving_base_comes_to_rest_first_and_stays(robot: RobotDescription) -> None:
    world = door_world(robot, 0.9)
    end = attempt(world, InteractionGoal(1, Operation.OPEN, ON_LEAF, "front"), Velocity(0.4))
    assert end.status is InteractionStatus.COMPLETED
    assert not world.truth().contacts("a")


def test_an_obstructed_leaf_stalls_and_is_completed_only_when_allowed(robot: RobotDescription) -> None:
    crate = Thing("crate", "box", (box((0.3, 0.3, 0.6), (0, 0, 0.3), WHITE),), (2.4, 1.9, 0.0), solid=True)
    leaf = Leaf("door_1", (3.0, 1.58), yaw=math.pi / 2, travel=1.57)
    for allowed in (False, True):
        settings = WorldSettings(interaction=InteractionSettings(kinematic_completion=allowed))
        world = make_world(one_room(8, 4, (crate,), (leaf,)), {"a": (robot, SE2(1.5, 2.6, 0.0))}, settings)
        end = attempt(world, InteractionGoal(1, Operation.OPEN, ON_LEAF, "front"))
        if allowed:
            assert end.status is InteractionStatus.COMPLETED and world.truth().kinematic_completions() == 1
        else:
            assert (end.status, end.cause) == (InteractionStatus.STALLED, InteractionCause.OBSTRUCTED)
            assert world.truth().kinematic_completions() == 0
            assert world.truth().joint_fraction("door_1_hinge") < 0.8


def test_a_robot_without_a_way_out_of_the_sweep_is_told_so(robot: RobotDescription) -> None:
    walls = tuple(
        Thing(f"wall_{k}", "box", (box((0.1, 1.2, 1.0), (0, 0, 0.5), WHITE),), (x, 2.0, 0.0), solid=True)
        for k, x in enumerate((1.55,))
    )
    leaf = Leaf("door_1", (3.0, 1.58), yaw=math.pi / 2, travel=1.57)
    world = make_world(one_room(8, 4, walls, (leaf,)), {"a": (robot, SE2(2.0, 2.0, 0.0))})
    end = attempt(world, InteractionGoal(1, Operation.OPEN, (2.98, 2.2, 1.0), "front"))
    assert (end.status, end.cause) == (InteractionStatus.STALLED, InteractionCause.IN_SWEEP)
    assert world.truth().joint_fraction("door_1_hinge") < 0.01


def test_a_leaf_that_the_base_pushes_is_logged_as_pushed(robot: RobotDescription) -> None:
    leaf = Leaf("door_1", (3.0, 2.42), yaw=-math.pi / 2, initial=0.05)
    world = make_world(one_room(8, 4, leaves=(leaf,)), {"a": (robot, SE2(2.0, 1.75, 0.0))})
    for _ in range(80):
        world.step({"a": RobotCommand(Velocity(0.5))})
    causes = {m.cause for m in world.truth().joint_motions()}
    assert causes == {"body:a"}


def test_an_end_says_nothing_of_a_joint() -> None:
    assert {f.name for f in fields(InteractionEnd)} == {"attempt_id", "status", "cause", "reason"}
