"""Cheapest costs over a grid by SciPy's Dijkstra, on the graph of scikit-image's MCP_Geometric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

Array = NDArray[np.float64]
Cell = tuple[int, int]


class ReferenceCosts(Protocol):
    """Costs of the cheapest 8-connected paths: a step costs its length times both cells' mean cost; corners are cut."""

    def costs_from(self, costs: Array, starts: Sequence[Cell]) -> Array:
        """Costs (S, H, W) in cells from each start (inf: none), over cell costs (H, W), negative: no way."""
        ...


@dataclass(frozen=True)
class SciPyCosts:
    """The reference without another package: the same graph as MCP_Geometric, searched by `scipy.sparse.csgraph`."""

    def costs_from(self, costs: Array, starts: Sequence[Cell]) -> Array:
        """See `ReferenceCosts`."""
        height, width = costs.shape
        graph = _graph(costs)
        indices = [row * width + column for row, column in starts]
        found = dijkstra(graph, directed=False, indices=indices)
        return np.asarray(found, float).reshape(len(starts), height, width)


def _graph(costs: Array) -> csr_matrix:
    height, width = costs.shape
    passable = costs >= 0.0
    index = np.arange(height * width, dtype=np.int32).reshape(height, width)
    sources, targets, weights = [], [], []
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        a = (slice(0, height - dr), slice(max(0, -dc), width - max(0, dc)))
        b = (slice(dr, height), slice(max(0, dc), width - max(0, -dc)))
        ok = passable[a] & passable[b]
        sources.append(index[a][ok])
        targets.append(index[b][ok])
        weights.append((costs[a][ok] + costs[b][ok]) * (0.5 * math.hypot(dr, dc)))
    edges = (np.concatenate(weights), (np.concatenate(sources), np.concatenate(targets)))
    return csr_matrix(edges, shape=(height * width,) * 2)
