"""Graded traversal cost around obstacles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import FREE, INSCRIBED, LETHAL, UNKNOWN

STEPS_PER_CELL = 32


@dataclass(frozen=True)
class InflationSettings:
    """Cost falls off as 98 exp(-decay (distance - inscribed)) up to `beyond_m` past the circumscribed radius."""

    decay_per_m: float = 8.0
    beyond_m: float = 0.25

    def __post_init__(self) -> None:
        """Raise ValueError naming the setting, its value and what is allowed."""
        if not self.decay_per_m > 0.0 or not self.beyond_m >= 0.0:
            raise ValueError(
                f"decay_per_m, beyond_m = {self.decay_per_m}, {self.beyond_m}, allowed: above 0, at least 0"
            )


def inflate(
    occupancy: NDArray[np.int8],
    resolution: float,
    inscribed_m: float,
    circumscribed_m: float,
    settings: InflationSettings,
) -> NDArray[np.int8]:
    """Costmap (H, W) int8 of an occupancy grid (H, W) int8: 100 lethal, 99 inscribed, 98..0 graded, -1 unknown.

    Distances run between cell centres. Unknown cells stay unknown and push no cost outward.
    """
    lethal = occupancy == LETHAL
    if not lethal.any():
        return np.where(occupancy == UNKNOWN, UNKNOWN, FREE).astype(np.int8)
    cells = cv2.distanceTransform((~lethal).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    table = cost_table(resolution, inscribed_m, circumscribed_m, settings)
    steps = np.minimum(cells * STEPS_PER_CELL + 1e-3, len(table) - 1).astype(np.int32)
    cost: NDArray[np.int8] = table[steps]
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
