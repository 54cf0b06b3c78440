"""Runs in the peers' environment: other people's packages on the same inputs, one thread, timed in its processor time.

Usage: python peer_process.py JOB INPUT.npz OUTPUT.npz. Imports nothing of mnav.
"""

from __future__ import annotations

import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, Any]


def octomap(inputs: Arrays) -> Arrays:
    """Insert scans (S, N, 3) of the world from origins (S, 3); times (S,) in ms under the fastest setting."""
    import pyoctomap

    scans, origins = inputs["scans"].astype(np.float64), inputs["origins"].astype(np.float64)
    best: tuple[float, str, list[float]] | None = None
    for lazy, discretize in product((True, False), (False, True)):
        tree = pyoctomap.OcTree(float(inputs["resolution"]))
        taken: list[float] = []
        for scan, origin in zip(scans, origins):
            started = time.thread_time()
            tree.insertPointCloud(
                scan, origin, max_range=float(inputs["max_range"]), lazy_eval=lazy, discretize=discretize
            )
            taken.append(1e3 * (time.thread_time() - started))
            # A setting that is clearly slower need not go through all scans.
            if best is not None and len(taken) == 6 and np.median(taken[1:]) > 1.3 * best[0]:
                break
        else:
            median = float(np.median(taken[1:]))
            if best is None or median < best[0]:
                best = (median, f"lazy_eval={lazy}, discretize={discretize}", taken)
    assert best is not None
    return {"ms": np.array(best[2]), "setting": best[1]}


def astar(inputs: Arrays) -> Arrays:
    """Plan each pair (P, 2, 2) on weights (H, W); times (P,) in ms."""
    import pyastar2d

    weights = inputs["weights"].astype(np.float32)
    taken = []
    for start, goal in inputs["pairs"]:
        started = time.thread_time()
        path = pyastar2d.astar_path(weights, tuple(map(int, start)), tuple(map(int, goal)), allow_diagonal=True)
        taken.append(1e3 * (time.thread_time() - started))
        assert path is not None
    return {"ms": np.array(taken)}


def mcp(inputs: Arrays) -> Arrays:
    """Costs (P,) of MCP_Geometric for each pair (P, 2, 2) on costs (H, W), impassable below 0; inf without a path.

    Pairs that share a start share a search. `changes` (P, C, 3: row, column, cost), filled with -1, hold for one pair.
    """
    from skimage.graph import MCP_Geometric

    costs = inputs["costs"].astype(np.float64)
    pairs = [((int(a[0]), int(a[1])), (int(b[0]), int(b[1]))) for a, b in inputs["pairs"]]
    changes = inputs.get("changes")
    out = np.full(len(pairs), np.inf)
    if changes is not None:
        for k, (start, goal) in enumerate(pairs):
            changed = costs.copy()
            rows = changes[k][changes[k][:, 0] >= 0]
            changed[rows[:, 0].astype(int), rows[:, 1].astype(int)] = rows[:, 2]
            found, _ = MCP_Geometric(changed).find_costs([start], [goal])
            out[k] = found[goal]
        return {"costs": out}
    for start in dict.fromkeys(start for start, _ in pairs):
        goals = [goal for s, goal in pairs if s == start]
        found, _ = MCP_Geometric(costs).find_costs([start], goals)
        for k, (s, goal) in enumerate(pairs):
            if s == start:
                out[k] = found[goal]
    return {"costs": out}


def main(arguments: list[str]) -> int:
    """Run one job."""
    job, source, target = arguments
    with np.load(Path(source), allow_pickle=False) as data:
        inputs = {name: data[name] for name in data.files}
    np.savez(Path(target), **{"octomap": octomap, "astar": astar, "mcp": mcp}[job](inputs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
