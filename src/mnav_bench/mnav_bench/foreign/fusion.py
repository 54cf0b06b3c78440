"""Fusing what others recorded with the voxel map's own kernels, and how much of it the map keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE3
from mnav_perception.mapping.insertion import MarkingLimits, insert_scan
from mnav_perception.mapping.voxels import VoxelMap, VoxelSettings

Array = NDArray[np.float64]
MAX_LAYERS = 127
CROWDED = 10
RESOLUTION = 0.05


@dataclass(frozen=True, eq=False)
class View:
    """Points (N, 3) float32 of a sensor frame, NaN allowed, and that frame in a world whose z axis is up."""

    points: NDArray[np.float32]
    sensor: SE3


@dataclass(frozen=True)
class Kept:
    """What became of the points: marked and skipped counts, and the shares of the bounds, in percent."""

    points: int
    marked: int
    not_finite: int
    near_percent: float
    crowded: int
    kept_percent: float


def upright(views: Sequence[View], camera_up: Sequence[float] = (0.0, -1.0, 0.0)) -> list[View]:
    """The views turned so that the mean of their up axes (given in the sensor frame) is z.

    Worlds of foreign recordings have any axis up; the voxel map is low and wide.
    """
    ups = np.stack([view.sensor.rotation @ np.asarray(camera_up, float) for view in views])
    up = ups.mean(axis=0)
    length = float(np.linalg.norm(up))
    if length < 1e-3:
        return list(views)
    turn = _rotation_to_z(up / length)
    return [View(v.points, SE3(turn @ v.sensor.rotation, turn @ v.sensor.translation)) for v in views]


def fuse(views: Sequence[View], max_range_m: float, near_m: float, far_m: float) -> Kept:
    """Insert the views in order into a fresh 5 cm map that holds them all, and measure what it keeps.

    Counted are the points whose depth lies in [near_m, far_m] from their sensor: in percent, those within one voxel
    (26 neighbours) of an occupied one, and of the voxels with at least ten of them, those still occupied at the end.
    """
    world = np.concatenate([_counted(view, near_m, far_m) for view in views])
    if not len(world):
        return Kept(0, 0, sum(int((~np.isfinite(v.points).all(axis=1)).sum()) for v in views), 100.0, 0, 100.0)
    voxels = VoxelMap(settings_for(world, max_range_m))
    limits = MarkingLimits(
        max_range_m=max_range_m, min_range_m=0.05, min_z=voxels.settings.z_min, max_z=voxels.settings.z_max
    )
    reports = [insert_scan(voxels, view.points, view.sensor, limits, None) for view in views]
    keys, values = voxels.known()
    occupied = _codes(keys[values >= voxels.settings.occupied_from].astype(np.int64))
    cells, inverse, counts = np.unique(
        np.floor(world / RESOLUTION).astype(np.int64), axis=0, return_inverse=True, return_counts=True
    )
    near = np.zeros(len(cells), np.bool_)
    for offset in product((-1, 0, 1), repeat=3):
        near |= np.isin(_codes(cells + np.array(offset)), occupied)
    crowded = counts >= CROWDED
    stays = np.isin(_codes(cells[crowded]), occupied)
    return Kept(
        points=len(world),
        marked=sum(report.marked for report in reports),
        not_finite=sum(report.skipped_not_finite for report in reports),
        near_percent=100.0 * float(near[inverse.ravel()].mean()),
        crowded=int(crowded.sum()),
        kept_percent=100.0 * float(stays.mean()) if crowded.any() else 100.0,
    )


def settings_for(world: Array, max_range_m: float) -> VoxelSettings:
    """A 5 cm map whose layers hold all points (N, 3), at most 6.35 m of them around their middle."""
    low, high = np.percentile(world[:, 2], [0.0, 100.0])
    if (high - low) / RESOLUTION > MAX_LAYERS - 2:
        low, high = np.percentile(world[:, 2], [0.5, 99.5])
    first = math.floor(low / RESOLUTION) - 1
    layers = min(math.ceil(high / RESOLUTION) + 1 - first, MAX_LAYERS)
    settings = VoxelSettings(
        z_min=round(first * RESOLUTION, 6), z_max=round((first + layers) * RESOLUTION, 6), max_range_m=max_range_m,
        max_blocks=100_000,
    )  # fmt: skip
    span = world[:, :2].max(axis=0) - world[:, :2].min(axis=0) + 4.0 * max_range_m
    blocks = int(np.prod(np.ceil(span / (32 * RESOLUTION)) + 2))
    return VoxelSettings(
        z_min=settings.z_min,
        z_max=settings.z_max,
        max_range_m=max_range_m,
        max_blocks=max(min(blocks, 8 * settings.blocks_per_scan), 2 * settings.blocks_per_scan),
    )


def _counted(view: View, near_m: float, far_m: float) -> Array:
    points = view.points[np.isfinite(view.points).all(axis=1)].astype(float)
    distance = np.linalg.norm(points, axis=1)
    return view.sensor.apply(points[(distance >= near_m) & (distance <= far_m)])


def _codes(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for each key (N, 3)."""
    shifted = keys + (1 << 20)
    return (shifted[:, 0] << 42) | (shifted[:, 1] << 21) | shifted[:, 2]


def _rotation_to_z(up: Array) -> Array:
    """The shortest rotation that takes a unit vector to z."""
    z = np.array([0.0, 0.0, 1.0])
    axis, cosine = np.cross(up, z), float(up @ z)
    if cosine < -1.0 + 1e-9:
        return np.diag([1.0, -1.0, -1.0])
    skew = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + cosine))
