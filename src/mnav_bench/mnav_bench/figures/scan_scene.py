"""Scans of a furnished hall, cast analytically: nobody's simulator, nobody's map."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, SE3
from mnav_core.randomness import generator

Array = NDArray[np.float64]
SENSOR_HEIGHT_M = 0.45
LOWEST_RAD, HIGHEST_RAD = math.radians(-7.0), math.radians(52.0)
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, eq=False)
class Scene:
    """A hall from `low` to `high` with solid boxes (N, 2, 3) (low, high corner) in it, metres."""

    low: Array
    high: Array
    boxes: Array

    def without(self, index: int) -> Scene:
        """The scene after one box was carried away."""
        return Scene(self.low, self.high, np.delete(self.boxes, index, axis=0))

    def cast(self, origin: Array, directions: Array) -> Array:
        """Distances (N,) in metres along unit directions (N, 3) from a point inside the hall and outside every box."""
        safe = np.where(np.abs(directions) < 1e-12, 1e-12, directions)
        walls = np.where(safe > 0, self.high, self.low)
        distance = ((walls - origin) / safe).min(axis=1)
        for low, high in self.boxes:
            a, b = (low - origin) / safe, (high - origin) / safe
            enter, leave = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
            hit = (enter < leave) & (enter > 0.0)
            distance = np.where(hit, np.minimum(distance, enter), distance)
        return np.asarray(distance)


def furnished_hall(seed: int, boxes: int = 14) -> Scene:
    """A hall of 12 x 9 m with furniture along its walls; the first box stands free in the middle.

    No surface lies on a face between two voxels, where rounding alone would say which of them it is in.
    """
    rng = generator("furnished hall", seed)
    low, high = np.array([0.02, 0.03, -0.02]), np.array([12.03, 9.02, 2.52])
    found = [np.array([[5.62, 4.12, -0.02], [6.33, 4.93, 1.22]])]
    for k in range(boxes):
        extent = rng.uniform((0.4, 0.4, 0.4), (1.6, 0.8, 1.9))
        corner = rng.uniform(low + 0.3, np.maximum(high - extent - 0.3, low + 0.3))
        axis = (k % 4) // 2
        corner[axis] = low[axis] if k % 2 == 0 else high[axis] - extent[axis]
        corner[2] = low[2]
        # Faces 2 cm inside a voxel of 5 cm.
        found.append(np.round(np.stack([corner, corner + extent]) / 0.05) * 0.05 + 0.02)
    return Scene(low, high, np.stack(found))


def round_trip(scene: Scene, count: int) -> list[SE3]:
    """`count` sensor poses on a loop round the middle of the hall."""
    middle, extent = (scene.low + scene.high) / 2.0, scene.high - scene.low
    poses = []
    for k in range(count):
        angle = 2.0 * math.pi * k / count
        x, y = middle[0] + 0.27 * extent[0] * math.cos(angle), middle[1] + 0.24 * extent[1] * math.sin(angle)
        poses.append(SE2(float(x), float(y), angle + math.pi / 2.0).to_se3(SENSOR_HEIGHT_M))
    return poses


def scan(scene: Scene, sensor: SE3, points: int, turn: int) -> NDArray[np.float32]:
    """Points (N, 3) of the sensor frame: a pattern over the elevations that never repeats from `turn` to `turn`."""
    k = np.arange(points) + points * turn
    azimuth = 2.0 * math.pi * ((k * GOLDEN) % 1.0)
    elevation = np.arcsin(
        math.sin(LOWEST_RAD) + (math.sin(HIGHEST_RAD) - math.sin(LOWEST_RAD)) * ((k + 0.5) / points % 1.0)
    )
    flat = np.cos(elevation)
    directions = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], axis=1)
    distance = scene.cast(sensor.translation, directions @ sensor.rotation.T)
    return (directions * distance[:, None]).astype(np.float32)
