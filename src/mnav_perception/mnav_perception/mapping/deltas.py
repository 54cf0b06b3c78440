"""Changed voxels out of one map and into another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import VoxelDelta
from mnav_perception.compiled import compiled
from mnav_perception.mapping.voxels import (
    BLOCK,
    BLOCK_SHIFT,
    CELLS,
    COLUMNS_STALE,
    DELTA_PENDING,
    FORGOTTEN_LIMIT,
    HALF_TABLE,
    VoxelArrays,
    VoxelMap,
    slot_of,
)


@compiled
def _collect(
    a: VoxelArrays,
    words: NDArray[np.uint64],
    layers: int,
    z_key_min: int,
    keys: NDArray[np.int32],
    out: NDArray[np.int8],
) -> int:
    """Write dirty voxels to `keys` and `out` until they are full; what does not fit stays dirty."""
    count, size = 0, CELLS * layers
    for slot in range(a.block_flags.shape[0]):
        if a.block_flags[slot] & DELTA_PENDING == 0:
            continue
        for word in range(slot * size // 8, (slot + 1) * size // 8):
            if words[word] == 0:
                continue
            for index in range(word * 8, word * 8 + 8):
                if a.dirty[index] == 0:
                    continue
                if count == out.shape[0]:
                    return count
                a.dirty[index] = 0
                local = index - slot * size
                cell = local // layers
                keys[count, 0] = a.slot_xy[slot, 0] * BLOCK + cell % BLOCK
                keys[count, 1] = a.slot_xy[slot, 1] * BLOCK + cell // BLOCK
                keys[count, 2] = local % layers + z_key_min
                out[count] = a.log_odds[index]
                count += 1
        a.block_flags[slot] &= ~np.uint8(DELTA_PENDING)
    return count


@compiled
def _count_dirty(a: VoxelArrays, words: NDArray[np.uint64], layers: int) -> int:
    count, size = 0, CELLS * layers
    for slot in range(a.block_flags.shape[0]):
        if a.block_flags[slot] & DELTA_PENDING == 0:
            continue
        for word in range(slot * size // 8, (slot + 1) * size // 8):
            if words[word] != 0:
                for index in range(word * 8, word * 8 + 8):
                    count += a.dirty[index]
    return count


@compiled
def _write(
    a: VoxelArrays,
    layers: int,
    z_key_min: int,
    lowest: int,
    highest: int,
    keys: NDArray[np.int32],
    values: NDArray[np.int8],
) -> int:
    written = 0
    for k in range(values.shape[0]):
        layer = keys[k, 2] - z_key_min
        if layer < 0 or layer >= layers:
            continue
        block_x, block_y = keys[k, 0] >> BLOCK_SHIFT, keys[k, 1] >> BLOCK_SHIFT
        slot = slot_of(a, block_x, block_y, values[k] != 0)
        if slot < 0:
            continue
        index = (slot * CELLS + (keys[k, 1] & (BLOCK - 1)) * BLOCK + (keys[k, 0] & (BLOCK - 1))) * layers + layer
        value = min(max(values[k], lowest), highest)
        if a.log_odds[index] != value:
            a.log_odds[index] = value
            a.dirty[index] = 1
            a.block_flags[slot] |= COLUMNS_STALE | DELTA_PENDING
        written += 1
    return written


@dataclass
class DeltaWriter:
    """Takes deltas from one map. The first one, and the first after `restart`, holds the whole map as sequence 0."""

    sequence: int = 0

    def restart(self) -> None:
        """Send the whole map next."""
        self.sequence = 0

    def take(self, voxels: VoxelMap, stamp_s: float, max_voxels: int | None = None) -> VoxelDelta:
        """What changed since the last delta; with `max_voxels`, at most so many and the rest in the next ones."""
        if max_voxels is not None and max_voxels < 1:
            raise ValueError(f"max_voxels = {max_voxels}, allowed: at least 1")
        if voxels.forgotten_count > FORGOTTEN_LIMIT:
            self.restart()
        if self.sequence == 0:
            _mark_everything(voxels)
            voxels.forgotten, voxels.forgotten_count = [], 0
        limit = max_voxels if max_voxels is not None else 2**62
        forgotten = np.concatenate([np.zeros((0, 3), np.int32), *voxels.forgotten])
        taken, rest = forgotten[:limit], forgotten[limit:]
        voxels.forgotten, voxels.forgotten_count = ([rest] if len(rest) else []), len(rest)
        a, settings = voxels.arrays, voxels.settings
        words = a.dirty.view(np.uint64)
        # A voxel forgotten and seen again must come after its forgetting: nothing else while some of that is left.
        room = 0 if len(rest) else min(limit - len(taken), _count_dirty(a, words, settings.layers))
        keys, values = np.zeros((room, 3), np.int32), np.zeros(room, np.int8)
        if room:
            _collect(a, words, settings.layers, settings.z_key_min, keys, values)
        delta = VoxelDelta(
            stamp_s,
            self.sequence,
            settings.resolution,
            np.concatenate([taken, keys]),
            np.concatenate([np.zeros(len(taken), np.int8), values]),
        )
        self.sequence += 1
        return delta


class DeltaOutcome(Enum):
    """What became of a delta. After GAP nothing is applied until a delta with sequence 0 comes."""

    APPLIED = "applied"
    RESTARTED = "restarted"
    GAP = "gap"


@dataclass
class DeltaReader:
    """Rebuilds a map from the deltas of one writer."""

    voxels: VoxelMap
    next_sequence: int | None = None

    def apply(self, delta: VoxelDelta) -> DeltaOutcome:
        """Apply a delta in order. Raises ValueError for another resolution or arrays that do not fit together."""
        if delta.sequence != 0 and delta.sequence != self.next_sequence:
            self.next_sequence = None
            return DeltaOutcome.GAP
        outcome = DeltaOutcome.APPLIED
        if delta.sequence == 0:
            self.voxels.clear()
            outcome = DeltaOutcome.RESTARTED
        write_voxels(self.voxels, delta)
        self.next_sequence = delta.sequence + 1
        return outcome


def write_voxels(voxels: VoxelMap, delta: VoxelDelta) -> int:
    """Set the voxels of a delta, in order; returns how many lie in the map's heights.

    Raises ValueError for another resolution, arrays that do not fit together, or more blocks than the map may hold.
    """
    if abs(delta.resolution - voxels.settings.resolution) > 1e-9:
        raise ValueError(f"resolution = {delta.resolution}, allowed: {voxels.settings.resolution}")
    keys = np.ascontiguousarray(delta.keys, np.int32)
    values = np.ascontiguousarray(delta.log_odds, np.int8)
    if keys.ndim != 2 or keys.shape[1] != 3 or values.shape != (keys.shape[0],):
        raise ValueError(f"keys, log_odds = {keys.shape}, {values.shape}, allowed: (N, 3) and (N,)")
    if not len(keys):
        return 0
    # Blocks of outlandish keys lie outside the table and are left out by the kernel.
    blocks = np.unique((keys[values != 0, :2] >> BLOCK_SHIFT).astype(np.int32), axis=0)
    blocks = blocks[(np.abs(blocks + 0.5) < HALF_TABLE).all(axis=1)] + HALF_TABLE
    missing = int((voxels.arrays.table[blocks[:, 1], blocks[:, 0]] < 0).sum())
    middle = (keys[:, :2].mean(axis=0) + 0.5) * voxels.settings.resolution
    voxels.reserve(missing, float(middle[0]), float(middle[1]))
    s = voxels.settings
    return _write(voxels.arrays, s.layers, s.z_key_min, s.log_odds_min, s.log_odds_max, keys, values)


def _mark_everything(voxels: VoxelMap) -> None:
    a = voxels.arrays
    a.dirty[:] = a.log_odds != 0
    a.block_flags[voxels.used_slots()] |= DELTA_PENDING
