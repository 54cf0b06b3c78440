"""The robot's footprint as edges and as cells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2


def footprint_edges(footprint: tuple[tuple[float, float], ...], margin_m: float) -> NDArray[np.float64]:
    """Edges (K, 3) of a convex footprint grown by `margin_m`: inside where a x + b y <= c for every edge."""
    corners = np.asarray(footprint, float)
    edge = np.roll(corners, -1, axis=0) - corners
    normals = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / np.linalg.norm(edge, axis=1, keepdims=True)
    offsets = np.einsum("ij,ij->i", normals, corners)
    # Clockwise corners give inward normals, told by negative offsets around an origin inside.
    sign = np.where(offsets < 0.0, -1.0, 1.0)
    return np.column_stack([normals * sign[:, None], offsets * sign + margin_m])


def footprint_cells(
    pose: SE2, footprint: tuple[tuple[float, float], ...], resolution: float, margin_m: float = 0.0
) -> NDArray[np.int32]:
    """Keys (N, 2) as x, y of the cells whose centres lie in the footprint at `pose`, grown by `margin_m`."""
    edges = footprint_edges(footprint, margin_m)
    reach = math.ceil((max(math.hypot(x, y) for x, y in footprint) + margin_m) / resolution) + 1
    centre_x, centre_y = math.floor(pose.x / resolution), math.floor(pose.y / resolution)
    y, x = np.mgrid[centre_y - reach : centre_y + reach + 1, centre_x - reach : centre_x + reach + 1]
    dx, dy = (x + 0.5) * resolution - pose.x, (y + 0.5) * resolution - pose.y
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    base = np.stack([c * dx + s * dy, -s * dx + c * dy], axis=-1)
    inside = (base @ edges[:, :2].T <= edges[:, 2] + 1e-9).all(axis=-1)
    return np.stack([x[inside], y[inside]], axis=1).astype(np.int32)
