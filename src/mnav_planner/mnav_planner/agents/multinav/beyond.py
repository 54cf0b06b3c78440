"""What lies on the two sides of a door, by the map: what opening it could connect."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import Array
from mnav_core.maps import UNKNOWN, MapSnapshot
from mnav_graph.records import Entity

NEAR_M, FAR_M, HALF_WIDTH_M, STEP_M = 0.4, 1.8, 0.5, 0.1
# Depth of the leaf over its width below which the thin axis of its box is the wall's normal.
THIN = 0.6


@dataclass(frozen=True)
class Side:
    """Share of a side's cells that are unknown, and whether the robot can get to one of them."""

    unknown: float
    reachable: bool


def sides_of(door: Entity, maps: MapSnapshot, travel: NDArray[np.float32]) -> tuple[Side, Side]:
    """The side that the door was seen from and the other one, each a strip in front of the closed leaf."""
    x, y, _ = _middle(door)
    normal = normal_of(door)
    return (_side(x, y, normal, maps, travel), _side(x, y, (-normal[0], -normal[1]), maps, travel))


def normal_of(door: Entity) -> tuple[float, float]:
    """Unit normal of the leaf, towards where the door was seen from."""
    x, y, _ = _middle(door)
    to_seer = (door.seen_from[0] - x, door.seen_from[1] - y)
    dx, dy = door.core_high[0] - door.core_low[0], door.core_high[1] - door.core_low[1]
    if min(dx, dy) < THIN * max(dx, dy):
        # A leaf is thin: its box tells more than the part of it that one view showed.
        normal = (1.0, 0.0) if dx < dy else (0.0, 1.0)
    elif door.facing is not None:
        normal = door.facing
    else:
        away = max(math.hypot(*to_seer), 1e-6)
        normal = (to_seer[0] / away, to_seer[1] / away)
    if normal[0] * to_seer[0] + normal[1] * to_seer[1] < 0.0:
        return -normal[0], -normal[1]
    return normal


def unlocked_share(door: Entity, maps: MapSnapshot, travel: NDArray[np.float32]) -> float:
    """How much of the side that cannot be reached is unknown, 0..1; 0 when both sides can be reached already."""
    here, there = sides_of(door, maps, travel)
    if here.reachable and there.reachable:
        return 0.0
    return max(side.unknown for side in (here, there) if not side.reachable)


def _middle(door: Entity) -> tuple[float, float, float]:
    low, high = door.core_low, door.core_high
    return (low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0, (low[2] + high[2]) / 2.0


def _side(x: float, y: float, normal: tuple[float, float], maps: MapSnapshot, travel: NDArray[np.float32]) -> Side:
    ahead, across = np.meshgrid(np.arange(NEAR_M, FAR_M, STEP_M), np.arange(-HALF_WIDTH_M, HALF_WIDTH_M + 1e-9, STEP_M))
    xs = x + ahead * normal[0] - across * normal[1]
    ys = y + ahead * normal[1] + across * normal[0]
    values, costs = _at(maps, travel, xs, ys)
    return Side(float(np.mean(values == UNKNOWN)), bool(np.isfinite(costs).any()))


def _at(maps: MapSnapshot, travel: NDArray[np.float32], xs: Array, ys: Array) -> tuple[NDArray[np.int8], Array]:
    """Occupancy and travel cost at points; unknown and inf outside of the map."""
    grid = maps.occupancy
    rows = np.floor((ys - grid.origin[1]) / grid.resolution).astype(int).ravel()
    columns = np.floor((xs - grid.origin[0]) / grid.resolution).astype(int).ravel()
    inside = (rows >= 0) & (columns >= 0) & (rows < grid.shape[0]) & (columns < grid.shape[1])
    values = np.full(rows.shape, UNKNOWN, np.int8)
    costs = np.full(rows.shape, np.inf)
    values[inside] = grid.data[rows[inside], columns[inside]]
    costs[inside] = travel[rows[inside], columns[inside]]
    return values, costs
