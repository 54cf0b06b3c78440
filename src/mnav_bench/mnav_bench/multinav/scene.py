"""The house of an episode: restocked, its doors where the episode starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnav_bench.multinav.episode_files import MultiNavEpisode
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.randomness import derive_seed
from mnav_core.robot import find_robot
from mnav_sim_bridge.house.assembly import OPEN_SHARE, House, assemble
from mnav_sim_bridge.house.design import draw_design
from mnav_sim_bridge.house.stocking import Addition, restocked
from mnav_sim_bridge.world import MujocoWorld, WorldSettings, make_world


def stocked_house(
    seed: int, sub_seed: int, rooms: int, removed: Sequence[str], added: Sequence[Addition]
) -> House | None:
    """A house with other things in it; None when they do not fit."""
    design = draw_design(seed, sub_seed, rooms)
    stocked = None if design is None else restocked(design, removed, added)
    return None if stocked is None else assemble(stocked)


def with_doors(house: House, fractions: Mapping[str, float]) -> House:
    """The house with doors that start at other shares of their travel (by joint); the others stand open."""
    doors = tuple(
        replace(d, initial_qpos=fractions.get(d.joint, OPEN_SHARE) * (d.open_qpos - d.closed_qpos))
        for d in house.record.doors
    )
    return replace(house, record=replace(house.record, doors=doors))


def build_scene(episode: MultiNavEpisode, settings: WorldSettings | None = None) -> MujocoWorld:
    """The world of an episode, reset. Raises UsageError when its house is no longer the one that was generated."""
    robot = find_robot(episode.robot)
    added = [Addition(a.name, a.category, a.container, a.seed) for a in episode.added]
    house = stocked_house(episode.house_seed, episode.house_sub_seed, episode.house_rooms, episode.removed, added)
    if house is None or house.record.xml_sha256 != episode.scene_hash:
        raise UsageError(
            f"episode {episode.id}: its house differs from {episode.scene_hash[:12]} (another generator or MuJoCo"
            " version wrote it)"
        )
    house = with_doors(house, {j.joint: j.fraction for j in episode.joints})
    start = SE2(episode.start.x, episode.start.y, episode.start.yaw)
    seed = derive_seed("world", episode.id, episode.house_seed)
    return make_world(house, {episode.robot: (robot, start)}, settings or WorldSettings(), seed)
