"""The reference planner equals scikit-image's where that is installed, and numbers worked out by hand everywhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_bench.reference_costs import SciPyCosts


def test_a_diagonal_past_a_corner_by_hand() -> None:
    costs = np.array([[1.0, -1.0], [-1.0, 3.0]])
    (field,) = SciPyCosts().costs_from(costs, [(0, 0)])
    assert field[1, 1] == pytest.approx(math.sqrt(2.0) * 2.0)
    assert np.isinf(field[0, 1])


def test_it_equals_mcp_geometric() -> None:
    graph = pytest.importorskip("skimage.graph")
    rng = np.random.default_rng(0)
    costs = rng.uniform(1.0, 4.0, (40, 50))
    costs[rng.random(costs.shape) < 0.3] = -1.0
    row, column = np.argwhere(costs > 0)[0]
    (ours,) = SciPyCosts().costs_from(costs, [(int(row), int(column))])
    theirs, _ = graph.MCP_Geometric(costs).find_costs([(int(row), int(column))])
    assert np.allclose(ours[costs > 0], theirs[costs > 0], rtol=1e-6)
