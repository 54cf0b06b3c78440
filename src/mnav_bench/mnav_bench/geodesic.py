"""Shortest paths on the true map, by SciPy's Dijkstra: independent of the planners that the robots use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from mnav_core.maps import GridMap

NO_PREDECESSOR = -9999


@dataclass(frozen=True, eq=False)
class GeodesicField:
    """Distances (H, W) in metres from one start cell over the free cells, inf where there is no way."""

    grid: GridMap
    free: NDArray[np.bool_]
    distance_m: NDArray[np.float64]
    predecessor: NDArray[np.int32]

    def path_to(self, row: int, column: int) -> list[tuple[float, float]]:
        """Points from the start to a cell, shortened by line of sight so that the grid's eight directions do not
        lengthen it.
        """
        if not np.isfinite(self.distance_m[row, column]):
            return []
        width = self.grid.shape[1]
        cells = [row * width + column]
        while (before := int(self.predecessor[cells[-1]])) != NO_PREDECESSOR:
            cells.append(before)
        corners = _pull_tight(self.free, [divmod(cell, width) for cell in reversed(cells)])
        return [self.grid.to_point(r, c) for r, c in corners]


def inflate(occupancy: GridMap, radius_m: float) -> NDArray[np.bool_]:
    """Free cells (H, W) whose centre is at least `radius_m` from every occupied cell."""
    obstacle_free = (occupancy.data != 100).astype(np.uint8)
    distance = cv2.distanceTransform(obstacle_free, cv2.DIST_L2, cv2.DIST_MASK_PRECISE) * occupancy.resolution
    return np.asarray(distance >= radius_m + occupancy.resolution / 2.0)


def geodesic_field(grid: GridMap, free: NDArray[np.bool_], start: tuple[float, float]) -> GeodesicField:
    """Distances from `start` over 8-connected free cells without cutting corners.

    Raises ValueError when the start is not free.
    """
    row, column = grid.to_cell(*start)
    if not grid.contains(row, column) or not free[row, column]:
        raise ValueError(f"start ({start[0]:.2f}, {start[1]:.2f}) is not in free space")
    height, width = free.shape
    index = np.arange(height * width).reshape(height, width)
    sources, targets, lengths = [], [], []
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        a = (slice(0, height - dr), slice(max(0, -dc), width - max(0, dc)))
        b = (slice(dr, height), slice(max(0, dc), width - max(0, -dc)))
        ok = free[a] & free[b]
        if dr and dc:
            ok &= free[a[0], b[1]] & free[b[0], a[1]]
        sources.append(index[a][ok])
        targets.append(index[b][ok])
        lengths.append(np.full(int(ok.sum()), math.hypot(dr, dc) * grid.resolution))
    graph = csr_matrix(
        (np.concatenate(lengths), (np.concatenate(sources), np.concatenate(targets))), shape=(height * width,) * 2
    )
    distance, predecessor = dijkstra(graph, directed=False, indices=row * width + column, return_predecessors=True)
    return GeodesicField(grid, free, distance.reshape(height, width), predecessor)


def path_length(points: list[tuple[float, float]]) -> float:
    """Length in metres of a polyline."""
    return sum(math.dist(a, b) for a, b in pairwise(points))


def _pull_tight(free: NDArray[np.bool_], cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
    corners = [cells[0]]
    i = 0
    while i < len(cells) - 1:
        low, high = i + 1, len(cells) - 1
        # Visibility along a shortest path is nearly monotone: gallop back from the far end in halves, then settle.
        best = low
        while low <= high:
            middle = (low + high) // 2
            if _sees(free, cells[i], cells[middle]):
                best, low = middle, middle + 1
            else:
                high = middle - 1
        i = best
        corners.append(cells[i])
    return corners


def _sees(free: NDArray[np.bool_], a: tuple[int, int], b: tuple[int, int]) -> bool:
    steps = 3 * max(abs(a[0] - b[0]), abs(a[1] - b[1])) + 1
    rows = np.rint(np.linspace(a[0], b[0], steps)).astype(int)
    columns = np.rint(np.linspace(a[1], b[1], steps)).astype(int)
    return bool(free[rows, columns].all())
