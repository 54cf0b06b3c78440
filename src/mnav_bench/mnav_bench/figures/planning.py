"""Figures of planning on large grids of rooms: first plans beside pyastar2d and MCP_Geometric, and planning again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mnav_bench.figures.peers import Peers
from mnav_bench.figures.room_grids import room_grid
from mnav_bench.figures.rows import FigureRow, at_most, skipped
from mnav_bench.figures.timing import WARM_RUNS, Timing, time_calls
from mnav_bench.foreign.map_checks import footprint_costmap
from mnav_core.geometry import SE2
from mnav_core.maps import FREE, INSCRIBED, LETHAL, GridMap
from mnav_core.randomness import generator
from mnav_core.robot import RobotDescription
from mnav_executor_geo.grid_search import cost_factors, find_path, is_traversable
from mnav_executor_geo.paths import Path
from mnav_executor_geo.replanning import Replanner
from mnav_executor_geo.settings import PlannerSettings

SIDE, SEED = 2000, 1
STARTS = 3
LEAST_M = 60.0
TIME_RATIO, COST_PERCENT, REPLAN_PERCENT, LONG_WAY_PERCENT = 1.5, 2.0, 10.0, 20.0
CHANGES, CHANGES_A_GOAL = 50, 5
# How far the goals of replanning are, as the crow flies.
REPLAN_BANDS_M = ((15.0, 20.0), (30.0, 36.0), (60.0, 72.0))
BOX_CELLS, BAR_CELLS = 6, 24
NEAREST_M, FARTHEST_M, ADVANCE_M = 0.8, 5.0, 1.5

Cell = tuple[int, int]
Pair = tuple[Cell, Cell]


class Blockage(Enum):
    """What is put on the path."""

    BOX = "a box on the path"
    BAR = "the narrowest place closed"

    def on(
        self, occupied: NDArray[np.int8], grid: GridMap, path: Path, index: int, rng: np.random.Generator
    ) -> NDArray[np.int8]:
        """The occupancy with something on the path, NEAREST_M to FARTHEST_M after its point `index`."""
        if self is Blockage.BOX:
            ahead = path.lengths_m[index] + rng.uniform(NEAREST_M, FARTHEST_M)
            at, half = int(np.searchsorted(path.lengths_m, ahead)), BOX_CELLS
        else:
            first, last = np.searchsorted(path.lengths_m, path.lengths_m[index] + np.array([1.5, FARTHEST_M]))
            cells = [grid.to_cell(*map(float, point)) for point in path.points[first : last + 1]]
            at, half = int(first) + int(np.argmax([grid.data[cell] for cell in cells])), BAR_CELLS // 2
        row, column = grid.to_cell(*map(float, path.points[min(at, len(path.points) - 1)]))
        data = occupied.copy()
        data[max(row - half, 0) : row + half, max(column - half, 0) : column + half] = LETHAL
        return data


@dataclass(frozen=True, eq=False)
class Change:
    """One replanning: times in ms, costs in metres, and the costmap and the place that it was done on."""

    first_ms: float
    again_ms: float
    before_m: float
    cost_m: float
    fresh_m: float
    costmap: GridMap
    start: Cell
    goal: Cell


def planning_figures(robot: RobotDescription, peers: Peers | None, side: int = SIDE) -> list[FigureRow]:
    """Rows on a grid of rooms of `side` x `side` cells, inflated for the robot."""
    occupancy = room_grid(side, SEED)
    costmap = footprint_costmap(occupancy, robot)
    settings = PlannerSettings()
    pairs = far_pairs(costmap, WARM_RUNS + 1, STARTS)
    poses = [(SE2(*costmap.to_point(*start)), costmap.to_point(*goal)) for start, goal in pairs]
    _warm_replanning(costmap, settings)
    # As the executor plans: with what it keeps for planning again.
    ours = time_calls([partial(Replanner(settings).update, 0.0, start, costmap, goal, 0, 0.0) for start, goal in poses])
    costs = [_cost(costmap, pair, settings) for pair in pairs]
    label = f"{side}x{side} rooms"
    rows = _beside_peers(label, costmap, pairs, ours, costs, settings, peers)
    changes: list[Change] = []
    for blockage in Blockage:
        for band in REPLAN_BANDS_M:
            if band[1] > side * costmap.resolution:
                continue
            some = replan_often(occupancy, robot, settings, blockage, band)
            rows.append(_replan_row(f"{label}: replan, goal {band[0]:g} m away, {blockage.value}", some, blockage))
            changes += some
    excess = [100.0 * (c.cost_m / c.fresh_m - 1.0) for c in changes]
    return [
        *rows,
        at_most(f"{label}: replanned cost over a fresh search", max(excess, key=abs), COST_PERCENT, "%",
                f"worst of {len(changes)} changes"),
        _replans_beside_mcp(label, costmap, changes, settings, peers),
    ]  # fmt: skip


def _replan_row(name: str, changes: Sequence[Change], blockage: Blockage) -> FigureRow:
    ratio = 100.0 * float(np.median([c.again_ms / c.first_ms for c in changes]))
    times = Timing(changes[0].again_ms, tuple(c.again_ms for c in changes[1:]))
    firsts = float(np.median([c.first_ms for c in changes]))
    longer = float(np.median([c.cost_m - c.before_m for c in changes]))
    return at_most(
        f"{name}, share of the first plan", ratio,
        REPLAN_PERCENT if blockage is Blockage.BOX else LONG_WAY_PERCENT, "%",
        f"{len(changes)} changes within {FARTHEST_M:g} m, path dearer by {longer:.3g} m; first plan {firsts:.3g} ms;"
        f" replan {times}",
    )  # fmt: skip


def far_pairs(costmap: GridMap, count: int, starts: int, band_m: tuple[float, float] = (LEAST_M, np.inf)) -> list[Pair]:
    """Random connected pairs so far apart, at least half the grid where it is small; `starts` different starts."""
    rows, columns = np.nonzero(_standable(costmap))
    rng = generator("planning figures", costmap.shape[0], str(band_m))
    apart = min(band_m[0] / costmap.resolution, costmap.shape[0] / 2.0)
    most = band_m[1] / costmap.resolution
    pairs: list[Pair] = []
    for turn in range(2000 * count):
        if len(pairs) == count:
            break
        # A start that nothing lies far enough from is given up.
        if len(pairs) % -(-count // starts) == 0 or turn % 500 == 499:
            index = int(rng.integers(0, len(rows)))
            start = (int(rows[index]), int(columns[index]))
        index = int(rng.integers(0, len(rows)))
        goal = (int(rows[index]), int(columns[index]))
        far = apart <= np.hypot(goal[0] - start[0], goal[1] - start[1]) <= most
        if far and find_path(costmap, start, goal, 0.0, 0.0) is not None:
            pairs.append((start, goal))
    return pairs


def _beside_peers(
    label: str,
    costmap: GridMap,
    pairs: Sequence[Pair],
    ours: Timing,
    costs: Sequence[float],
    settings: PlannerSettings,
    peers: Peers | None,
) -> list[FigureRow]:
    time_name, cost_name = f"{label}: first plan, times pyastar2d", f"{label}: first plan, cost over MCP_Geometric"
    if peers is None:
        return [skipped(time_name, f"needs --peers; ours {ours}"), skipped(cost_name, "needs --peers")]
    cell_costs = _cell_costs(costmap, settings)
    weights = np.where(cell_costs < 0, np.inf, cell_costs).astype(np.float32)
    theirs = peers.run("astar", {"weights": weights, "pairs": np.array(pairs)})["ms"]
    peer = Timing(float(theirs[0]), tuple(float(t) for t in theirs[1:]))
    best = peers.run("mcp", {"costs": cell_costs, "pairs": np.array(pairs)})["costs"] * costmap.resolution
    excess = 100.0 * (np.array(costs) / best - 1.0)
    return [
        at_most(time_name, ours.median_ms / peer.median_ms, TIME_RATIO, "x", f"ours {ours}; pyastar2d {peer}"),
        at_most(cost_name, float(excess[np.argmax(np.abs(excess))]), COST_PERCENT, "%", f"worst of {len(pairs)} pairs"),
    ]


def replan_often(
    occupancy: GridMap,
    robot: RobotDescription,
    settings: PlannerSettings,
    blockage: Blockage,
    band_m: tuple[float, float],
    count: int = CHANGES,
) -> list[Change]:
    """Drive towards goals and block the path ahead, again and again, where that does not cut the goal off."""
    rng = generator("replanning figures", occupancy.shape[0], blockage.name, str(band_m))
    base = footprint_costmap(occupancy, robot)
    goals = -(-count // CHANGES_A_GOAL)
    changes: list[Change] = []
    _warm_replanning(base, settings)
    # Some goals lie where few changes are possible.
    for start, goal in far_pairs(base, 3 * goals, 3 * goals, band_m):
        replanner = Replanner(settings)
        pose, target = SE2(*base.to_point(*start)), base.to_point(*goal)
        timing = time_calls([lambda: None, partial(replanner.update, 0.0, pose, base, target, 0, 0.0)])
        first_ms, now, made = timing.median_ms, 0.0, 0
        occupied = occupancy.data
        for _ in range(4 * CHANGES_A_GOAL):
            path = replanner.path
            if made == CHANGES_A_GOAL or path is None or path.length_m < 2.0 * FARTHEST_M or len(changes) == count:
                break
            index = int(np.searchsorted(path.lengths_m, rng.uniform(0.0, ADVANCE_M)))
            pose = SE2(float(path.points[index, 0]), float(path.points[index, 1]))
            cell = base.to_cell(pose.x, pose.y)
            data = blockage.on(occupied, base, path, index, rng)
            changed = footprint_costmap(replace(occupancy, data=data), robot)
            if not is_traversable(changed, *cell):
                continue
            fresh = find_path(changed, cell, goal, settings.cost_weight, 0.0)
            if fresh is None:
                continue
            now += 0.1
            again = time_calls([lambda: None, partial(replanner.update, now, pose, changed, target, index, 0.0)])
            result = replanner.path
            made += result is not path
            occupied = data
            # The tick after, with the same map.
            replanner.update(now, pose, changed, target, 0, 0.0)
            if result is path:
                continue
            cost = result.cost_m if isinstance(result, Path) else np.inf
            before = path.cost_m - float(path.lengths_m[index])
            changes.append(Change(first_ms, again.median_ms, before, cost, fresh.cost_m, changed, cell, goal))
    return changes


def _warm_replanning(costmap: GridMap, settings: PlannerSettings) -> None:
    """Have every kernel of planning again loaded: its first use is no replanning."""
    ((start, goal),) = far_pairs(costmap, 1, 1, (5.0, 10.0))
    replanner = Replanner(settings)
    pose, target = SE2(*costmap.to_point(*start)), costmap.to_point(*goal)
    path = replanner.update(0.0, pose, costmap, target, 0, 0.0)
    assert isinstance(path, Path)
    data = costmap.data.copy()
    data[costmap.to_cell(*map(float, path.points[len(path.points) // 2]))] = LETHAL
    replanner.update(0.1, pose, replace(costmap, data=data), target, 0, 0.0)


def _replans_beside_mcp(
    label: str, base: GridMap, changes: Sequence[Change], settings: PlannerSettings, peers: Peers | None
) -> FigureRow:
    """Every fifth replanning against MCP_Geometric: it takes seconds for each."""
    name = f"{label}: replanned cost over MCP_Geometric"
    if peers is None:
        return skipped(name, "needs --peers")
    judged = changes[:: max(len(changes) // 10, 1)]
    cell_costs = _cell_costs(base, settings)
    rows = []
    for change in judged:
        other = _cell_costs(change.costmap, settings)
        where = np.argwhere(other != cell_costs)
        rows.append(np.column_stack([where, other[tuple(where.T)]]))
    table = np.full((len(rows), max(len(r) for r in rows), 3), -1.0)
    for k, row in enumerate(rows):
        table[k, : len(row)] = row
    pairs = np.array([(c.start, c.goal) for c in judged])
    best = peers.run("mcp", {"costs": cell_costs, "pairs": pairs, "changes": table})["costs"] * base.resolution
    excess = 100.0 * (np.array([c.cost_m for c in judged]) / best - 1.0)
    worst = float(excess[np.argmax(np.abs(excess))])
    return at_most(name, worst, COST_PERCENT, "%", f"worst of {len(judged)} of the changes")


def _cost(costmap: GridMap, pair: Pair, settings: PlannerSettings) -> float:
    path = find_path(costmap, *pair, settings.cost_weight, settings.escape_m)
    return np.inf if path is None else path.cost_m


def _cell_costs(costmap: GridMap, settings: PlannerSettings) -> NDArray[np.float64]:
    """Cost of each cell as the planner weighs it, -1 where it may not go."""
    factors = cost_factors(settings.cost_weight).astype(float)
    return np.where(_standable(costmap), factors[costmap.data.astype(int) + 1], -1.0)


def _standable(costmap: GridMap) -> NDArray[np.bool_]:
    return np.asarray((costmap.data >= FREE) & (costmap.data < INSCRIBED))
