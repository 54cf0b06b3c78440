"""Points and normals of one RGB-D view in an upright frame that follows the walls."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import Array
from mnav_core.sensing import RgbdImage

# Every second pixel of 640 is enough for a handle.
WORKING_WIDTH = 320
RIGHT_ANGLE = math.pi / 2.0
YAW_BINS = 90
MAX_DEPTH_M = 6.0


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Of each working pixel: point and unit normal (H, W, 3) in `map`, valid (H, W), and rows and columns taken.

    `wall_yaw`: heading of the walls in `map`, in [0, pi/2).
    """

    points: Array
    normals: Array
    valid: NDArray[np.bool_]
    stride: int
    wall_yaw: float
    eye: Array


def surfaces_of(view: RgbdImage) -> Surfaces:
    """Surfaces of a view. Normals look towards the camera and are zero where depth jumps."""
    stride = max(1, round(view.depth.shape[1] / WORKING_WIDTH))
    depth = np.asarray(view.depth[::stride, ::stride], float)
    camera = view.camera.scaled(view.depth.shape[1], view.depth.shape[0])
    v, u = np.mgrid[0 : view.depth.shape[0] : stride, 0 : view.depth.shape[1] : stride]
    valid = np.isfinite(depth) & (depth > 0.0) & (depth < MAX_DEPTH_M)
    z = np.where(valid, depth, 0.0)
    optical = np.stack([(u + 0.5 - camera.cx) / camera.fx * z, (v + 0.5 - camera.cy) / camera.fy * z, z], axis=2)
    rotation, eye = view.camera_in_map.rotation, view.camera_in_map.translation
    points = optical @ rotation.T + eye
    normals = _normals(points, z, valid, eye)
    return Surfaces(points, normals, valid, stride, _wall_yaw(normals, points), np.asarray(eye, float))


def _normals(points: Array, depth: Array, valid: NDArray[np.bool_], eye: Array) -> Array:
    across, down = np.zeros_like(points), np.zeros_like(points)
    across[:, 1:-1] = points[:, 2:] - points[:, :-2]
    down[1:-1] = points[2:] - points[:-2]
    normal = np.cross(across, down)
    length = np.linalg.norm(normal, axis=2)
    smooth = valid.copy()
    for axis in (0, 1):
        for shift in (-1, 1):
            other = np.roll(depth, shift, axis)
            smooth &= np.roll(valid, shift, axis) & (np.abs(other - depth) < 0.02 + 0.03 * depth)
    smooth[0] = smooth[-1] = False
    smooth[:, 0] = smooth[:, -1] = False
    ok = smooth & (length > 1e-12)
    normal = np.where(ok[..., None], normal / np.where(length > 1e-12, length, 1.0)[..., None], 0.0)
    facing = np.einsum("ijk,ijk->ij", normal, eye - points)
    return np.asarray(np.where(facing[..., None] < 0.0, -normal, normal))


def _wall_yaw(normals: Array, points: Array) -> float:
    """The heading, modulo a right angle, that most upright surfaces of the view agree on."""
    upright = (np.abs(normals[..., 2]) < 0.2) & (np.abs(normals).sum(axis=2) > 0.5)
    if not upright.any():
        return 0.0
    yaw = np.arctan2(normals[..., 1][upright], normals[..., 0][upright]) % RIGHT_ANGLE
    # Far pixels cover more wall.
    counts = np.bincount((yaw / RIGHT_ANGLE * YAW_BINS).astype(int) % YAW_BINS, minlength=YAW_BINS).astype(float)
    smoothed = counts + np.roll(counts, 1) + np.roll(counts, -1)
    peak = (int(np.argmax(smoothed)) + 0.5) * RIGHT_ANGLE / YAW_BINS
    away = (yaw - peak + RIGHT_ANGLE / 2) % RIGHT_ANGLE - RIGHT_ANGLE / 2
    near = np.abs(away) < math.radians(2.0)
    return float((peak + (np.median(away[near]) if near.any() else 0.0)) % RIGHT_ANGLE)
