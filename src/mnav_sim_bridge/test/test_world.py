"""The world as robots meet it: motion, contact, latches, determinism."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.motion import RobotCommand, Velocity
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import SensorRequest, ViewRequest
from mnav_sim_bridge.house.assembly import assemble
from mnav_sim_bridge.house.design import draw_design
from mnav_sim_bridge.house.palette import WHITE
from mnav_sim_bridge.house.shapes import box
from mnav_sim_bridge.testing.scenes import Drawer, Leaf, Thing, one_room
from mnav_sim_bridge.world import MujocoWorld, WorldSettings, make_world

pytestmark = pytest.mark.sim


@pytest.fixture(scope="module")
def robot() -> RobotDescription:
    return find_robot("cobot_magic")


def drive(world: MujocoWorld, ticks: int, vx: float = 0.0, wz: float = 0.0, vy: float = 0.0, robot: str = "a") -> None:
    for _ in range(ticks):
        world.step({robot: RobotCommand(Velocity(vx, vy, wz))})


def test_driving_and_turning_follow_the_command(robot: RobotDescription) -> None:
    world = make_world(one_room(8, 4), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    drive(world, 40, vx=0.4)
    pose = world.truth().robot_pose("a")
    # 4 s at 0.4 m/s, less the ramp of 0.4 s at 1 m/s^2, which costs 0.08 m, and the servo's lag.
    assert pose.x == pytest.approx(1.0 + 1.6 - 0.08, abs=0.02)
    assert abs(pose.y - 2.0) < 1e-3 and abs(pose.yaw) < 1e-3
    drive(world, 10)
    start = world.truth().robot_pose("a").yaw
    drive(world, 20, wz=0.5)
    turned = world.truth().robot_pose("a").yaw - start
    assert turned == pytest.approx(1.0 - 0.5 * 0.5**2 / 3.0, abs=0.02)


def test_commands_are_in_the_base_frame(robot: RobotDescription) -> None:
    world = make_world(one_room(8, 4), {"a": (robot, SE2(4.0, 1.0, math.pi / 2))})
    drive(world, 20, vx=0.4)
    pose = world.truth().robot_pose("a")
    assert abs(pose.x - 4.0) < 1e-3 and pose.y > 1.6
    velocity = world.truth().robot_velocity("a")
    assert velocity.vx == pytest.approx(0.4, abs=0.01) and abs(velocity.vy) < 0.01


def test_limits_of_the_robot_hold_whatever_is_commanded(robot: RobotDescription) -> None:
    world = make_world(one_room(20, 4), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    previous = 0.0
    for _ in range(20):
        drive(world, 1, vx=50.0, vy=3.0, wz=0.0)
        now = world.truth().robot_velocity("a")
        assert now.vx <= robot.limits.vx_max + 0.01 and abs(now.vy) < 0.01
        assert now.vx - previous <= robot.limits.accel * world.tick_s + 0.01
        previous = now.vx
    assert previous == pytest.approx(robot.limits.vx_max, abs=0.01)
    drive(world, 5, vx=float("nan"))
    assert world.truth().robot_velocity("a").is_rest


def test_rest_comes_within_three_tenths_of_a_second(robot: RobotDescription) -> None:
    world = make_world(one_room(20, 4), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    drive(world, 15, vx=robot.limits.vx_max, wz=robot.limits.wz_max)
    assert not world.truth().robot_velocity("a").is_rest
    drive(world, 3)
    assert world.truth().robot_velocity("a").is_rest


def test_a_robot_without_a_command_stays(robot: RobotDescription) -> None:
    world = make_world(one_room(8, 4), {"a": (robot, SE2(1.0, 2.0, 0.3)), "b": (robot, SE2(5.0, 2.0, 0.0))})
    drive(world, 30, vx=0.4, robot="b")
    pose = world.truth().robot_pose("a")
    assert pose == SE2(1.0, 2.0, 0.3) or math.dist((pose.x, pose.y), (1.0, 2.0)) < 1e-9
    assert world.truth().robot_pose("b").x > 6.0


def test_walls_robots_and_things_on_the_floor_stop_the_base(robot: RobotDescription) -> None:
    crate = Thing("crate", "box", (box((0.4, 0.4, 0.4), (0, 0, 0.2), WHITE),), (2.5, 1.0, 0.0), solid=True)
    house = one_room(8, 4, (crate,))
    world = make_world(house, {"a": (robot, SE2(1.5, 1.0, 0.0)), "b": (robot, SE2(5.0, 3.0, math.pi))})
    drive(world, 60, vx=0.5)
    # The base's front edge is 0.35 m ahead of its frame, less the hull's inset.
    assert world.truth().robot_pose("a").x == pytest.approx(2.3 - 0.345, abs=0.01)
    assert "crate" in world.truth().contacts("a")
    world.place("a", SE2(7.0, 2.0, 0.0))
    drive(world, 60, vx=0.5)
    assert world.truth().robot_pose("a").x == pytest.approx(8.0 - 0.345, abs=0.01)
    world.place("a", SE2(3.5, 3.0, 0.0))
    drive(world, 60, vx=0.5)
    # A parked robot can be shoved, but never driven through.
    assert world.truth().robot_pose("b").x - world.truth().robot_pose("a").x > 0.68


def test_a_latched_leaf_withstands_the_base_and_a_released_one_does_not(robot: RobotDescription) -> None:
    # The leaf stands across the way, hinged on the right, and would open away from the robot... but it is latched.
    leaf = Leaf("door_1", (3.0, 2.42), yaw=-math.pi / 2)
    world = make_world(one_room(8, 4, leaves=(leaf,)), {"a": (robot, SE2(2.0, 1.75, 0.0))})
    drive(world, 60, vx=0.5)
    assert "door_1" in world.truth().contacts("a")
    assert world.truth().joint_fraction("door_1_hinge") < 0.02
    world.release_latch("door_1_hinge")
    drive(world, 60, vx=0.5)
    assert world.truth().joint_fraction("door_1_hinge") > 0.3


def test_every_door_of_a_closed_house_is_latched_and_of_an_open_one_is_not(robot: RobotDescription) -> None:
    design = draw_design(1, 0, None)
    assert design is not None
    for mode, latched in (("closed", True), ("open", False)):
        house = assemble(design, mode)
        world = make_world(house, {"a": (robot, SE2(1.0, 1.0, 0.0))})
        assert all(world.articulation.is_latched(d.joint) is latched for d in house.record.doors)
        assert all(world.articulation.is_latched(j) for c in house.record.containers for j in c.joints)


def test_pushing_a_drawer_carries_what_is_in_it(robot: RobotDescription) -> None:
    house = one_room(8, 4, drawers=(Drawer("drawer_1", (5.0, 2.0, 0.5)),))
    world = make_world(house, {"a": (robot, SE2(1.0, 2.0, 0.0))})
    before = np.array(world.truth().object_position("drawer_1_content"))
    world.push_joint("drawer_1_slide", 20.0)
    drive(world, 20)
    assert world.truth().joint_fraction("drawer_1_slide") < 0.02
    world.release_latch("drawer_1_slide")
    drive(world, 30)
    moved = np.array(world.truth().object_position("drawer_1_content")) - before
    assert world.truth().joint_fraction("drawer_1_slide") > 0.9
    assert moved == pytest.approx([0.4 * world.truth().joint_fraction("drawer_1_slide"), 0, 0], abs=0.002)
    with pytest.raises(KeyError, match="lid"):
        world.push_joint("lid", 1.0)


def run_of(world: MujocoWorld, seed: int) -> list[str]:
    world.reset(seed)
    rng = np.random.default_rng(3)
    hashes = []
    for k in range(40):
        command = RobotCommand(Velocity(float(rng.uniform(-0.2, 0.5)), 0.0, float(rng.uniform(-0.7, 0.7))), 0.3)
        world.step({"a": command, "b": RobotCommand(Velocity(0.3, 0.1, 0.2))})
        if k == 20:
            world.release_latch(world.house.record.containers[0].joints[0])
            world.push_joint(world.house.record.containers[0].joints[0], 5.0)
        hashes.append(world.state_hash())
    return hashes


def test_equal_seeds_and_commands_give_equal_states_bit_for_bit(robot: RobotDescription) -> None:
    design = draw_design(2, 0, None)
    assert design is not None
    house = assemble(design)
    room = next(r for r in house.record.rooms if r.kind == "living_room").rect
    starts = {
        "a": (robot, SE2(room[0] + 1.2, room[1] + 1.2, 0.5)),
        "b": (find_robot("go2"), SE2(room[2] - 1.2, room[3] - 1.2)),
    }
    world = make_world(house, starts)
    first = run_of(world, 7)
    assert run_of(world, 7) == first
    assert run_of(make_world(house, starts), 7) == first
    assert len(set(first)) == len(first)


def test_sensing_does_not_change_the_state(robot: RobotDescription) -> None:
    world = make_world(one_room(8, 4), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    drive(world, 5, vx=0.3)
    before = world.state_hash()
    world.sense("a", SensorRequest(True, (ViewRequest("front", 64, 48),), ("front",)))
    world.truth().obstacle_map("a")
    assert world.state_hash() == before


def test_the_head_tilts_at_its_rate_within_its_range(robot: RobotDescription) -> None:
    tilt = robot.views["front"].tilt
    assert tilt is not None
    world = make_world(one_room(8, 4), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    world.step({"a": RobotCommand(camera_pitch=9.0)})
    assert world.sense("a", SensorRequest()).camera_pitch == pytest.approx(tilt.rate * world.tick_s)
    for _ in range(20):
        world.step({"a": RobotCommand(camera_pitch=9.0)})
    assert world.sense("a", SensorRequest()).camera_pitch == tilt.max_rad
    forward = world.camera_in_map("a", "front").rotation[:, 2]
    assert forward == pytest.approx([math.cos(tilt.max_rad), 0, -math.sin(tilt.max_rad)], abs=1e-9)


def test_the_obstacle_map_shows_what_is_in_the_robots_height(robot: RobotDescription) -> None:
    table = Thing("table", "table", (box((1.0, 1.0, 0.04), (0, 0, 0.72), WHITE),), (4.0, 2.0, 0.0))
    mat = Thing("mat", "mat", (box((1.0, 1.0, 0.02), (0, 0, 0.01), WHITE),), (6.0, 2.0, 0.0))
    house = one_room(8, 4, (table, mat))
    world = make_world(house, {"a": (robot, SE2(1.0, 2.0)), "b": (find_robot("go2"), SE2(1.0, 1.0))})
    high, low = world.truth().obstacle_map("a"), world.truth().obstacle_map("b")
    assert high.at(4.0, 2.0) == 100 and high.at(4.45, 2.45) == 100 and high.at(4.6, 2.0) == 0
    assert low.at(4.0, 2.0) == 0
    for grid in (high, low):
        assert grid.at(6.0, 2.0) == 0 and grid.at(1.0, 2.0) == 0
        assert grid.at(-0.05, 2.0) == 100 and grid.at(8.05, 2.0) == 100 and grid.at(0.12, 2.0) == 0


def test_the_obstacle_map_follows_a_leaf(robot: RobotDescription) -> None:
    house = one_room(8, 4, leaves=(Leaf("door_1", (4.0, 1.0), yaw=math.pi / 2),))
    world = make_world(house, {"a": (robot, SE2(1.0, 2.0))})
    assert world.truth().obstacle_map("a").at(4.0, 1.5) == 100
    world.articulation.set_fraction(world.data, "door_1_hinge", (math.pi / 2) / 1.75)
    world.place("a", SE2(1.0, 2.0))
    grid = world.truth().obstacle_map("a")
    assert grid.at(4.0, 1.5) == 0 and grid.at(3.5, 1.0) == 100


def test_unknown_names_are_refused_with_what_is_allowed(robot: RobotDescription) -> None:
    world = make_world(one_room(8, 4), {"a": (robot, SE2(1.0, 2.0))})
    with pytest.raises(KeyError, match="allowed: a"):
        world.step({"z": RobotCommand()})
    with pytest.raises(KeyError, match="allowed: front"):
        world.sense("a", SensorRequest(views=(ViewRequest("top", 8, 8),)))
    with pytest.raises(ValueError, match="robots"):
        make_world(one_room(8, 4), {})
    with pytest.raises(ValueError, match="tick_s"):
        WorldSettings(tick_s=0.1, physics_s=0.03)
