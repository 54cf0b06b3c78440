"""Puts the parts of a run together: the world of an episode and the body of a robot."""

from __future__ import annotations

from mnav_bench.body import InProcessBody
from mnav_bench.episodes import NavToObjEpisode
from mnav_core.geometry import SE2
from mnav_core.randomness import derive_seed
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.schedule import SensorSchedule
from mnav_executor_geo.navigator import Navigator
from mnav_perception.captures import CaptureStore
from mnav_perception.mapper import Mapper
from mnav_robots.gate import VelocityGate
from mnav_sim_bridge.house.generate import rebuild_house
from mnav_sim_bridge.world import MujocoWorld, make_world


def world_seed(episode: NavToObjEpisode) -> int:
    """What drives scans, noise and opaque ids in an episode."""
    return derive_seed("world", episode.id, episode.house_seed)


def build_world(episode: NavToObjEpisode) -> MujocoWorld:
    """The world of an episode, reset. Raises UsageError when its house is no longer the one that was generated."""
    robot = find_robot(episode.robot)
    house = rebuild_house(episode.house_seed, episode.house_sub_seed, xml_sha256=episode.scene_hash)
    start = SE2(episode.start.x, episode.start.y, episode.start.yaw)
    return make_world(house, {episode.robot: (robot, start)}, seed=world_seed(episode))


def build_body(robot: RobotDescription, holder: str, schedule: SensorSchedule | None = None) -> InProcessBody:
    """The in-process body of one robot, with the settings that the ROS nodes have by default."""
    return InProcessBody(
        robot=robot,
        mapper=Mapper(robot),
        navigator=Navigator(robot),
        captures=CaptureStore(),
        gate=VelocityGate(robot.limits),
        schedule=schedule or SensorSchedule(),
        holder=holder,
    )
