"""Search over place and heading in a small window, for where the footprint's shape decides whether there is a way."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.maps import GridMap
from mnav_executor_geo.compiled import kernel
from mnav_executor_geo.footprint import hits, sweep_clear
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
_MOST_EXPANDED = 150_000
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
    known: NDArray[np.int16], cost: NDArray[np.int8], grid: tuple[float, float, float], points: Array,
    x: float, y: float, yaw: float, index: int,
) -> int:  # fmt: skip
    """Lethal outline points at a pose; remembered by index where that is not negative."""
    if index >= 0 and known[index] >= 0:
        return int(known[index])
    count = hits(cost, grid[0], grid[1], grid[2], points, x, y, yaw)
    if index >= 0:
        known[index] = count
    return count


@kernel
def _place(frame: tuple[float, float, float, float], half: int, row: float, column: float) -> tuple[float, float]:
    """The place in `map` of a lattice point; the frame is (x, y, cos, sin), in metres a step of the lattice."""
    dx, dy = column - half, row - half
    return frame[0] + frame[2] * dx - frame[3] * dy, frame[1] + frame[3] * dx + frame[2] * dy


@kernel
def _value(cost: NDArray[np.int8], grid: tuple[float, float, float], x: float, y: float) -> int:
    r, c = int(math.floor((y - grid[1]) / grid[2])), int(math.floor((x - grid[0]) / grid[2]))
    if r < 0 or c < 0 or r >= cost.shape[0] or c >= cost.shape[1]:
        return -1
    return int(cost[r, c])


@kernel
def _lattice(
    cost: NDArray[np.int8], factor: NDArray[np.float32], steps: NDArray[np.int64], angles: Array,
    grid: tuple[float, float, float], points: Array, roomy: Array, frame: tuple[float, float, float, float],
    turned: float, half: int, headings: NDArray[np.int64], goal_x: float, goal_y: float, within: float,
    goal_heading: int, back_factor: float, turn_cost: float, most: int,
) -> tuple[NDArray[np.int32], int]:  # fmt: skip
    """Parents of the visited states and the goal state, -1 when none was found. Costs in metres of free space."""
    size = 2 * half + 1
    layer = size * size
    count = layer * 16
    g = np.full(count, np.inf, np.float32)
    parent = np.full(count, -1, np.int32)
    done = np.zeros(count, np.bool_)
    known = np.full(count, -1, np.int16)
    queue = [(0.0, headings[0] * layer + half * size + half)]
    for heading in headings:
        first = heading * layer + half * size + half
        g[first] = 0.0
        heapq.heappush(queue, (0.0, first))
    expanded = 0
    while len(queue) > 0 and expanded < most:
        state = heapq.heappop(queue)[1]
        if done[state]:
            continue
        done[state] = True
        expanded += 1
        k, row, column = state // layer, (state % layer) // size, state % size
        x, y = _place(frame, half, row, column)
        away = math.sqrt((x - goal_x) ** 2 + (y - goal_y) ** 2)
        if away <= within and (goal_heading < 0 or goal_heading == k):
            return parent, state
        touched = _touched(known, cost, grid, points, x, y, angles[k] + turned, state)
        here = factor[_value(cost, grid, x, y) + 1]
        for move in range(4):
            r, c, to_heading = row, column, k
            if move < 2:
                sign = 1 if move == 0 else -1
                r, c = row + sign * steps[k, 1], column + sign * steps[k, 0]
                if r < 0 or c < 0 or r >= size or c >= size:
                    continue
                length = grid[2] * math.sqrt(float(steps[k, 0] ** 2 + steps[k, 1] ** 2))
                price = length * (1.0 if move == 0 else back_factor)
                middle = angles[k]
            else:
                to_heading = (k + (1 if move == 2 else -1)) % 16
                price = turn_cost
                middle = angles[k] + 0.5 * ((angles[to_heading] - angles[k] + math.pi) % (2.0 * math.pi) - math.pi)
            to = to_heading * layer + r * size + c
            if done[to]:
                continue
            tx, ty = _place(frame, half, r, c)
            value = _value(cost, grid, tx, ty)
            if value < 0 or value == 100:
                continue
            if move < 2:
                price *= 0.5 * (here + factor[value + 1])
            if g[state] + price >= g[to]:
                continue
            # Where the footprint already touches something, it may only touch less from step to step.
            if _touched(known, cost, grid, points, tx, ty, angles[to_heading] + turned, to) > touched:
                continue
            if _touched(known, cost, grid, points, 0.5 * (x + tx), 0.5 * (y + ty), middle + turned, -1) > touched:
                continue
            if hits(cost, grid[0], grid[1], grid[2], roomy, tx, ty, angles[to_heading] + turned) > 0:
                price *= _SCRAPE_FACTOR
                if g[state] + price >= g[to]:
                    continue
            g[to] = g[state] + price
            parent[to] = state
            ahead = max(0.0, math.sqrt((tx - goal_x) ** 2 + (ty - goal_y) ** 2) - within)
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
    wider outline, `roomy`, touches some are dearer. Searches 16 headings on a lattice that begins at the base, aligned
    with the map (walls mostly are) and, where the base cannot turn to a heading of that, with the base.
    """
    starts = [
        k for k in range(HEADINGS) if abs(turn := wrap_angle(float(_ANGLES[k]) - pose.yaw)) < 0.5
        and sweep_clear(costmap, points, pose, turn) >= abs(turn)
    ]  # fmt: skip
    nearest = nearest_heading(pose.yaw)
    frames = [(0.0, starts)] if starts else []
    for turned, headings in [*frames, (wrap_angle(pose.yaw - float(_ANGLES[nearest])), [nearest])]:
        legs = _find(costmap, points, roomy, pose, turned, headings, goal, within_m, yaw, cost_weight, settings)
        if legs is not None:
            return legs
    return None


