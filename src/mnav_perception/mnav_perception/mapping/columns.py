"""What each column of voxels means to one robot: free, occupied, unknown, and what blocks a camera."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import FREE, LETHAL, UNKNOWN
from mnav_core.robot import Traversal
from mnav_perception.compiled import compiled
from mnav_perception.mapping.voxels import BLOCK, CELLS, COLUMNS_STALE, VoxelArrays, VoxelMap, VoxelSettings


@dataclass(frozen=True)
class ColumnRule:
    """Layers of a column as the robot meets them: [0, body) is driven over, [body, head) hit, above passed under.

    A column is known free when a ray went through below `evidence` or met the floor. The lowest hit layer needs
    `low_from`, more than one hit, so that a noisy floor is no obstacle.
    """

    body: int
    head: int
    evidence: int
    floor: int
    occupied_from: int
    low_from: int

    @classmethod
    def of(cls, settings: VoxelSettings, traversal: Traversal, evidence_height_m: float) -> ColumnRule:
        """The rule for one robot. A voxel is an obstacle when its centre is above the climbable step."""
        above_floor = math.floor(traversal.climb_m / settings.resolution + 0.5 + 1e-9)
        body = min(max(above_floor - settings.z_key_min, 0), settings.layers)
        head = min(math.ceil(traversal.height_m / settings.resolution - 1e-9) - settings.z_key_min, settings.layers)
        evidence = min(settings.layer_of(evidence_height_m), head)
        if not body < evidence <= head:
            raise ValueError(
                f"traversal climb_m, height_m = {traversal.climb_m}, {traversal.height_m}, allowed: climb_m below "
                f"{evidence_height_m} and height_m, both inside {settings.z_min} to {settings.z_max}"
            )
        low_from = min(settings.occupied_from + settings.hit // 2 + 1, settings.log_odds_max)
        return cls(body, head, evidence, -settings.z_key_min, settings.occupied_from, low_from)


@compiled
def _summarise(
    a: VoxelArrays,
    layers: int,
    body: int,
    head: int,
    evidence: int,
    floor: int,
    occupied_from: int,
    low_from: int,
) -> int:
    done = 0
    for slot in range(a.block_flags.shape[0]):
        if a.block_flags[slot] & COLUMNS_STALE == 0:
            continue
        a.block_flags[slot] &= ~np.uint8(COLUMNS_STALE)
        done += 1
        for cell in range(CELLS):
            start = (slot * CELLS + cell) * layers
            low, top, state = -1, 0, UNKNOWN
            for layer in range(body):
                if a.log_odds[start + layer] != 0:
                    state = FREE
                    break
            if state == UNKNOWN:
                for layer in range(body, evidence):
                    if a.log_odds[start + layer] < 0:
                        state = FREE
                        break
            for layer in range(floor + 1, layers):
                value = a.log_odds[start + layer]
                if value < occupied_from or (layer <= body and value < low_from):
                    continue
                if low < 0:
                    low = layer
                top = layer + 1
                if body <= layer < head:
                    state = LETHAL
            # Unseen voxels under an obstacle belong to it: a wall stands on the floor.
            while low > floor and a.log_odds[start + low - 1] == 0:
                low -= 1
            a.state[slot, cell] = state
            a.low[slot, cell] = max(low, 0)
            a.top[slot, cell] = top
    return done


def summarise_columns(voxels: VoxelMap, rule: ColumnRule) -> int:
    """Bring `state`, `low` and `top` up to date where voxels changed; returns the number of blocks done."""
    return _summarise(
        voxels.arrays,
        voxels.settings.layers,
        rule.body,
        rule.head,
        rule.evidence,
        rule.floor,
        rule.occupied_from,
        rule.low_from,
    )


@compiled
def _assemble(
    a: VoxelArrays,
    slots: NDArray[np.intp],
    block_x0: int,
    block_y0: int,
    state: NDArray[np.int8],
    inspected: NDArray[np.uint8],
) -> None:
    for k in range(slots.shape[0]):
        slot = slots[k]
        x0, y0 = (a.slot_xy[slot, 0] - block_x0) * BLOCK, (a.slot_xy[slot, 1] - block_y0) * BLOCK
        for cell in range(CELLS):
            row, column = y0 + cell // BLOCK, x0 + cell % BLOCK
            state[row, column] = a.state[slot, cell]
            inspected[row, column] = a.inspected[slot, cell]


def assemble_grids(voxels: VoxelMap) -> tuple[tuple[int, int], NDArray[np.int8], NDArray[np.uint8]]:
    """Cell key (x, y) of the corner, occupancy (H, W) and inspected (H, W) over the blocks in use."""
    slots = voxels.used_slots()
    if not len(slots):
        return (0, 0), np.zeros((0, 0), np.int8), np.zeros((0, 0), np.uint8)
    blocks = voxels.arrays.slot_xy[slots]
    x0, y0 = (int(v) for v in blocks.min(axis=0))
    x1, y1 = (int(v) for v in blocks.max(axis=0))
    shape = ((y1 - y0 + 1) * BLOCK, (x1 - x0 + 1) * BLOCK)
    state, inspected = np.full(shape, UNKNOWN, np.int8), np.zeros(shape, np.uint8)
    _assemble(voxels.arrays, slots, x0, y0, state, inspected)
    return (x0 * BLOCK, y0 * BLOCK), state, inspected
