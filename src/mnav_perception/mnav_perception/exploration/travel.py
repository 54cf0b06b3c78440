"""Travel cost from a pose to every cell of a costmap."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import INSCRIBED, LETHAL, GridMap
from mnav_perception.compiled import compiled

# Integer lengths, so that a circular bucket queue orders the search exactly: 70 and 99 are octile within 0.01 %.
STRAIGHT, DIAGONAL = 70, 99


@dataclass(frozen=True)
class TravelSettings:
    """`cost_weight`: what a metre into cost 98 costs on top, metres. `escape_m`: how far through inflation."""

    cost_weight: float = 2.0
    escape_m: float = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError naming the setting, its value and what is allowed."""
        if not 0.0 <= self.cost_weight <= 20.0:
            raise ValueError(f"cost_weight = {self.cost_weight}, allowed: 0 to 20")
        if not 0.0 <= self.escape_m <= 5.0:
            raise ValueError(f"escape_m = {self.escape_m}, allowed: 0 to 5")


@compiled
def _search(
    cost: NDArray[np.int8], start_row: int, start_column: int, weight: float, escape_cells: float
) -> NDArray[np.int32]:
    """Integer path costs (H, W), -1 where not reached, by a circular bucket queue."""
    rows, columns = cost.shape
    factor = np.empty(128, np.int64)
    for c in range(128):
        factor[c] = round(STRAIGHT * weight * min(c, 98) / 98.0)
    buckets = 1
    while buckets <= (STRAIGHT + factor[98]) * 2:
        buckets *= 2
    head = np.full(buckets, -1, np.int32)
    entry_cell = np.empty(4096, np.int32)
    entry_next = np.empty(4096, np.int32)
    best = np.full(rows * columns, 2147483647, np.int32)
    done = np.zeros(rows * columns, np.uint8)
    start = start_row * columns + start_column
    best[start] = 0
    entry_cell[0], entry_next[0] = start, -1
    head[0] = 0
    entries, pending, now = 1, 1, 0
    escape_square = escape_cells * escape_cells
    while pending > 0:
        bucket = now & (buckets - 1)
        entry = head[bucket]
        if entry < 0:
            now += 1
            continue
        head[bucket] = entry_next[entry]
        pending -= 1
        cell = entry_cell[entry]
        if done[cell]:
            continue
        done[cell] = 1
        row, column = cell // columns, cell % columns
        # Only a start in inflation leads through inflation, and only near the start; nobody goes back into it.
        escaping = not 0 <= cost[row, column] < INSCRIBED
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                r, c = row + dr, column + dc
                if (dr == 0 and dc == 0) or not (0 <= r < rows and 0 <= c < columns):
                    continue
                target = r * columns + c
                if done[target]:
                    continue
                value = cost[r, c]
                if not 0 <= value < INSCRIBED:
                    if not escaping or value == LETHAL:
                        continue
                    if (r - start_row) ** 2 + (c - start_column) ** 2 > escape_square:
                        continue
                if dr != 0 and dc != 0:
                    side_a, side_b = cost[r, column], cost[row, c]
                    if side_a == LETHAL or side_b == LETHAL:
                        continue
                    if not escaping and not (0 <= side_a < INSCRIBED and 0 <= side_b < INSCRIBED):
                        continue
                unit = STRAIGHT + factor[value if value >= 0 else 98]
                length = unit if dr == 0 or dc == 0 else (unit * DIAGONAL + STRAIGHT // 2) // STRAIGHT
                total = best[cell] + length
                if total < best[target]:
                    best[target] = total
                    if entries == entry_cell.shape[0]:
                        grown_cell, grown_next = np.empty(2 * entries, np.int32), np.empty(2 * entries, np.int32)
                        grown_cell[:entries], grown_next[:entries] = entry_cell, entry_next
                        entry_cell, entry_next = grown_cell, grown_next
                    slot = total & (buckets - 1)
                    entry_cell[entries], entry_next[entries] = target, head[slot]
                    head[slot] = entries
                    entries += 1
                    pending += 1
    for cell in range(rows * columns):
        if not done[cell]:
            best[cell] = -1
    return best.reshape(rows, columns)


def travel_cost(costmap: GridMap, pose: SE2, settings: TravelSettings | None = None) -> NDArray[np.float32]:
    """Cost (H, W) float32 in metres of the cheapest octile path from `pose` to every cell, inf where there is none.

    A metre through cost c counts 1 + cost_weight * c / 98 metres. Never through lethal, inscribed or unknown cells and
    never across the corner of one, except to escape when the pose itself lies in such a cell.
    """
    used = settings or TravelSettings()
    row, column = costmap.to_cell(pose.x, pose.y)
    if not costmap.contains(row, column):
        return np.full(costmap.shape, math.inf, np.float32)
    steps = _search(
        np.ascontiguousarray(costmap.data), row, column, used.cost_weight, used.escape_m / costmap.resolution
    )
    metres = steps.astype(np.float32) * np.float32(costmap.resolution / STRAIGHT)
    metres[steps < 0] = np.inf
    return metres
