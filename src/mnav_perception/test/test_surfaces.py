"""What stands still stays in the map, however its surface lies between the voxels; what is taken away goes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE3
from mnav_perception.mapping.insertion import MarkingLimits, insert_scan
from mnav_perception.mapping.voxels import VoxelMap, VoxelSettings

RESOLUTION = 0.05
Array = NDArray[np.float64]


def cast(origin: Array, directions: Array, pillars: Array) -> Array:
    """Distances (N,) to the walls y = -1.03 and y = 3.03 and to upright pillars (K, 4: x0, y0, x1, y1)."""
    x, y = directions[:, 0], np.where(np.abs(directions[:, 1]) < 1e-9, 1e-9, directions[:, 1])
    distance = (np.where(y > 0, 3.03, -1.03) - origin[1]) / y
    for x0, y0, x1, y1 in pillars:
        near_x, far_x = np.sort(np.stack([(x0 - origin[0]) / x, (x1 - origin[0]) / x]), axis=0)
        near_y, far_y = np.sort(np.stack([(y0 - origin[1]) / y, (y1 - origin[1]) / y]), axis=0)
        enter, leave = np.maximum(near_x, near_y), np.minimum(far_x, far_y)
        distance = np.where((enter < leave) & (enter > 0) & (enter < distance), enter, distance)
    return distance


def drive_past_pillars(voxels: VoxelMap) -> NDArray[np.int64]:
    """Sparse scans from places along a row of pillars; the voxels (N, 3) that at least three scans hit."""
    rng = np.random.default_rng(3)
    pillars = np.array([[x, 1.02, x + 0.31, 1.33] for x in (-3.18, -1.68, -0.18, 1.32, 2.82)])
    hit = []
    for k in range(24):
        sensor = SE3(np.eye(3), np.array([-3.0 + 0.25 * k, 0.0, 0.5]))
        angle, slope = rng.uniform(-np.pi, np.pi, 4000), rng.uniform(-0.1, 0.3, 4000)
        directions = np.column_stack([np.cos(angle), np.sin(angle), slope])
        points = directions * cast(sensor.translation, directions, pillars)[:, None]
        insert_scan(voxels, points.astype(np.float32), sensor, MarkingLimits(), None)
        near = points[np.linalg.norm(points, axis=1) < 7.9] + sensor.translation
        hit.append(np.unique(np.floor(near / RESOLUTION).astype(np.int64), axis=0))
    keys, counts = np.unique(np.concatenate(hit), axis=0, return_counts=True)
    return keys[(counts >= 3) & (keys[:, 2] < 43) & (keys[:, 2] >= -5)]


def test_pillars_and_walls_seen_in_passing_are_not_worn_away() -> None:
    voxels = VoxelMap(VoxelSettings())
    surface = drive_past_pillars(voxels)
    kept = [voxels.voxel((int(x), int(y), int(z))) >= voxels.settings.occupied_from for x, y, z in surface]
    assert len(surface) > 1500
    assert np.mean(kept) >= 0.995


def test_free_space_reaches_up_to_a_wall() -> None:
    """An end beside a voxel shelters what is occupied, never what was not seen."""
    voxels = VoxelMap(VoxelSettings())
    sensor = SE3(np.eye(3), np.array([0.02, 0.02, 0.52]))
    points = np.column_stack([np.linspace(-1.0, 1.0, 400), np.full(400, 2.0), np.zeros(400)]).astype(np.float32)
    insert_scan(voxels, points, sensor, MarkingLimits(), None)
    assert all(voxels.voxel((x, 39, 10)) < 0 for x in range(-10, 11))


def test_a_box_in_front_of_a_wall_is_gone_after_three_scans_that_see_through_it() -> None:
    voxels = VoxelMap(VoxelSettings())
    sensor = SE3(np.eye(3), np.array([0.02, 0.02, 0.52]))
    across = np.linspace(-0.3, 0.3, 60)
    box = np.column_stack([across, np.full(60, 1.5), np.zeros(60)]).astype(np.float32)
    wall = np.column_stack([across * 2.0, np.full(60, 3.0), np.zeros(60)]).astype(np.float32)
    for _ in range(10):
        insert_scan(voxels, box, sensor, MarkingLimits(), None)
    assert voxels.voxel((0, 30, 10)) >= voxels.settings.occupied_from
    for _ in range(3):
        insert_scan(voxels, wall, sensor, MarkingLimits(), None)
    assert all(voxels.voxel((x, 30, 10)) < voxels.settings.occupied_from for x in range(-5, 6))
