"""Planning on foreign maps, beside an independent planner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_bench.figures.rows import FigureRow, at_least, skipped
from mnav_bench.foreign.occupancy_images import ForeignMap
from mnav_bench.reference_costs import Cell, ReferenceCosts
from mnav_core.maps import INSCRIBED, LETHAL, UNKNOWN, GridMap
from mnav_core.randomness import generator
from mnav_core.robot import RobotDescription
from mnav_executor_geo.grid_search import cost_factors, find_path
from mnav_executor_geo.settings import PlannerSettings
from mnav_perception.mapping.costmap import InflationSettings, inflate

PAIRS, FOOTPRINT_PAIRS = 200, 100
TOLERANCE_PERCENT = 2.0
# Pairs share their starts, so that the reference is searched once a start.
GOALS_A_START = 5
LARGE_CELLS, GOALS_A_START_LARGE = 1_000_000, 25


@dataclass(frozen=True)
class Agreement:
    """How the planner stands to the reference over pairs: equal verdicts, and the worst excess cost in percent."""

    pairs: int
    reachable: int
    same_verdict: int
    within: int
    worst_percent: float


def check_map(name: str, foreign: ForeignMap, robot: RobotDescription, reference: ReferenceCosts) -> list[FigureRow]:
    """Rows of one map: plain pairs with one cell of clearance, and pairs with the robot's footprint."""
    grid = foreign.in_map_axes()
    notes = "; ".join(foreign.warnings)
    rows = []
    for label, count, costmap in (
        ("one cell of clearance", PAIRS, clearance_costmap(grid)),
        (f"footprint of {robot.name}", FOOTPRINT_PAIRS, footprint_costmap(grid, robot)),
    ):
        title = f"{name}: {count} pairs, {label}"
        pairs = draw_pairs(costmap, count, name)
        if len(pairs) < count:
            rows.append(skipped(title, f"{_standable(costmap).sum()} cells to stand on; {notes}".rstrip("; ")))
            continue
        agreement = compare(costmap, pairs, reference)
        detail = f"{agreement.reachable} reachable, worst cost {agreement.worst_percent:+.2f} %"
        rows.append(
            at_least(
                f"{title}, same verdict and cost within {TOLERANCE_PERCENT:g} %",
                100.0 * agreement.within / agreement.pairs,
                100.0,
                "%",
                "; ".join(part for part in (detail, notes) if part),
            )
        )
    return rows


def clearance_costmap(grid: GridMap) -> GridMap:
    """Cells next to an obstacle or unknown (8 neighbours) are inscribed; partly occupied cells cost more."""
    blocked = (grid.data == UNKNOWN) | (grid.data == LETHAL)
    grown = cv2.dilate(blocked.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    data = np.where(grown & ~blocked, INSCRIBED, _graded(grid.data))
    return replace(grid, data=np.where(blocked, grid.data, data).astype(np.int8))


def footprint_costmap(grid: GridMap, robot: RobotDescription) -> GridMap:
    """The costmap that the robot would drive on."""
    data = np.where(grid.data == LETHAL, LETHAL, np.where(grid.data == UNKNOWN, UNKNOWN, 0)).astype(np.int8)
    cost = inflate(data, grid.resolution, robot.inscribed_radius, robot.circumscribed_radius, InflationSettings())
    graded = np.where((cost >= 0) & (cost < INSCRIBED), np.maximum(cost, _graded(grid.data)), cost)
    return replace(grid, data=graded.astype(np.int8))


def draw_pairs(costmap: GridMap, count: int, salt: str) -> list[tuple[Cell, Cell]]:
    """`count` random pairs of cells that can be stood on, none where there are fewer than two."""
    rows, columns = np.nonzero(_standable(costmap))
    if len(rows) < 2:
        return []
    rng = generator("foreign map pairs", salt)
    goals_each = GOALS_A_START_LARGE if costmap.data.size > LARGE_CELLS else GOALS_A_START
    pairs = []
    for _ in range(-(-count // goals_each)):
        start, *goals = rng.integers(0, len(rows), goals_each + 1)
        pairs += [((int(rows[start]), int(columns[start])), (int(rows[g]), int(columns[g]))) for g in goals]
    return list(islice(pairs, count))


def compare(costmap: GridMap, pairs: Sequence[tuple[Cell, Cell]], reference: ReferenceCosts) -> Agreement:
    """Plan every pair and hold it against the reference on the same costs."""
    weight = PlannerSettings().cost_weight
    costs = np.where(_standable(costmap), cost_factors(weight)[costmap.data.astype(int) + 1], -1.0).astype(float)
    same, within, reachable, worst = 0, 0, 0, 0.0
    by_start: dict[Cell, list[Cell]] = {}
    for start, goal in pairs:
        by_start.setdefault(start, []).append(goal)
    for start, goals in by_start.items():
        (field,) = reference.costs_from(costs, [start])
        for goal in goals:
            path = find_path(costmap, start, goal, weight, 0.0)
            best = float(field[goal]) * costmap.resolution
            found = np.isfinite(best)
            reachable += int(found)
            if found != (path is not None):
                continue
            same += 1
            if path is None or best == 0.0:
                within += 1
                continue
            excess = 100.0 * (path.cost_m / best - 1.0)
            worst = max(worst, excess, key=abs)
            within += int(abs(excess) <= TOLERANCE_PERCENT)
    return Agreement(len(pairs), reachable, same, within, worst)


def _standable(costmap: GridMap) -> NDArray[np.bool_]:
    return np.asarray((costmap.data >= 0) & (costmap.data < INSCRIBED))


def _graded(data: NDArray[np.int8]) -> NDArray[np.int8]:
    """Partly occupied cells (1..99) as graded cost (1..98)."""
    return np.clip(data, 0, INSCRIBED - 1).astype(np.int8)
