"""Node `house`: a simulated house with any number of robots, for tasks that are given by hand; nothing is judged."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from mnav_bench.geodesic import inflate
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.randomness import derive_seed, generator
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.seams import World
from mnav_sim_bridge.bridge_node import BridgeNode, BridgeSettings
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.world import MujocoWorld, make_world

# Room around a robot that stands at its start, and how far apart two of them should at least stand.
MARGIN_M = 0.1
APART_M = 1.2
ATTEMPTS = 8


class HouseSettings(BridgeSettings):
    """Parameters: the seed of the house and of the starts. A robot's name in the world is its namespace."""

    house_seed: Annotated[int, Field(ge=0)] = 1


def start_poses(grid: GridMap, robots: list[RobotDescription], rng: np.random.Generator) -> list[SE2] | None:
    """Poses in one connected part of the free space, at least APART_M apart; None where there is no room for all."""
    import cv2

    roomy = inflate(grid, max(robot.circumscribed_radius for robot in robots) + MARGIN_M)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(roomy.astype(np.uint8), connectivity=4)
    if len(stats) < 2:
        return None
    rows, columns = np.nonzero(labels == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax()))
    points = np.array([grid.to_point(int(r), int(c)) for r, c in zip(rows, columns, strict=True)])
    poses: list[SE2] = []
    for _ in robots:
        if len(points) == 0:
            return None
        x, y = points[int(rng.integers(len(points)))]
        poses.append(SE2(float(x), float(y), float(rng.uniform(-np.pi, np.pi))))
        points = points[np.hypot(points[:, 0] - x, points[:, 1] - y) >= APART_M]
    return poses


def build_house(seed: int, robots: dict[str, RobotDescription]) -> MujocoWorld:
    """A house with these robots at rest. Raises UsageError when no house has room for all of them."""
    tallest = max(robots.values(), key=lambda robot: robot.circumscribed_radius)
    for attempt in range(ATTEMPTS):
        house = generate_house(derive_seed("house", seed, attempt), tallest).house
        world = make_world(house, {name: (robot, SE2(0.0, 0.0)) for name, robot in robots.items()}, seed=seed)
        name = next(name for name, robot in robots.items() if robot is tallest)
        poses = start_poses(world.truth().obstacle_map(name), list(robots.values()), generator("starts", seed, attempt))
        if poses is not None:
            for robot, pose in zip(robots, poses, strict=True):
                world.place(robot, pose)
            return world
        world.close()
    raise UsageError(f"house_seed {seed}: no house with room for {len(robots)} robots within {ATTEMPTS}")


class HouseNode(BridgeNode):
    """Holds time until every robot's nodes are there."""

    settings_model: ClassVar[type[BridgeSettings]] = HouseSettings
    settings: HouseSettings

    def configure(self) -> None:
        """Read the robots."""
        super().configure()
        names = self.settings.namespaces
        if len(set(names)) < len(names) or not all(names):
            raise UsageError(f"node {self.get_name()}: parameter namespaces = {names}, allowed: one for each robot")
        robots = (find_robot(robot) for robot in self.settings.robots)
        self._robots = dict(zip(names, robots, strict=True))

    def world_names(self) -> list[str]:
        """Their namespaces, since two may be of one kind."""
        return self.settings.namespaces

    def make_world(self) -> World:
        """A house from the seed."""
        return build_house(self.settings.house_seed, self._robots)

    def may_start(self) -> bool:
        """Once every robot has somebody who listens and somebody who drives."""
        return self.simulation is not None and self.simulation.is_connected()


def make_node(**kwargs: Any) -> HouseNode:
    """The node, brought up."""
    node = HouseNode("house", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
