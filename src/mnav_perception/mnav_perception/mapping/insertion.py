"""Insert one scan into the voxel map: ends are marked, rays from the sensor are cleared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, SE3
from mnav_perception.compiled import compiled
from mnav_perception.mapping.raycast import BESIDE, CLEARED, ENDED, ScanWindow, new_window, trace
from mnav_perception.mapping.voxels import (
    BLOCK,
    BLOCK_SHIFT,
    CELLS,
    COLUMNS_STALE,
    DELTA_PENDING,
    HALF_TABLE,
    TABLE,
    VoxelArrays,
    VoxelMap,
    slot_of,
)


@dataclass(frozen=True)
class MarkingLimits:
    """What may be marked: heights in metres of `map` and distances from the sensor. Clearing knows no heights.

    Points past `max_range_m` mark nothing and clear up to it. Points nearer than `min_range_m` are skipped.
    """

    max_range_m: float = 8.0
    min_range_m: float = 0.1
    min_z: float = -0.3
    max_z: float = 2.2

    def __post_init__(self) -> None:
        """Raise ValueError naming the setting, its value and what is allowed."""
        if not 0.0 <= self.min_range_m < self.max_range_m:
            raise ValueError(f"min_range_m = {self.min_range_m}, allowed: 0 to max_range_m = {self.max_range_m}")
        if not self.min_z < self.max_z:
            raise ValueError(f"min_z = {self.min_z}, allowed: below max_z = {self.max_z}")


@dataclass(frozen=True, eq=False)
class SelfFilter:
    """The robot's own body: points over the footprint (edges (K, 3): a x + b y <= c in the base) below `height_m`."""

    base_in_map: SE2
    edges: NDArray[np.float64]
    radius_m: float
    height_m: float


@dataclass(frozen=True)
class ScanReport:
    """What became of a scan's points: marked an end, only cleared, or skipped and why."""

    marked: int
    cleared_only: int
    skipped_not_finite: int
    skipped_near: int
    skipped_self: int


@compiled
def _apply(
    a: VoxelArrays, window: ScanWindow, corner_x: int, corner_y: int, layers: int, evidence: NDArray[np.int8]
) -> None:
    """Change each voxel of the window once and wipe the window.

    The two inner loops are byte arithmetic without branches on unsigned indices, which the compiler turns into vector
    code; no array is passed on or sliced in them, for each costs a reference count.
    """
    hit, miss, lowest, highest = evidence[0], evidence[1], evidence[2], evidence[3]
    log_odds, dirty, seen, table = a.log_odds, a.dirty, window.seen, a.table
    words = window.padded // 8
    seen_words = window.seen.view(np.uint64)
    depth = np.uint64(layers)
    for row in range(window.width):
        y = corner_y + row
        for column in range(window.width):
            first = (row * window.width + column) * words
            any_bits = np.uint64(0)
            for word in range(words):
                any_bits |= seen_words[first + word]
            if any_bits == 0:
                continue
            x, start = corner_x + column, np.uint64(first * 8)
            block_x, block_y, slot = x >> BLOCK_SHIFT, y >> BLOCK_SHIFT, -1
            if 0 <= block_x + HALF_TABLE < TABLE and 0 <= block_y + HALF_TABLE < TABLE:
                slot = int(table[block_y + HALF_TABLE, block_x + HALF_TABLE])
                if slot < 0:
                    slot = slot_of(a, block_x, block_y, True)
            if slot < 0:
                a.counters[1] += 1
                for word in range(words):
                    seen_words[first + word] = 0
                continue
            voxel = np.uint64((slot * CELLS + (y & (BLOCK - 1)) * BLOCK + (x & (BLOCK - 1))) * layers)
            any_change = np.int8(0)
            for k in range(depth):
                old, now = log_odds[voxel + k], seen[start + k]
                cleared = np.int8(now == CLEARED) | np.int8((now == BESIDE) & (old <= 0))
                change = np.int8(np.int8(now == ENDED) * hit - cleared * miss)
                any_change |= np.int8(np.int8(min(max(np.int8(old + change), lowest), highest)) ^ old)
            # Most columns are as sure as they can be: they are only read.
            if any_change != 0:
                for k in range(depth):
                    old, now = log_odds[voxel + k], seen[start + k]
                    cleared = np.int8(now == CLEARED) | np.int8((now == BESIDE) & (old <= 0))
                    change = np.int8(np.int8(now == ENDED) * hit - cleared * miss)
                    new = np.int8(min(max(np.int8(old + change), lowest), highest))
                    # Zero is kept for voxels without evidence.
                    new = np.int8(new - np.int8((new == 0) & (old != 0)))
                    log_odds[voxel + k] = new
                    dirty[voxel + k] |= np.uint8(new != old)
                a.block_flags[slot] |= COLUMNS_STALE | DELTA_PENDING
            for word in range(words):
                seen_words[first + word] = 0
    window.ends_in[:] = 0


def insert_scan(
    voxels: VoxelMap, points: NDArray[np.float32], sensor_in_map: SE3, limits: MarkingLimits, own: SelfFilter | None
) -> ScanReport:
    """Insert points (N, 3) float32 of the sensor frame.

    Every voxel changes at most once: an end wins over any ray through it. Points that are not finite are counted and
    skipped. Rays clear from the sensor to the end, whatever its height. Raises ValueError for a longer range than the
    map's, points of another shape or a pose that is not finite.
    """
    settings = voxels.settings
    if limits.max_range_m > settings.max_range_m:
        raise ValueError(f"max_range_m = {limits.max_range_m}, allowed: at most the map's {settings.max_range_m}")
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points have shape {points.shape}, allowed: (N, 3)")
    origin = np.ascontiguousarray(sensor_in_map.translation, np.float64)
    rotation = np.ascontiguousarray(sensor_in_map.rotation, np.float64)
    if not (np.isfinite(origin).all() and np.isfinite(rotation).all()):
        raise ValueError(f"sensor_in_map: translation = {origin.tolist()}, allowed: finite")
    voxels.reserve(settings.blocks_per_scan, float(origin[0]), float(origin[1]))
    if voxels.window is None:
        voxels.window = new_window(settings.range_cells, settings.layers)
    window = voxels.window
    corner = np.floor(origin / settings.resolution).astype(np.int64) - window.width // 2
    corner[2] = settings.z_key_min
    base, edges = _own_body_arrays(own)
    counts = np.zeros(5, np.int64)
    trace(
        window,
        np.ascontiguousarray(points, np.float32),
        rotation,
        origin,
        corner,
        base,
        edges,
        np.array([limits.max_range_m, limits.min_range_m, limits.min_z, limits.max_z]),
        settings.resolution,
        settings.layers,
        counts,
    )
    _apply(
        voxels.arrays,
        window,
        int(corner[0]),
        int(corner[1]),
        settings.layers,
        np.array([settings.hit, settings.miss, settings.log_odds_min, settings.log_odds_max], np.int8),
    )
    return ScanReport(*(int(c) for c in counts))


def _own_body_arrays(own: SelfFilter | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if own is None:
        return np.array([0.0, 0.0, 1.0, 0.0, -1.0, 0.0]), np.zeros((0, 3))
    pose = own.base_in_map
    base = np.array([pose.x, pose.y, np.cos(pose.yaw), np.sin(pose.yaw), own.radius_m**2, own.height_m])
    return base, np.ascontiguousarray(own.edges, np.float64)
