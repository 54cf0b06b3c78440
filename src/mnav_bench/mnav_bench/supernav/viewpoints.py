"""Approved viewpoints of an object: places near it, on free floor, from which the robot's camera sees it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnav_bench.reference import Target, facing_pose
from mnav_bench.supernav.distances import GridDistances, Point
from mnav_bench.supernav.scoring import Box

if TYPE_CHECKING:
    from mnav_sim_bridge.world import MujocoWorld


@dataclass(frozen=True)
class ViewpointRule:
    """Within `near_m` of the object's box, `spacing_m` apart, at least `least_pixels` of it in the success camera."""

    near_m: float = 1.0
    spacing_m: float = 0.25
    least_pixels: int = 40
    most: int = 12


def box_of(world: MujocoWorld, object_id: str) -> Box:
    """The horizontal axis-aligned box of an object where it is now."""
    record = next(entry for entry in world.house.record.objects if entry.id == object_id)
    x, y, _ = world.truth().object_position(object_id)
    return Box(x - record.size[0] / 2, y - record.size[1] / 2, x + record.size[0] / 2, y + record.size[1] / 2)


def viewpoints_of(
    world: MujocoWorld, robot: str, object_id: str, distances: GridDistances, rule: ViewpointRule | None = None
) -> tuple[Point, ...]:
    """The approved viewpoints of one object, nearest first; empty where nothing qualifies. Moves the robot about."""
    used = rule or ViewpointRule()
    box = box_of(world, object_id)
    target = Target(object_id, world.truth().object_position(object_id))
    found: list[Point] = []
    for point in _near(distances, box, used.near_m):
        if any(math.dist(point, other) < used.spacing_m for other in found):
            continue
        if _pixels(world, robot, point, target) >= used.least_pixels:
            found.append(point)
        if len(found) >= used.most:
            break
    return tuple((round(x, 4), round(y, 4)) for x, y in found)


def _near(distances: GridDistances, box: Box, near_m: float) -> Sequence[Point]:
    grid = distances.grid
    rows, columns = np.nonzero(_in_band(distances, box, near_m))
    points = [grid.to_point(int(r), int(c)) for r, c in zip(rows, columns, strict=True)]
    # A lattice of every fourth cell keeps the number of renderings small.
    kept = [p for p, r, c in zip(points, rows, columns, strict=True) if r % 4 == 0 and c % 4 == 0]
    return sorted(kept or points, key=lambda p: (round(box.distance_to(p), 3), p))


def _in_band(distances: GridDistances, box: Box, near_m: float) -> NDArray[np.bool_]:
    grid = distances.grid
    rows, columns = np.indices(distances.free.shape)
    x = grid.origin[0] + (columns + 0.5) * grid.resolution
    y = grid.origin[1] + (rows + 0.5) * grid.resolution
    dx = np.maximum(np.maximum(box.x0 - x, x - box.x1), 0.0)
    dy = np.maximum(np.maximum(box.y0 - y, y - box.y1), 0.0)
    return np.asarray(distances.free & (np.hypot(dx, dy) <= near_m))


def _pixels(world: MujocoWorld, robot: str, point: Point, target: Target) -> int:
    description = world.robots[robot]
    camera = description.views[description.success_view]
    pose, pitch = facing_pose(camera, point[0], point[1], target)
    world.place(robot, pose)
    world.renderer.update(world.data)
    optical = pose.to_se3() @ camera.optical_in_base(pitch)
    return world.detector.pixels(world.renderer, camera.intrinsics(), optical, target.object_id)