def _find(
    costmap: GridMap,
    points: Array,
    roomy: Array,
    pose: SE2,
    turned: float,
    headings: list[int],
    goal: tuple[float, float],
    within_m: float,
    yaw: float | None,
    cost_weight: float,
    settings: ManeuverSettings,
) -> tuple[Leg, ...] | None:
    """Legs on the lattice that is turned by `turned` against the map, from any of the headings."""
    half = math.ceil(settings.window_m / costmap.resolution)
    step = costmap.resolution
    frame = (pose.x, pose.y, step * math.cos(turned), step * math.sin(turned))
    parent, end = _lattice(
        np.ascontiguousarray(costmap.data), cost_factors(cost_weight), _STEPS, _ANGLES, (*costmap.origin, step),
        points, roomy, frame, turned, half, np.array(headings), goal[0], goal[1], within_m,
        -1 if yaw is None else nearest_heading(yaw - turned),
        settings.back_factor, settings.turn_cost_m, _MOST_EXPANDED,
    )  # fmt: skip
    return None if end < 0 else _to_legs(pose, parent, end, frame, turned, half)


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


def _to_legs(
    pose: SE2, parent: NDArray[np.int32], end: int, frame: tuple[float, float, float, float], turned: float, half: int
) -> tuple[Leg, ...]:
    size = 2 * half + 1
    layer = size * size
    states = [end]
    while parent[states[-1]] >= 0:
        states.append(int(parent[states[-1]]))
    states.reverse()
    first = wrap_angle(float(_ANGLES[states[0] // layer]) + turned)
    legs = [Leg(LegKind.ROTATE, pose.x, pose.y, first, wrap_angle(first - pose.yaw))]
    for a, b in pairwise(states):
        x, y = _place(frame, half, b % layer // size, b % size)
        yaw, before = float(_ANGLES[b // layer]), float(_ANGLES[a // layer])
        turn = wrap_angle(yaw - before)
        yaw = wrap_angle(yaw + turned)
        kind = LegKind.ROTATE
        if a // layer == b // layer:
            ox, oy = _place(frame, half, a % layer // size, a % size)
            ahead = (x - ox) * math.cos(yaw) + (y - oy) * math.sin(yaw) > 0.0
            kind = LegKind.FORWARD if ahead else LegKind.BACKWARD
        if legs and legs[-1].kind is kind and legs[-1].turn * turn >= 0.0:
            legs[-1] = Leg(kind, x, y, yaw, legs[-1].turn + turn)
        else:
            legs.append(Leg(kind, x, y, yaw, turn))
    return tuple(legs)
