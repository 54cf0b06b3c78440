"""Where to stand to look at something or act on it: the cheapest reachable place with a free line of sight."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, Array
from mnav_core.maps import MapSnapshot
from mnav_perception.compiled import compiled

DIRECTIONS = 24
# A quarter turn away from where the thing was seen weighs as much as driving this far, metres.
TURN_WEIGHT_M = 1.0
OCCUPIED = 100


@dataclass(frozen=True)
class Standing:
    """Allowed distances from the middle of the thing, metres, and how far off its front, radians."""

    distances_m: tuple[float, ...]
    spread_rad: float


ACT = Standing((0.85, 1.05, 1.25, 1.5), math.radians(60.0))
LOOK = Standing((1.2, 1.6, 2.0), math.radians(75.0))
GO = Standing((0.7, 0.9, 1.1, 1.3), math.pi)


@compiled
def _stand(
    occupancy: NDArray[np.int8],
    travel: NDArray[np.float32],
    resolution: float,
    x0: float,
    y0: float,
    points: Array,
    radii: Array,
    fronts: Array,
    distances: Array,
    spread: float,
    turn_weight: float,
) -> Array:
    """(N, 3): x, y and travel cost of the best place of each point, the cost inf where there is none."""
    rows, columns = travel.shape
    found = np.empty((points.shape[0], 3))
    for k in range(points.shape[0]):
        px, py, front = points[k, 0], points[k, 1], fronts[k]
        best = np.inf
        found[k, 0], found[k, 1], found[k, 2] = px, py, np.inf
        for step in range(DIRECTIONS):
            off = 2.0 * math.pi * step / DIRECTIONS
            off = off - 2.0 * math.pi if off > math.pi else off
            if abs(off) > spread + 1e-9:
                continue
            dx, dy = math.cos(front + off), math.sin(front + off)
            for d in distances:
                x, y = px + d * dx, py + d * dy
                row, column = math.floor((y - y0) / resolution), math.floor((x - x0) / resolution)
                if not (0 <= row < rows and 0 <= column < columns):
                    continue
                cost = travel[row, column]
                score = cost + turn_weight * abs(off) / (math.pi / 2.0)
                if not score < best:
                    continue
                free = True
                reach = d - resolution
                while reach > radii[k] and free:
                    r = math.floor((py + reach * dy - y0) / resolution)
                    c = math.floor((px + reach * dx - x0) / resolution)
                    free = not (0 <= r < rows and 0 <= c < columns and occupancy[r, c] == OCCUPIED)
                    reach -= resolution
                if free:
                    best = score
                    found[k, 0], found[k, 1], found[k, 2] = x, y, cost
    return found


def standing_places(
    maps: MapSnapshot,
    travel: NDArray[np.float32],
    points: Array,
    radii: Array,
    fronts: Array,
    standing: Standing,
) -> list[tuple[SE2 | None, float]]:
    """Pose facing the point, and travel cost in metres, for each of (N, 2) points of `map`; (None, inf) without one.

    `radii` (N,): what belongs to the thing itself and blocks no sight, metres. `fronts` (N,): the direction from the
    thing in which to stand, radians.
    """
    if not len(points):
        return []
    grid = maps.occupancy
    found = _stand(
        np.ascontiguousarray(grid.data), travel, grid.resolution, grid.origin[0], grid.origin[1],
        np.ascontiguousarray(points, float), np.ascontiguousarray(radii, float), np.ascontiguousarray(fronts, float),
        np.array(standing.distances_m), standing.spread_rad, TURN_WEIGHT_M,
    )  # fmt: skip
    places: list[tuple[SE2 | None, float]] = []
    for (x, y, cost), (px, py) in zip(found.tolist(), np.asarray(points).tolist(), strict=True):
        places.append((SE2(x, y, math.atan2(py - y, px - x)), cost) if math.isfinite(cost) else (None, math.inf))
    return places
