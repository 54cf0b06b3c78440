"""Shortcuts over a cell path by line of sight, never dearer than the path itself."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import GridMap
from mnav_executor_geo.compiled import kernel
from mnav_executor_geo.grid_search import CellPath, cost_factors

Array = NDArray[np.float64]


@kernel
def _line_cost(
    cost: NDArray[np.int8], factor: NDArray[np.float32], r0: float, c0: float, r1: float, c1: float
) -> float:
    """Cost (cells) of a straight line between cell centres; infinite where it leaves known, traversable cells."""
    length = math.sqrt((r1 - r0) ** 2 + (c1 - c0) ** 2)
    steps = max(int(math.ceil(length / 0.5)), 1)
    total = 0.0
    for k in range(steps + 1):
        t = k / steps
        r = int(math.floor(r0 + (r1 - r0) * t + 0.5))
        c = int(math.floor(c0 + (c1 - c0) * t + 0.5))
        if r < 0 or c < 0 or r >= cost.shape[0] or c >= cost.shape[1]:
            return np.inf
        value = cost[r, c]
        if value < 0 or value >= 99:
            return np.inf
        weight = 0.5 if k == 0 or k == steps else 1.0
        total += weight * factor[value + 1] * length / steps
    return total


@kernel
def _shortcut(
    cost: NDArray[np.int8], factor: NDArray[np.float32], cells: NDArray[np.int32], reach: int
) -> NDArray[np.int32]:
    n = cells.shape[0]
    along = np.zeros(n)
    for i in range(1, n):
        a, b = cells[i - 1], cells[i]
        step = math.sqrt(float((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2))
        along[i] = along[i - 1] + 0.5 * step * (factor[cost[a[0], a[1]] + 1] + factor[cost[b[0], b[1]] + 1])
    kept = np.empty(n, np.int32)
    kept[0] = 0
    count = 1
    i = 0
    while i < n - 1:
        best = i + 1
        for j in range(min(n - 1, i + reach), i + 1, -1):
            line = _line_cost(cost, factor, cells[i, 0], cells[i, 1], cells[j, 0], cells[j, 1])
            if line <= (along[j] - along[i]) * 1.001 + 1e-6:
                best = j
                break
        kept[count] = best
        count += 1
        i = best
    return kept[:count].copy()


def smooth(costmap: GridMap, path: CellPath, cost_weight: float, shortcut_m: float) -> Array:
    """Corner points (N, 2) in metres of the shortened path, from the first to the last cell's centre."""
    data = np.ascontiguousarray(costmap.data)
    reach = max(2, int(shortcut_m / costmap.resolution))
    kept = _shortcut(data, cost_factors(cost_weight), path.cells, reach)
    corners = path.cells[kept].astype(float)
    return np.stack([corners[:, 1], corners[:, 0]], axis=1) * costmap.resolution + (
        np.asarray(costmap.origin) + 0.5 * costmap.resolution
    )


def line_is_clear(costmap: GridMap, a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Whether the straight line between two points of `map` stays on known, traversable cells."""
    rows_columns = [
        (p - o) / costmap.resolution - 0.5
        for point in (a, b)
        for p, o in zip(reversed(point), reversed(costmap.origin), strict=True)
    ]
    return math.isfinite(_line_cost(np.ascontiguousarray(costmap.data), cost_factors(0.0), *rows_columns))


def resample(corners: Array, spacing_m: float) -> Array:
    """Points (N, 2) along a polyline at most `spacing_m` apart; every corner is kept."""
    steps = np.diff(corners, axis=0)
    counts = np.maximum(1, np.ceil(np.hypot(steps[:, 0], steps[:, 1]) / spacing_m - 1e-9)).astype(int)
    leg = np.repeat(np.arange(len(steps)), counts)
    before = np.cumsum(counts) - counts
    share = (np.arange(len(leg)) - before[leg] + 1) / counts[leg]
    points = corners[leg] + steps[leg] * share[:, None]
    points[before + counts - 1] = corners[1:]
    return np.concatenate([corners[:1], points])
