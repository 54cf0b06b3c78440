"""A fresh house with robots at free places apart from each other."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from mnav_bench.geodesic import inflate
from mnav_bench.reference import MARGIN_M
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.randomness import derive_seed, generator
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.world import MujocoWorld, make_world

APART_M = 1.5
TRIES = 2000


def house_with_robots(seed: int, robots: Mapping[str, RobotDescription]) -> MujocoWorld:
    """The world of a house seed with the robots in it. Raises UsageError when they do not all find a place."""
    widest = max(robots.values(), key=lambda robot: robot.circumscribed_radius)
    house = generate_house(seed, widest).house
    first = {name: (robot, SE2(0.0, 0.0)) for name, robot in robots.items()}
    world = make_world(house, first, seed=derive_seed("placing", seed))
    rng = generator("placing", seed)
    taken: list[SE2] = []
    for name, robot in robots.items():
        grid = world.truth().obstacle_map(name)
        free = inflate(grid, robot.circumscribed_radius + MARGIN_M)
        rows, columns = np.nonzero(free)
        for i in rng.permutation(len(rows))[:TRIES]:
            x, y = grid.to_point(int(rows[i]), int(columns[i]))
            in_room = house.record.room_at(x, y) is not None
            if in_room and all(pose.distance_to(x, y) >= APART_M for pose in taken):
                pose = SE2(x, y, float(rng.uniform(-math.pi, math.pi)))
                world.place(name, pose)
                taken.append(pose)
                break
        else:
            raise UsageError(f"house seed {seed}: no free place for {name}, {APART_M:g} m from the others")
    world.reset(derive_seed("placing", seed))
    return world
