"""Search over place and heading in a small window, for where the footprint's shape decides whether there is a way."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.maps import LETHAL, GridMap
from mnav_executor_geo.compiled import kernel
from mnav_executor_geo.footprint import hits
from mnav_executor_geo.grid_search import cost_factors
from mnav_executor_geo.settings import ManeuverSettings

Array = NDArray[np.float64]
HEADINGS = 16
# Cell steps whose directions are the headings, counter-clockwise from east.
_STEPS = np.array(
    [(1, 0), (2, 1), (1, 1), (1, 2), (0, 1), (-1, 2), (-1, 1), (-2, 1),
     (-1, 0), (-2, -1), (-1, -1), (-1, -2), (0, -1), (1, -2), (1, -1), (2, -1)],
    np.int64,
)  # fmt: skip
_ANGLES = np.arctan2(_STEPS[:, 1], _STEPS[:, 0]).astype(float)
_MOST_EXPANDED = 60_000
# How much dearer a step is that leaves less room than wished.
_SCRAPE_FACTOR = 2.0


class LegKind(IntEnum):
    """How a leg is driven."""

    ROTATE = 0
    FORWARD = 1
    BACKWARD = 2


@dataclass(frozen=True)
class Leg:
    """One leg of a maneuver: to (x, y) of `map` in a straight line, or to heading `yaw` in place, turning by `turn`."""

    kind: LegKind
    x: float
    y: float
    yaw: float
    turn: float = 0.0


@kernel
def _touched(
    known: NDArray[np.int16], cost: NDArray[np.int8], resolution: float, points: Array,
    row: float, column: float, yaw: float, index: int,
) -> int:  # fmt: skip
    """Lethal outline points at a cell (fractional) and heading; remembered by index where that is not negative."""
    if index >= 0 and known[index] >= 0:
        return int(known[index])
    count = hits(cost, 0.0, 0.0, resolution, points, (column + 0.5) * resolution, (row + 0.5) * resolution, yaw)
    if index >= 0:
        known[index] = count
    return count


@kernel
def _lattice(
    cost: NDArray[np.int8], factor: NDArray[np.float32], steps: NDArray[np.int64], angles: Array, resolution: float,
    points: Array, roomy: Array, start: tuple[int, int, int], bounds: tuple[int, int, int, int], goal_row: float, goal_column: float, within: float,
    goal_heading: int, back_factor: float, turn_cost: float, most: int,
) -> tuple[NDArray[np.int32], int]:  # fmt: skip
    """Parents of the visited states and the goal state, -1 when none was found. Costs in cells of free space."""
    rows, columns = cost.shape
    layer = rows * columns
    count = layer * 16
    g = np.full(count, np.inf, np.float32)
    parent = np.full(count, -1, np.int32)
    done = np.zeros(count, np.bool_)
    known = np.full(count, -1, np.int16)
    first = start[2] * layer + start[0] * columns + start[1]
    g[first] = 0.0
    queue = [(0.0, first)]
    expanded = 0
    while len(queue) > 0 and expanded < most:
        state = heapq.heappop(queue)[1]
        if done[state]:
            continue
        done[state] = True
        expanded += 1
        k, row, column = state // layer, (state % layer) // columns, state % columns
        away = math.sqrt((row - goal_row) ** 2 + (column - goal_column) ** 2)
        if away <= within and (goal_heading < 0 or goal_heading == k):
            return parent, state
        touched = _touched(known, cost, resolution, points, float(row), float(column), angles[k], state)
        here = factor[cost[row, column] + 1]
        for move in range(4):
            r, c, heading = row, column, k
            if move < 2:
                sign = 1 if move == 0 else -1
                r, c = row + sign * steps[k, 1], column + sign * steps[k, 0]
                if r < bounds[0] or c < bounds[2] or r >= bounds[1] or c >= bounds[3] or cost[r, c] < 0 or cost[r, c] == 100:
                    continue
                length = math.sqrt(float(steps[k, 0] ** 2 + steps[k, 1] ** 2))
                price = length * 0.5 * (here + factor[cost[r, c] + 1]) * (1.0 if move == 0 else back_factor)
                middle = angles[k]
            else:
                sign = 1 if move == 2 else -1
                heading = (k + sign) % 16
                price = turn_cost
                middle = angles[k] + 0.5 * ((angles[heading] - angles[k] + math.pi) % (2.0 * math.pi) - math.pi)
            to = heading * layer + r * columns + c
            if done[to] or g[state] + price >= g[to]:
                continue
            # Where the footprint already touches something, it may only touch less from step to step.
            if _touched(known, cost, resolution, points, float(r), float(c), angles[heading], to) > touched:
                continue
            if _touched(known, cost, resolution, points, 0.5 * (row + r), 0.5 * (column + c), middle, -1) > touched:
                continue
            x, y = (c + 0.5) * resolution, (r + 0.5) * resolution
            if hits(cost, 0.0, 0.0, resolution, roomy, x, y, angles[heading]) > 0:
                price *= _SCRAPE_FACTOR
                if g[state] + price >= g[to]:
                    continue
            g[to] = g[state] + price
            parent[to] = state
            ahead = max(0.0, math.sqrt((r - goal_row) ** 2 + (c - goal_column) ** 2) - within)
            heapq.heappush(queue, (g[to] + ahead, to))
    return parent, -1


def find_maneuver(
    costmap: GridMap,
    points: Array,
    roomy: Array,
    pose: SE2,
    goal: tuple[float, float],
    within_m: float,
    yaw: float | None,
    cost_weight: float,
    settings: ManeuverSettings,
) -> tuple[Leg, ...] | None:
    """Legs that bring the base within `within_m` of a place, with heading `yaw` unless None; None when there are none.

    `points` (N, 2) is the outline of the footprint; no step of a leg makes it touch more lethal cells. Steps at which a
    wider outline, `roomy`, touches some are dearer. Searches 16 headings on the cells around the base.
    """
    crop, bounds = _crop(costmap, pose, settings.window_m, float(np.hypot(*roomy.T).max()))
    start, target = crop.to_cell(pose.x, pose.y), crop.to_cell(*goal)
    if not crop.contains(*start) or not crop.contains(*target) or int(crop.data[start]) == LETHAL:
        return None
    data = np.ascontiguousarray(crop.data)
    heading = nearest_heading(pose.yaw)
    parent, end = _lattice(
        data, cost_factors(cost_weight), _STEPS, _ANGLES, crop.resolution, points, roomy, (*start, heading), bounds,
        (goal[1] - crop.origin[1]) / crop.resolution - 0.5, (goal[0] - crop.origin[0]) / crop.resolution - 0.5,
        within_m / crop.resolution, -1 if yaw is None else nearest_heading(yaw), settings.back_factor,
        settings.turn_cost_m / crop.resolution, _MOST_EXPANDED,
    )  # fmt: skip
    return None if end < 0 else _to_legs(crop, pose, parent, end)


def nearest_heading(yaw: float) -> int:
    """Index of the heading nearest to a yaw."""
    return int(np.argmin(np.abs(np.angle(np.exp(1j * (_ANGLES - yaw))))))


def _crop(
    costmap: GridMap, pose: SE2, half_m: float, margin_m: float
) -> tuple[GridMap, tuple[int, int, int, int]]:
    """The costmap around a pose, and the rows and columns of it (begin, end, begin, end) that the base may be in."""
    row, column = costmap.to_cell(pose.x, pose.y)
    half, margin = math.ceil(half_m / costmap.resolution), math.ceil(margin_m / costmap.resolution) + 1
    r0, c0 = max(0, row - half - margin), max(0, column - half - margin)
    data = costmap.data[r0 : max(r0, row + half + margin + 1), c0 : max(c0, column + half + margin + 1)]
    origin = (costmap.origin[0] + c0 * costmap.resolution, costmap.origin[1] + r0 * costmap.resolution)
    rows = (max(0, row - half) - r0, min(costmap.shape[0], row + half + 1) - r0)
    columns = (max(0, column - half) - c0, min(costmap.shape[1], column + half + 1) - c0)
    return GridMap(costmap.stamp_s, costmap.resolution, origin, data), (*rows, *columns)


def _to_legs(crop: GridMap, pose: SE2, parent: NDArray[np.int32], end: int) -> tuple[Leg, ...]:
    rows, columns = crop.shape
    layer = rows * columns
    states = [end]
    while parent[states[-1]] >= 0:
        states.append(int(parent[states[-1]]))
    states.reverse()
    first = _ANGLES[states[0] // layer]
    legs = [Leg(LegKind.ROTATE, pose.x, pose.y, float(first), wrap_angle(float(first) - pose.yaw))]
    for a, b in zip(states[:-1], states[1:], strict=True):
        x, y = crop.to_point(b % layer // columns, b % columns)
        yaw, before = float(_ANGLES[b // layer]), float(_ANGLES[a // layer])
        if a // layer != b // layer:
            kind, turn = LegKind.ROTATE, wrap_angle(yaw - before)
        else:
            ox, oy = crop.to_point(a % layer // columns, a % columns)
            ahead = (x - ox) * math.cos(yaw) + (y - oy) * math.sin(yaw) > 0.0
            kind, turn = (LegKind.FORWARD if ahead else LegKind.BACKWARD), 0.0
        last = legs[-1]
        if last.kind is kind and (kind is not LegKind.ROTATE or last.turn * turn >= 0.0):
            legs[-1] = Leg(kind, x, y, yaw, last.turn + turn)
        else:
            legs.append(Leg(kind, x, y, yaw, turn))
    return tuple(leg for leg in legs if leg.kind is not LegKind.ROTATE or abs(leg.turn) > 0.05)
