"""Reference lengths by dynamic programming: over viewpoints in the fixed order, and through the regions of needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, vstack
from scipy.sparse.csgraph import dijkstra

from mnav_bench.supernav.distances import Point, ViewpointDistances, grid_graph, snapped
from mnav_bench.supernav.scoring import DEMAND_M, Box
from mnav_core.maps import GridMap


def ordered_reference(start: Point, goals: Sequence[Sequence[Point]], distances: ViewpointDistances) -> float:
    """The shortest way from `start` over one viewpoint of each goal in order, metres; inf where there is none.

    It reaches the viewpoints themselves: arrival regions do not shorten it.
    """
    best: dict[Point, float] = {start: 0.0}
    for viewpoints in goals:
        best = {
            viewpoint: min(length + distances.between(before, viewpoint) for before, length in best.items())
            for viewpoint in viewpoints
        }
    return min(best.values(), default=math.inf)


def demand_reference(
    start: Point,
    needs: Sequence[Mapping[str, Box]],
    grid: GridMap,
    free: NDArray[np.bool_],
    within_m: float = DEMAND_M,
    snap_m: float = 0.5,
) -> float:
    """The shortest way from `start` through the region of an unused admissible object of each need in order, metres.

    A state carries those objects already used that a later need admits too, so that none is used twice.
    """
    origin = snapped(grid, free, start, snap_m)
    if origin is None:
        return math.inf
    graph = grid_graph(free, grid.resolution)
    seed = np.full(free.shape, np.inf)
    seed[grid.to_cell(*origin)] = 0.0
    states: dict[frozenset[str], NDArray[np.float64]] = {frozenset(): _spread(graph, seed)}
    regions = [{i: _region(grid, free, box, within_m) for i, box in need.items()} for need in needs]
    shared = _shared_later(needs)
    for stage, need in enumerate(regions):
        following: dict[frozenset[str], NDArray[np.float64]] = {}
        for used, reached in states.items():
            for object_id, region in need.items():
                if object_id in used:
                    continue
                arrived = np.where(region, reached, np.inf)
                if not np.isfinite(arrived).any():
                    continue
                key = used | ({object_id} if object_id in shared[stage] else set())
                known = following.get(key)
                following[key] = arrived if known is None else np.minimum(known, arrived)
        if not following:
            return math.inf
        is_last = stage == len(regions) - 1
        states = {key: cost if is_last else _spread(graph, cost) for key, cost in following.items()}
    return min((float(cost.min()) for cost in states.values()), default=0.0)


def _shared_later(needs: Sequence[Mapping[str, Box]]) -> list[frozenset[str]]:
    """For each stage, the objects that a later need admits too: only those must be remembered as used."""
    return [frozenset(i for later in needs[k + 1 :] for i in later) for k in range(len(needs))]


def _region(grid: GridMap, free: NDArray[np.bool_], box: Box, within_m: float) -> NDArray[np.bool_]:
    rows, columns = np.indices(free.shape)
    x = grid.origin[0] + (columns + 0.5) * grid.resolution
    y = grid.origin[1] + (rows + 0.5) * grid.resolution
    dx = np.maximum(np.maximum(box.x0 - x, x - box.x1), 0.0)
    dy = np.maximum(np.maximum(box.y0 - y, y - box.y1), 0.0)
    return np.asarray(free & (np.hypot(dx, dy) <= within_m))


def _spread(graph: csr_matrix, seeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cheapest cost (H, W) of reaching each cell from seed cells that carry a cost: one source before them all."""
    size = seeds.size
    seeded = np.flatnonzero(np.isfinite(seeds).ravel())
    # The extra source sits last; its edges carry the seeds' costs, kept above zero as a zero edge is none.
    costs = np.maximum(seeds.ravel()[seeded], 1e-12)
    both_ways = graph + graph.T
    extra = csr_matrix((costs, (np.full(len(seeded), 0), seeded)), shape=(1, size))
    whole = vstack([hstack([both_ways, csr_matrix((size, 1))]), hstack([extra, csr_matrix((1, 1))])], format="csr")
    return np.asarray(dijkstra(whole, directed=True, indices=size)[:size], float).reshape(seeds.shape)
