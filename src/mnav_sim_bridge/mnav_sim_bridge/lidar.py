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
from mnav_sim_bridge.triangles import LocalMesh, geom_mesh, static_soup, world_vertices

# Inverse powers of the plastic number: the two-dimensional sequence of lowest known discrepancy of this form.
_STEP_U, _STEP_V = 0.7548776662466927, 0.5698402909980532


class RayScene(Protocol):
    """What embree offers here."""

    def run(
        self,
        origins: NDArray[np.float32],
        directions: NDArray[np.float32],
        dists: object = None,
        query: str = "DISTANCE",
    ) -> NDArray[np.float32]: ...


def scan_directions(lidar: LidarDescription, seed: int, scan: int) -> NDArray[np.float32]:
    """Unit directions (points, 3) of scan number `scan` in the sensor frame; scans continue one sequence."""
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
    """Casts rays at a model's triangles: one tree for what is fixed, one for what moves, rebuilt when something moved.

    Small things inside drawers are left out: no ray reaches them that matters to a LiDAR.
    """

    model: mujoco.MjModel
    _fixed: RayScene | None = field(default=None, init=False, repr=False)
    _moving: dict[int, tuple[bytes, RayScene | None]] = field(default_factory=dict, init=False, repr=False)
    _meshes: dict[int, LocalMesh] = field(default_factory=dict, init=False, repr=False)

    def cast(
        self, data: mujoco.MjData, origin: NDArray[np.float64], directions: NDArray[np.float32], exclude_body: int,
        max_range: float,
    ) -> NDArray[np.float32]:  # fmt: skip
        """Distance (N,) float32 to the first surface along each unit direction of the map, inf beyond `max_range`.

        The body `exclude_body` (an id, or -1) and everything on it is not hit.
        """
        if self._fixed is None:
            self._fixed = _tree(static_soup(self.model, data, (Group.HIDDEN,)))
        origins = np.ascontiguousarray(np.broadcast_to(origin.astype(np.float32), directions.shape))
        distance = np.full(len(directions), np.inf, np.float32)
        for scene in (self._fixed, self._movers(data, exclude_body)):
            if scene is not None:
                np.minimum(distance, scene.run(origins, directions, query="DISTANCE"), out=distance)
        distance[distance > max_range] = np.inf
        return distance

    def _movers(self, data: mujoco.MjData, exclude_body: int) -> RayScene | None:
        """The tree of leaves, drawers and robots, but for one robot."""
        geoms = self._moving_geoms(exclude_body)
        if len(geoms) == 0:
            return None
        state = np.asarray(data.geom_xpos)[geoms].tobytes() + np.asarray(data.geom_xmat)[geoms].tobytes()
        known = self._moving.get(exclude_body)
        if known is None or known[0] != state:
            soup = np.concatenate([self._triangles(data, int(g)) for g in geoms]).astype(np.float32)
            known = self._moving[exclude_body] = (state, _tree(soup))
        return known[1]

    def _moving_geoms(self, exclude_body: int) -> NDArray[np.int64]:
        root = np.asarray(self.model.body_rootid)[np.asarray(self.model.geom_bodyid)]
        weld = np.asarray(self.model.body_weldid)[np.asarray(self.model.geom_bodyid)]
        group = np.asarray(self.model.geom_group)
        moves = (weld != 0) & ((group == Group.ARTICULATED) | (group == Group.ROBOT))
        return np.flatnonzero(moves & (root != exclude_body))

    def _triangles(self, data: mujoco.MjData, geom: int) -> NDArray[np.float64]:
        if geom not in self._meshes:
            mesh = geom_mesh(self.model, geom)
            if mesh is None:
                raise ValueError(f"geom {geom} has no triangles and cannot be hit by rays")
            self._meshes[geom] = mesh
        mesh = self._meshes[geom]
        return np.asarray(world_vertices(mesh, data, geom)[mesh.faces])


def _tree(triangles: NDArray[np.float32]) -> RayScene | None:
    if len(triangles) == 0:
        return None
    scene = rtcore_scene.EmbreeScene()
    TriangleMesh(scene, triangles)
    made: RayScene = scene
    return made


def points_in_sensor(
    caster: RayCaster, data: mujoco.MjData, lidar: LidarDescription, sensor_in_map: SE3, seed: int, scan: int,
    exclude_body: int, noise_m: float = 0.0,
) -> NDArray[np.float32]:  # fmt: skip
    """One scan as points (N, 3) float32 of the sensor frame; rays without a return in range are left out."""
    directions = scan_directions(lidar, seed, scan)
    in_map = np.ascontiguousarray((directions @ sensor_in_map.rotation.T.astype(np.float32)).astype(np.float32))
    distance = caster.cast(data, sensor_in_map.translation, in_map, exclude_body, lidar.max_range)
    if noise_m > 0.0:
        distance = distance + generator("lidar-noise", seed, scan).normal(0.0, noise_m, len(distance)).astype(
            np.float32
        )
    kept = np.isfinite(distance) & (distance >= lidar.min_range)
    return (directions[kept] * distance[kept, None]).astype(np.float32)
