"""A non-repeating LiDAR: its pattern, and casting its rays at what stands still and what moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import mujoco
import numpy as np
from embreex import rtcore_scene
from embreex.mesh_construction import TriangleMesh
from numpy.typing import NDArray

from mnav_core.geometry import SE3
from mnav_core.randomness import generator
from mnav_core.robot import LidarDescription
from mnav_sim_bridge.house.emitter import Group
from mnav_sim_bridge.triangles import static_soup

# Inverse powers of the plastic number: the two-dimensional sequence of lowest known discrepancy of this form.
_STEP_U, _STEP_V = 0.7548776662466927, 0.5698402909980532


class RayScene(Protocol):
    """What embree offers here."""

    def run(
        self, origins: NDArray[np.float32], directions: NDArray[np.float32], dists: object = None, query: str = "DISTANCE"
    ) -> NDArray[np.float32]: ...


def scan_directions(lidar: LidarDescription, seed: int, scan: int) -> NDArray[np.float32]:
    """Unit directions (points, 3) of scan number `scan` in the sensor frame; scans continue one sequence, none repeats."""
    shift = generator("lidar", seed).random(2)
    # The index is folded by exact modular steps so that late scans keep their precision.
    first_u, first_v = math.fmod(scan * lidar.points * _STEP_U, 1.0), math.fmod(scan * lidar.points * _STEP_V, 1.0)
    k = np.arange(lidar.points, dtype=float)
    azimuth = 2 * np.pi * ((shift[0] + first_u + k * _STEP_U) % 1.0)
    low, high = math.radians(lidar.min_elevation_deg), math.radians(lidar.max_elevation_deg)
    elevation = low + (high - low) * ((shift[1] + first_v + k * _STEP_V) % 1.0)
    level = np.cos(elevation)
    return np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], axis=1).astype(np.float32)


@dataclass
class RayCaster:
    """Casts rays at a model: embree for what is fixed, MuJoCo for doors, drawers and other robots."""

    model: mujoco.MjModel
    _scene: RayScene | None = field(default=None, init=False, repr=False)

    def prepare(self, data: mujoco.MjData) -> None:
        """Build the tree of fixed triangles from a state with valid kinematics; called by the first cast."""
        scene = rtcore_scene.EmbreeScene()
        TriangleMesh(scene, static_soup(self.model, data, (Group.HIDDEN,)))
        self._scene = scene

    def cast(
        self, data: mujoco.MjData, origin: NDArray[np.float64], directions: NDArray[np.float32], exclude_body: int,
        max_range: float,
    ) -> NDArray[np.float32]:  # fmt: skip
        """Distance (N,) float32 to the first surface along each unit direction of the map, inf beyond `max_range`.

        `exclude_body` (a body id, or -1) is not hit.
        """
        if self._scene is None:
            self.prepare(data)
        scene = self._scene
        if scene is None:
            raise RuntimeError("ray caster: no scene was built")
        origins = np.broadcast_to(origin.astype(np.float32), directions.shape)
        fixed = scene.run(np.ascontiguousarray(origins), directions, query="DISTANCE")
        distance = np.minimum(fixed, self._movers(data, origin, directions, exclude_body, max_range))
        distance[distance > max_range] = np.inf
        return distance

    def _movers(
        self, data: mujoco.MjData, origin: NDArray[np.float64], directions: NDArray[np.float32], exclude_body: int,
        max_range: float,
    ) -> NDArray[np.float32]:  # fmt: skip
        count = len(directions)
        hit = np.empty(count, np.float64)
        ids = np.empty(count, np.int32)
        groups = np.ones(6, np.uint8)
        groups[Group.HIDDEN] = 0
        mujoco.mj_multiRay(
            self.model, data, origin.reshape(3, 1), directions.astype(np.float64).reshape(-1, 1), groups, 0, exclude_body,
            ids, hit, None, count, max_range,
        )  # fmt: skip
        hit[ids < 0] = np.inf
        return hit.astype(np.float32)


def points_in_sensor(
    caster: RayCaster, data: mujoco.MjData, lidar: LidarDescription, sensor_in_map: SE3, seed: int, scan: int,
    exclude_body: int, noise_m: float = 0.0,
) -> NDArray[np.float32]:  # fmt: skip
    """One scan as points (N, 3) float32 of the sensor frame; rays without a return in range are left out."""
    directions = scan_directions(lidar, seed, scan)
    in_map = np.ascontiguousarray((directions @ sensor_in_map.rotation.T.astype(np.float32)).astype(np.float32))
    distance = caster.cast(data, sensor_in_map.translation, in_map, exclude_body, lidar.max_range)
    if noise_m > 0.0:
        distance = distance + generator("lidar-noise", seed, scan).normal(0.0, noise_m, len(distance)).astype(np.float32)
    kept = np.isfinite(distance) & (distance >= lidar.min_range)
    return (directions[kept] * distance[kept, None]).astype(np.float32)
