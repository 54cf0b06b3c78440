"""Voxel log-odds storage: a table of blocks over a bounded pool of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnav_perception.compiled import compiled
from mnav_perception.mapping.raycast import ScanWindow

BLOCK = 32  # cells a side of one block
BLOCK_SHIFT = 5
CELLS = BLOCK * BLOCK
TABLE = 256  # blocks a side of the table, centred on the origin of `map`
HALF_TABLE = TABLE // 2

# Bits of a block's flag byte.
COLUMNS_STALE, DELTA_PENDING = 1, 2

FORGOTTEN_LIMIT = 1_000_000


@dataclass(frozen=True)
class VoxelSettings:
    """Geometry and evidence of the voxel map. Heights in metres of `map`, evidence in log-odds steps (int8).

    With the defaults a new hit is an obstacle at once, the surest obstacle is gone after three scans that see through
    it, and the surest free voxel is an obstacle after two hits.
    """

    resolution: float = 0.05
    z_min: float = -0.3
    z_max: float = 2.2
    max_blocks: int = 1024
    hit: int = 16
    miss: int = 8
    log_odds_max: int = 32
    log_odds_min: int = -20
    occupied_from: int = 10
    max_range_m: float = 8.0

    def __post_init__(self) -> None:
        """Raise ValueError naming the setting, its value and what is allowed."""
        if not self.resolution > 0.0:
            raise ValueError(f"resolution = {self.resolution}, allowed: above 0")
        for name, value in (("z_min", self.z_min), ("z_max", self.z_max)):
            if abs(value / self.resolution - round(value / self.resolution)) > 1e-6:
                raise ValueError(f"{name} = {value}, allowed: multiples of resolution {self.resolution}")
        if not 1 <= self.layers <= 127:
            raise ValueError(f"z_max = {self.z_max}, allowed: 1 to 127 layers above z_min = {self.z_min}")
        if not (0 < self.hit <= 60 and 0 < self.miss <= 60):
            raise ValueError(f"hit, miss = {self.hit}, {self.miss}, allowed: 1 to 60")
        if not -60 <= self.log_odds_min < 0 < self.occupied_from <= self.log_odds_max <= 60:
            raise ValueError(
                f"log_odds_min, occupied_from, log_odds_max = {self.log_odds_min}, {self.occupied_from}, "
                f"{self.log_odds_max}, allowed: -60 <= min < 0 < occupied_from <= max <= 60"
            )
        if not 0.0 < self.max_range_m <= 100.0:
            raise ValueError(f"max_range_m = {self.max_range_m}, allowed: above 0, at most 100")
        if self.max_blocks < 2 * self.blocks_per_scan:
            raise ValueError(f"max_blocks = {self.max_blocks}, allowed: at least {2 * self.blocks_per_scan}")

    @property
    def layers(self) -> int:
        """Number of voxels in one column."""
        return round((self.z_max - self.z_min) / self.resolution)

    @property
    def z_key_min(self) -> int:
        """Key of the lowest layer: floor(z / resolution)."""
        return round(self.z_min / self.resolution)

    @property
    def range_cells(self) -> int:
        """Longest ray in voxels."""
        return math.ceil(self.max_range_m / self.resolution)

    @property
    def blocks_per_scan(self) -> int:
        """Most blocks that one scan can touch."""
        reach = math.ceil(self.max_range_m / (BLOCK * self.resolution))
        return (2 * reach + 2) ** 2

    def layer_of(self, z: float) -> int:
        """Layer that holds height `z`, clamped to the column."""
        return min(max(math.floor(z / self.resolution + 1e-9) - self.z_key_min, 0), self.layers)


class VoxelArrays(NamedTuple):
    """The arrays that kernels work on; C = capacity in blocks, L = layers. Voxel index: (slot, row, column, layer)."""

    table: NDArray[np.int32]  # (TABLE, TABLE) slot of a block by (y, x), -1 where there is none
    log_odds: NDArray[np.int8]  # (C * CELLS * L,), 0 = never seen
    dirty: NDArray[np.uint8]  # same shape, 1 where changed since the last delta
    slot_xy: NDArray[np.int32]  # (C, 2) block coordinates x, y
    block_flags: NDArray[np.uint8]  # (C,)
    free_slots: NDArray[np.int32]  # (C,) stack
    counters: NDArray[np.int64]  # (2,): free slots; columns outside the table
    state: NDArray[np.int8]  # (C, CELLS) -1 unknown, 0 free, 100 occupied for this robot
    low: NDArray[np.uint8]  # (C, CELLS) lowest layer of the column's obstacle
    top: NDArray[np.uint8]  # (C, CELLS) one above its highest layer, 0 without an obstacle
    inspected: NDArray[np.uint8]  # (C, CELLS) 1 where a detector has looked


def _new_arrays(capacity: int, layers: int) -> VoxelArrays:
    voxels = capacity * CELLS * layers
    return VoxelArrays(
        table=np.full((TABLE, TABLE), -1, np.int32),
        log_odds=np.zeros(voxels, np.int8),
        dirty=np.zeros(voxels, np.uint8),
        slot_xy=np.zeros((capacity, 2), np.int32),
        block_flags=np.zeros(capacity, np.uint8),
        free_slots=np.arange(capacity - 1, -1, -1, dtype=np.int32),
        counters=np.array([capacity, 0], np.int64),
        state=np.full((capacity, CELLS), -1, np.int8),
        low=np.zeros((capacity, CELLS), np.uint8),
        top=np.zeros((capacity, CELLS), np.uint8),
        inspected=np.zeros((capacity, CELLS), np.uint8),
    )


@compiled
def slot_of(a: VoxelArrays, block_x: int, block_y: int, allocate: bool) -> int:
    """Slot of a block, taking a free one when asked; -1 where there is none or outside the table."""
    row, column = block_y + HALF_TABLE, block_x + HALF_TABLE
    if row < 0 or row >= TABLE or column < 0 or column >= TABLE:
        return -1
    slot = int(a.table[row, column])
    if slot < 0 and allocate and a.counters[0] > 0:
        a.counters[0] -= 1
        slot = int(a.free_slots[a.counters[0]])
        a.table[row, column] = slot
        a.slot_xy[slot, 0] = block_x
        a.slot_xy[slot, 1] = block_y
    return slot


class VoxelMap:
    """Log-odds of voxels in bounded memory: past `max_blocks` the blocks farthest from the robot are forgotten."""

    def __init__(self, settings: VoxelSettings) -> None:
        self.settings = settings
        self.arrays = _new_arrays(min(2 * settings.blocks_per_scan, settings.max_blocks), settings.layers)
        self.window: ScanWindow | None = None
        self.forgotten: list[NDArray[np.int32]] = []
        self.forgotten_count = 0

    @property
    def capacity(self) -> int:
        """Blocks that the pool can hold now."""
        return int(self.arrays.slot_xy.shape[0])

    @property
    def block_count(self) -> int:
        """Blocks in use."""
        return self.capacity - int(self.arrays.counters[0])

    @property
    def memory_bytes(self) -> int:
        """Bytes of every array, used or reserved."""
        window = 0 if self.window is None else self.window.seen.nbytes + self.window.ends_in.nbytes
        return window + sum(a.nbytes for a in self.arrays) + sum(keys.nbytes for keys in self.forgotten)

    def used_slots(self) -> NDArray[np.intp]:
        """Slots in use, ascending."""
        used = np.ones(self.capacity, np.bool_)
        used[self.arrays.free_slots[: self.arrays.counters[0]]] = False
        return np.flatnonzero(used)

    def reserve(self, blocks: int, x: float, y: float) -> None:
        """Make room for new blocks: grow the pool up to its bound, then forget the blocks farthest from (x, y)."""
        if blocks > self.settings.max_blocks:
            raise ValueError(f"blocks = {blocks}, allowed: at most max_blocks = {self.settings.max_blocks}")
        if self.arrays.counters[0] < blocks and self.capacity < self.settings.max_blocks:
            self._grow(min(max(2 * self.capacity, self.block_count + blocks), self.settings.max_blocks))
        missing = blocks - int(self.arrays.counters[0])
        if missing > 0:
            self._evict(missing, x, y)

    def voxel(self, key: tuple[int, int, int]) -> int:
        """Log-odds of one voxel, 0 when it was never seen or lies outside."""
        x, y, z = key
        layer = z - self.settings.z_key_min
        row, column = (y >> BLOCK_SHIFT) + HALF_TABLE, (x >> BLOCK_SHIFT) + HALF_TABLE
        if not (0 <= layer < self.settings.layers and 0 <= row < TABLE and 0 <= column < TABLE):
            return 0
        slot = int(self.arrays.table[row, column])
        if slot < 0:
            return 0
        return int(self._block(slot)[y & (BLOCK - 1), x & (BLOCK - 1), layer])

    def known(self) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        """Every voxel with evidence: keys (N, 3) and log-odds (N,), sorted by key."""
        keys = [self._known_of(int(slot)) for slot in self.used_slots()]
        if not keys:
            return np.zeros((0, 3), np.int32), np.zeros(0, np.int8)
        all_keys = np.concatenate([k for k, _ in keys])
        values = np.concatenate([v for _, v in keys])
        order = np.lexsort((all_keys[:, 2], all_keys[:, 1], all_keys[:, 0]))
        return all_keys[order], values[order]

    def clear(self) -> None:
        """Forget everything."""
        self.arrays = _new_arrays(self.capacity, self.settings.layers)
        self.forgotten, self.forgotten_count = [], 0

    def _block(self, slot: int) -> NDArray[np.int8]:
        block: NDArray[np.int8] = self.arrays.log_odds.reshape(-1, BLOCK, BLOCK, self.settings.layers)[slot]
        return block

    def _known_of(self, slot: int) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        block = self._block(slot)
        rows, columns, layers = np.nonzero(block)
        block_x, block_y = self.arrays.slot_xy[slot]
        keys = np.stack([columns + block_x * BLOCK, rows + block_y * BLOCK, layers + self.settings.z_key_min], axis=1)
        return keys.astype(np.int32), block[rows, columns, layers]

    def _grow(self, capacity: int) -> None:
        old, size = self.arrays, self.capacity
        new = _new_arrays(capacity, self.settings.layers)
        new.table[:] = old.table
        for name in ("log_odds", "dirty", "slot_xy", "block_flags", "state", "low", "top", "inspected"):
            source = getattr(old, name)
            getattr(new, name)[: source.shape[0]] = source
        kept = int(old.counters[0])
        added = np.arange(capacity - 1, size - 1, -1, dtype=np.int32)
        new.free_slots[: added.size] = added
        new.free_slots[added.size : added.size + kept] = old.free_slots[:kept]
        new.counters[:] = (added.size + kept, old.counters[1])
        self.arrays = new

    def _evict(self, count: int, x: float, y: float) -> None:
        a = self.arrays
        slots = self.used_slots()
        side = BLOCK * self.settings.resolution
        centres = (a.slot_xy[slots] + 0.5) * side
        order = np.lexsort((slots, -np.hypot(centres[:, 0] - x, centres[:, 1] - y)))
        dirty = a.dirty.reshape(self.capacity, -1)
        log_odds = a.log_odds.reshape(self.capacity, -1)
        for slot in slots[order[:count]]:
            self._remember_forgotten(self._known_of(int(slot))[0])
            block_x, block_y = a.slot_xy[slot]
            a.table[block_y + HALF_TABLE, block_x + HALF_TABLE] = -1
            log_odds[slot], dirty[slot], a.block_flags[slot] = 0, 0, 0
            a.state[slot], a.low[slot], a.top[slot], a.inspected[slot] = -1, 0, 0, 0
            a.free_slots[a.counters[0]] = slot
            a.counters[0] += 1

    def _remember_forgotten(self, keys: NDArray[np.int32]) -> None:
        self.forgotten_count += len(keys)
        # Past the limit the list is dropped: whoever takes deltas then sends the whole map again.
        if self.forgotten_count > FORGOTTEN_LIMIT:
            self.forgotten = []
        else:
            self.forgotten.append(keys)
