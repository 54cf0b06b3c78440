"""Triangles of a model's geoms: for ray casting, silhouettes and maps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray

Vertices = NDArray[np.float64]
Faces = NDArray[np.int32]
ROUND_SEGMENTS = 24


@dataclass(frozen=True, eq=False)
class LocalMesh:
    """Vertices (N, 3) of a geom's frame and faces (M, 3)."""

    vertices: Vertices
    faces: Faces


def geom_mesh(model: mujoco.MjModel, geom: int) -> LocalMesh | None:
    """The triangles of one geom in its own frame; None for planes and other kinds without extent."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        unit = _box()
        return LocalMesh(unit.vertices * size, unit.faces)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        unit = _cylinder()
        return LocalMesh(unit.vertices * np.array([size[0], size[0], size[1]]), unit.faces)
    if kind in (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_ELLIPSOID):
        unit = _ball()
        scale = np.full(3, size[0]) if kind == mujoco.mjtGeom.mjGEOM_SPHERE else size
        return LocalMesh(unit.vertices * scale, unit.faces)
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        unit = _ball()
        moved = unit.vertices * size[0]
        moved = moved + np.sign(np.round(moved[:, 2:], 9)) * np.array([[0.0, 0.0, size[1]]])
        return LocalMesh(moved, unit.faces)
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        v0, nv = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        f0, nf = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        return LocalMesh(model.mesh_vert[v0 : v0 + nv].astype(float), model.mesh_face[f0 : f0 + nf].astype(np.int32))
    return None


def world_vertices(mesh: LocalMesh, data: mujoco.MjData, geom: int) -> Vertices:
    """The mesh's vertices in the map, where the geom is now."""
    turn = np.asarray(data.geom_xmat[geom]).reshape(3, 3)
    return np.asarray(mesh.vertices @ turn.T + data.geom_xpos[geom])


@lru_cache(maxsize=1)
def _box() -> LocalMesh:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    faces = [
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
        (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ]  # fmt: skip
    return LocalMesh(corners, np.array(faces, np.int32))


@lru_cache(maxsize=1)
def _cylinder() -> LocalMesh:
    n = ROUND_SEGMENTS
    angle = 2 * np.pi * np.arange(n) / n
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    vertices = np.vstack(
        [np.column_stack([ring, np.full(n, -1.0)]), np.column_stack([ring, np.full(n, 1.0)]), [[0, 0, -1], [0, 0, 1]]]
    )
    faces = []
    for k in range(n):
        j = (k + 1) % n
        faces += [(k, j, n + j), (k, n + j, n + k), (2 * n, j, k), (2 * n + 1, n + k, n + j)]
    return LocalMesh(vertices, np.array(faces, np.int32))


@lru_cache(maxsize=1)
def _ball() -> LocalMesh:
    """A unit ball as rings of latitude, with the equator doubled so that a capsule can be pulled apart there."""
    n, half = ROUND_SEGMENTS // 2 * 2, 5
    latitudes = np.concatenate([-np.linspace(np.pi / 2, 1e-6, half), np.linspace(1e-6, np.pi / 2, half)])
    angle = 2 * np.pi * np.arange(n) / n
    vertices = np.array(
        [(np.cos(lat) * np.cos(a), np.cos(lat) * np.sin(a), np.sin(lat)) for lat in latitudes for a in angle]
    )
    faces = []
    for row in range(len(latitudes) - 1):
        for k in range(n):
            j = (k + 1) % n
            a, b, c, d = row * n + k, row * n + j, (row + 1) * n + k, (row + 1) * n + j
            faces += [(a, b, d), (a, d, c)]
    return LocalMesh(vertices, np.array(faces, np.int32))


def is_static(model: mujoco.MjModel, geom: int) -> bool:
    """True when the geom can never move."""
    return bool(model.body_weldid[model.geom_bodyid[geom]] == 0)


def static_soup(model: mujoco.MjModel, data: mujoco.MjData, skip_groups: tuple[int, ...] = ()) -> NDArray[np.float32]:
    """Triangles (N, 3, 3) float32 of everything that never moves, in the map."""
    parts = []
    for geom in range(model.ngeom):
        if not is_static(model, geom) or int(model.geom_group[geom]) in skip_groups:
            continue
        mesh = geom_mesh(model, geom)
        if mesh is not None:
            parts.append(world_vertices(mesh, data, geom)[mesh.faces])
    return np.concatenate(parts).astype(np.float32) if parts else np.zeros((0, 3, 3), np.float32)
