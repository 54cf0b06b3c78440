"""Geodesic distances over the free cells of a map: what a navigation mesh is to the published evaluations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from mnav_core.maps import GridMap

Point = tuple[float, float]

# Half of sixteen directions (at most 2.7 % too long); a step needs every cell that it crosses.
STEPS: tuple[tuple[tuple[int, int], tuple[tuple[int, int], ...]], ...] = (
    ((0, 1), ()),
    ((1, 0), ()),
    ((1, 1), ((0, 1), (1, 0))),
    ((1, -1), ((0, -1), (1, 0))),
    ((1, 2), ((0, 1), (1, 1))),
    ((2, 1), ((1, 0), (1, 1))),
    ((2, -1), ((1, 0), (1, -1))),
    ((1, -2), ((0, -1), (1, -1))),
)


class ViewpointDistances(Protocol):
    """Distances between positions and viewpoint sets; inf where no way leads."""

    def to_nearest(self, position: Point, viewpoints: Sequence[Point]) -> float:
        """Shortest geodesic distance from a position to any of the viewpoints, metres."""
        ...

    def between(self, a: Point, b: Point) -> float:
        """Shortest geodesic distance between two positions, metres."""
        ...


def snapped(grid: GridMap, free: NDArray[np.bool_], point: Point, within_m: float) -> Point | None:
    """The point where its cell is free, else the centre of the nearest free cell; None without one `within_m`."""
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


def grid_graph(free: NDArray[np.bool_], resolution: float) -> csr_matrix:
    """The undirected graph of the free cells (H, W): one direction of each edge, its length in metres."""
    height, width = free.shape
    index = np.arange(height * width).reshape(height, width)
    sources, targets, lengths = [], [], []
    for (dr, dc), crossed in STEPS:
        # Every cell from which the step stays inside, and the same window moved by the step and by what it crosses.
        rows = slice(0, height - dr)
        columns = slice(max(0, -dc), width - max(0, dc))

        def window(r: int, c: int, rows: slice = rows, columns: slice = columns) -> tuple[slice, slice]:
            return slice(rows.start + r, rows.stop + r), slice(columns.start + c, columns.stop + c)

        ok = free[window(0, 0)] & free[window(dr, dc)]
        for r, c in crossed:
            ok &= free[window(r, c)]
        sources.append(index[window(0, 0)][ok])
        targets.append(index[window(dr, dc)][ok])
        lengths.append(np.full(int(ok.sum()), math.hypot(dr, dc) * resolution))
    edges = (np.concatenate(lengths), (np.concatenate(sources), np.concatenate(targets)))
    return csr_matrix(edges, shape=(height * width,) * 2)


@dataclass
class GridDistances:
    """Distances over the free cells (H, W) of a map; positions outside move to the nearest free cell, `snap_m` at most.

    One search for each viewpoint set and each start of `between`, kept: goals are few and positions many.
    """

    grid: GridMap
    free: NDArray[np.bool_]
    snap_m: float = 0.5
    _from: dict[tuple[Point, ...], NDArray[np.float64]] = field(default_factory=dict, repr=False)

    @cached_property
    def graph(self) -> csr_matrix:
        """The graph of the free cells."""
        return grid_graph(self.free, self.grid.resolution)

    def to_nearest(self, position: Point, viewpoints: Sequence[Point]) -> float:
        """See `ViewpointDistances`."""
        here = snapped(self.grid, self.free, position, self.snap_m)
        places = [place for place in (snapped(self.grid, self.free, v, self.snap_m) for v in viewpoints) if place]
        if here is None or not places:
            return math.inf
        cell = self.grid.to_cell(*here)
        same_cell = [math.dist(here, place) for place in places if self.grid.to_cell(*place) == cell]
        return min(same_cell) if same_cell else float(self._field(tuple(places))[cell])

    def between(self, a: Point, b: Point) -> float:
        """See `ViewpointDistances`."""
        return self.to_nearest(b, [a])

    def _field(self, places: tuple[Point, ...]) -> NDArray[np.float64]:
        if places not in self._from:
            width = self.free.shape[1]
            cells = sorted({row * width + column for row, column in (self.grid.to_cell(*place) for place in places)})
            found = dijkstra(self.graph, directed=False, indices=cells, min_only=True)
            self._from[places] = np.asarray(found, float).reshape(self.free.shape)
        return self._from[places]
