"""Places where the base got stuck: what lies behind them is not explored through them for a while."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mnav_core.geometry import SE2
from mnav_core.maps import LETHAL, MapSnapshot

_AHEAD_M = 0.45
_RADIUS_M = 0.3


@dataclass(frozen=True)
class ClosedPlace:
    """A disc in `map` that counts as an obstacle until `until_s`."""

    xy: tuple[float, float]
    until_s: float
    radius_m: float = _RADIUS_M


def place_ahead(pose: SE2, until_s: float) -> ClosedPlace:
    """The place that a stuck base faces: right ahead of it, not under it."""
    return ClosedPlace((pose.x + _AHEAD_M * math.cos(pose.yaw), pose.y + _AHEAD_M * math.sin(pose.yaw)), until_s)


def with_closed(maps: MapSnapshot, places: Sequence[ClosedPlace], now_s: float) -> MapSnapshot:
    """The maps with the places that are still closed lethal in the costmap; the same object when there are none."""
    active = [place for place in places if place.until_s > now_s]
    if not active:
        return maps
    grid = maps.costmap
    rows, columns = grid.shape
    x = grid.origin[0] + (np.arange(columns) + 0.5) * grid.resolution
    y = grid.origin[1] + (np.arange(rows) + 0.5) * grid.resolution
    data = grid.data.copy()
    for place in active:
        near = (x[None, :] - place.xy[0]) ** 2 + (y[:, None] - place.xy[1]) ** 2 <= place.radius_m**2
        data[near] = LETHAL
    return replace(maps, costmap=replace(grid, data=data))
