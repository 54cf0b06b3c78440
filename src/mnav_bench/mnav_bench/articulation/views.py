"""Views of doors and containers at drawn open fractions, from drawn places, in generated houses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import RobotCommand
from mnav_core.randomness import derive_seed
from mnav_core.robot import RobotDescription
from mnav_core.sensing import Detection, RgbdImage, SensorRequest, ViewRequest
from mnav_sim_bridge.detector import opaque_id
from mnav_sim_bridge.house.assembly import House
from mnav_sim_bridge.house.records import Point3
from mnav_sim_bridge.world import MujocoWorld, make_world

FRACTIONS = (0.0, 0.0, 0.02, 0.15, 0.3, 0.5, 0.65, 0.75, 0.82, 0.9, 1.0, 1.0)
NEAREST_M, FARTHEST_M = 0.9, 3.2
CLEAR_CELLS = 4
PLACES = 12
HEAD_TICKS = 20
# Doors and containers of a house that are looked at, and views of each.
PARTS, PER_PART = 18, 5
ROBOT = "observer"


@dataclass(frozen=True, eq=False)
class ArticulationView:
    """One view of one part whose true open fraction is known."""

    entity_id: str
    category: str
    fraction: float
    view: RgbdImage
    detection: Detection


def views_of(house: House, robot: RobotDescription, seed: int, parts: int, per_part: int) -> Iterator[ArticulationView]:
    """Up to `per_part` views of each of `parts` drawn doors and containers; every joint of one stands alike."""
    rng = np.random.default_rng(derive_seed("articulation views", seed))
    record = house.record
    rect = record.rooms[0].rect
    world = make_world(house, {ROBOT: (robot, SE2((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2))}, seed=seed)
    things: list[tuple[str, str, tuple[str, ...], Point3]] = [
        (d.id, "door", (d.joint,), (*d.centre, 1.0)) for d in record.doors
    ]
    things += [(c.id, c.category, c.joints, c.front) for c in record.containers]
    try:
        for index in rng.permutation(len(things))[:parts]:
            name, category, joints, at = things[index]
            for fraction in rng.choice(FRACTIONS, per_part, replace=False):
                _set_joints(world, joints, float(fraction), rng)
                seen = _seen_from_somewhere(world, robot, name, at, rng)
                if seen is not None:
                    # The head's way took time, in which a leaf may have moved a little.
                    now = max(world.articulation.fraction(world.data, joint) for joint in joints)
                    yield ArticulationView(name, category, now, *seen)
    finally:
        world.close()


def _set_joints(world: MujocoWorld, joints: tuple[str, ...], fraction: float, rng: np.random.Generator) -> None:
    """The part at the fraction, the doors open or shut by chance, everything else closed."""
    for joint in world.articulation.joints():
        world.articulation.set_fraction(world.data, joint, 0.0)
    for door in world.house.record.doors:
        world.articulation.set_fraction(world.data, door.joint, float(rng.choice((0.0, 1.0))))
    for joint in joints:
        world.articulation.set_fraction(world.data, joint, fraction)


def _seen_from_somewhere(
    world: MujocoWorld, robot: RobotDescription, name: str, at: tuple[float, float, float], rng: np.random.Generator
) -> tuple[RgbdImage, Detection] | None:
    """A view from a drawn free place in which the detector finds the part, None when a few places show nothing."""
    obstacles = world.truth().obstacle_map(ROBOT)
    wanted = opaque_id(f"{derive_seed('entity', world.seed)}:{ROBOT}", name)
    height = robot.views[robot.success_view].xyz[2]
    for _ in range(PLACES):
        away, bearing = rng.uniform(NEAREST_M, FARTHEST_M), rng.uniform(-math.pi, math.pi)
        x, y = at[0] + away * math.cos(bearing), at[1] + away * math.sin(bearing)
        turn, share = rng.uniform(-0.25, 0.25), rng.uniform(0.3, 1.0)
        if not is_clear(obstacles, x, y):
            continue
        world.place(ROBOT, SE2(x, y, math.atan2(at[1] - y, at[0] - x) + turn))
        pitch = float(np.clip(math.atan2(height - at[2], away) * share, 0.0, 0.9))
        for _ in range(HEAD_TICKS):
            world.step({ROBOT: RobotCommand(camera_pitch=pitch)})
            if abs(world.sense(ROBOT, SensorRequest()).camera_pitch - pitch) < 1e-3:
                break
        request = SensorRequest(views=(ViewRequest(robot.success_view, 640, 480),), detect=(robot.success_view,))
        frame = world.sense(ROBOT, request)
        found = [d for d in frame.detections[0].detections if d.entity_id == wanted]
        if found:
            return frame.images[0], found[0]
    return None


def is_clear(obstacles: GridMap, x: float, y: float) -> bool:
    """Whether a point of the map has nothing within CLEAR_CELLS cells."""
    row, column = obstacles.to_cell(x, y)
    if not obstacles.contains(row, column):
        return False
    window = obstacles.data[
        max(row - CLEAR_CELLS, 0) : row + CLEAR_CELLS + 1, max(column - CLEAR_CELLS, 0) : column + CLEAR_CELLS + 1
    ]
    return not window.any()
