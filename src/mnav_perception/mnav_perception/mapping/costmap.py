"""Graded traversal cost around obstacles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, INSCRIBED, LETHAL, UNKNOWN
from mnav_perception.mapping.raycast import footprint_edges

STEPS_PER_CELL = 32


@dataclass(frozen=True)
class InflationSettings:
    """How cost falls off: 98 exp(-decay (distance - inscribed)), down to the circumscribed radius and `beyond_m` more."""

    decay_per_m: float = 8.0
    beyond_m: float = 0.25

    def __post_init__(self) -> None:
        """Raise ValueError naming the setting, its value and what is allowed."""
        if not self.decay_per_m > 0.0 or not self.beyond_m >= 0.0:
            raise ValueError(
                f"decay_per_m, beyond_m = {self.decay_per_m}, {self.beyond_m}, allowed: above 0, at least 0"
            )


def inflate(
    occupancy: NDArray[np.int8], resolution: float, inscribed_m: float, circumscribed_m: float, settings: InflationSettings
) -> NDArray[np.int8]:
    """Costmap (H, W) int8 of an occupancy grid (H, W) int8: 100 lethal, 99 inscribed, 98..1 graded, 0 free, -1 unknown.

    Distances run between cell centres. Unknown cells stay unknown and push no cost outward.
    """
    lethal = occupancy == LETHAL
    if not lethal.any():
        return np.where(occupancy == UNKNOWN, UNKNOWN, FREE).astype(np.int8)
    cells = cv2.distanceTransform((~lethal).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    table = cost_table(resolution, inscribed_m, circumscribed_m, settings)
    steps = np.minimum(cells * STEPS_PER_CELL + 1e-3, len(table) - 1).astype(np.int32)
    cost = table[steps]
    cost[lethal] = LETHAL
    cost[occupancy == UNKNOWN] = UNKNOWN
    return cost


def cost_table(
    resolution: float, inscribed_m: float, circumscribed_m: float, settings: InflationSettings
) -> NDArray[np.int8]:
    """Cost (N,) int8 by distance in steps of resolution / STEPS_PER_CELL; the last entry, 0, holds for all beyond."""
    end_m = circumscribed_m + settings.beyond_m
    distance = np.arange(math.ceil(end_m / resolution * STEPS_PER_CELL) + 2) * resolution / STEPS_PER_CELL
    cost = np.floor((INSCRIBED - 1) * np.exp(-settings.decay_per_m * (distance - inscribed_m)))
    cost = np.where(distance <= inscribed_m + 1e-9, INSCRIBED, np.clip(cost, 1, INSCRIBED - 1))
    return np.where(distance > end_m, FREE, cost).astype(np.int8)


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
