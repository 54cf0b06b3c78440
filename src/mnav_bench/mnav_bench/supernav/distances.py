"""Geodesic distance from a position to the nearest of a goal's viewpoints, over a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnav_bench.geodesic import GeodesicField, geodesic_field
from mnav_core.maps import GridMap

Point = tuple[float, float]


class ViewpointDistances(Protocol):
    """Distances between positions and viewpoint sets; inf where no way leads."""

    def to_nearest(self, position: Point, viewpoints: Sequence[Point]) -> float:
        """Shortest geodesic distance from a position to any of the viewpoints, metres."""
        ...

    def between(self, a: Point, b: Point) -> float:
        """Shortest geodesic distance between two positions, metres."""
        ...


def snapped(grid: GridMap, free: NDArray[np.bool_], point: Point, within_m: float) -> Point | None:
    """The centre of the free cell nearest to the point, None when none lies `within_m`."""
    row, column = grid.to_cell(*point)
    if grid.contains(row, column) and free[row, column]:
        return point
    reach = math.ceil(within_m / grid.resolution) + 1
    r0, c0 = max(0, row - reach), max(0, column - reach)
    rows, columns = np.nonzero(free[r0 : max(0, row + reach + 1), c0 : max(0, column + reach + 1)])
    if len(rows) == 0:
        return None
    xs = grid.origin[0] + (columns + c0 + 0.5) * grid.resolution
    ys = grid.origin[1] + (rows + r0 + 0.5) * grid.resolution
    away = np.hypot(xs - point[0], ys - point[1])
    best = int(np.argmin(away))
    return (float(xs[best]), float(ys[best])) if away[best] <= within_m else None


@dataclass
class GridDistances:
    """Distances over the free cells (H, W) of a map; positions outside move to the nearest free cell within `snap_m`.

    One Dijkstra a viewpoint, kept: goals have few viewpoints and runs have many positions.
    """

    grid: GridMap
    free: NDArray[np.bool_]
    snap_m: float = 0.5
    _fields: dict[Point, GeodesicField] = field(default_factory=dict, repr=False)

    def to_nearest(self, position: Point, viewpoints: Sequence[Point]) -> float:
        """See `ViewpointDistances`."""
        return min((self.between(viewpoint, position) for viewpoint in viewpoints), default=math.inf)

    def between(self, a: Point, b: Point) -> float:
        """See `ViewpointDistances`. Inside one cell the straight line counts."""
        start, end = snapped(self.grid, self.free, a, self.snap_m), snapped(self.grid, self.free, b, self.snap_m)
        if start is None or end is None:
            return math.inf
        row, column = self.grid.to_cell(*end)
        if self.grid.to_cell(*start) == (row, column):
            return math.dist(start, end)
        if start not in self._fields:
            self._fields[start] = geodesic_field(self.grid, self.free, start)
        return float(self._fields[start].distance_m[row, column])
