"""A camera against a plane that is known: the floor that the robot stands on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BAND_M, RANGE_M = 0.4, 3.0
LEAST_POINTS, MOST_POINTS = 200, 5000
TRIES, INLIER_M, LEAST_SHARE = 60, 0.03, 0.4
# Steeper than this it is no floor seen by a camera that is mounted somewhat wrong.
STEEPEST_RAD = 0.35


@dataclass(frozen=True)
class FloorError:
    """How far the floor that a camera sees is from z = 0 of the base, under the base's origin, and its tilt."""

    height_m: float
    tilt_rad: float
    points: int


def floor_error(points: Array) -> FloorError | None:
    """The dominant near-level plane among points (N, 3) of the base frame; None where no floor is seen."""
    points = np.asarray(points, float)
    points = points[np.isfinite(points).all(axis=1)]
    near = points[(np.abs(points[:, 2]) < BAND_M) & (np.hypot(points[:, 0], points[:, 1]) < RANGE_M)]
    if len(near) < LEAST_POINTS:
        return None
    near = near[:: -(-len(near) // MOST_POINTS)]
    rng = np.random.default_rng(0)
    best: NDArray[np.bool_] | None = None
    for _ in range(TRIES):
        plane = _plane(near[rng.choice(len(near), 3, replace=False)])
        if plane is None or math.atan(math.hypot(plane[0], plane[1])) > STEEPEST_RAD:
            continue
        inside = np.abs(near[:, 2] - near[:, :2] @ plane[:2] - plane[2]) < INLIER_M
        if best is None or inside.sum() > best.sum():
            best = inside
    if best is None or best.mean() < LEAST_SHARE:
        return None
    plane = _plane(near[best])
    if plane is None:
        return None
    return FloorError(float(plane[2]), math.atan(math.hypot(plane[0], plane[1])), int(best.sum()))


def _plane(points: Array) -> Array | None:
    """(a, b, c) of z = a x + b y + c by least squares; None for points in a line."""
    columns = np.column_stack([points[:, :2], np.ones(len(points))])
    solution, _, rank, _ = np.linalg.lstsq(columns, points[:, 2], rcond=None)
    return np.asarray(solution) if rank == 3 else None
