"""Insert one scan into the voxel map: ends are marked, rays from the sensor are cleared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, SE3
from mnav_perception.compiled import compiled
from mnav_perception.mapping.voxels import (
    BLOCK,
    BLOCK_SHIFT,
    CLEARED,
    COLUMNS_STALE,
    DELTA_PENDING,
    DIRTY,
    END,
    TABLE,
    TOUCHED,
    TRACED,
    VoxelArrays,
    VoxelMap,
)

CELLS = BLOCK * BLOCK
HALF_TABLE = TABLE // 2
WORD_OF_SCAN_BITS = np.uint64(0x0707070707070707)


@dataclass(frozen=True)
class MarkingLimits:
    """What may be marked: heights in metres of `map` and distances from the sensor. Clearing knows no heights.

    Points past `max_range_m` mark nothing and clear up to it. Points nearer than `min_range_m` are skipped.
    """

    max_range_m: float = 8.0
    min_range_m: float = 0.1
    min_z: float = -0.3
    max_z: float = 2.2


@dataclass(frozen=True)
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


def footprint_edges(footprint: tuple[tuple[float, float], ...], margin_m: float) -> NDArray[np.float64]:
    """Edges (K, 3) of a convex footprint grown by `margin_m`: inside where a x + b y <= c for every edge."""
    corners = np.asarray(footprint, float)
    edge = np.roll(corners, -1, axis=0) - corners
    normals = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / np.linalg.norm(edge, axis=1, keepdims=True)
    offsets = np.einsum("ij,ij->i", normals, corners)
    # Clockwise corners give inward normals, told by negative offsets around an origin inside.
    sign = np.where(offsets < 0.0, -1.0, 1.0)
    return np.column_stack([normals * sign[:, None], offsets * sign + margin_m])


@compiled
def slot_of(a: VoxelArrays, block_x: int, block_y: int, allocate: bool) -> int:
    """Slot of a block, taking a free one when asked; -1 where there is none or outside the table."""
    row, column = block_y + HALF_TABLE, block_x + HALF_TABLE
    if row < 0 or row >= TABLE or column < 0 or column >= TABLE:
        return -1
    slot = a.table[row, column]
    if slot < 0 and allocate and a.counters[0] > 0:
        a.counters[0] -= 1
        slot = a.free_slots[a.counters[0]]
        a.table[row, column] = slot
        a.slot_xy[slot, 0] = block_x
        a.slot_xy[slot, 1] = block_y
    return slot


@compiled
def _voxel_index(a: VoxelArrays, x: int, y: int, layer: int, layers: int) -> int:
    slot = slot_of(a, x >> BLOCK_SHIFT, y >> BLOCK_SHIFT, True)
    if slot < 0:
        return -1
    a.block_flags[slot] |= TOUCHED
    return (slot * CELLS + (y & (BLOCK - 1)) * BLOCK + (x & (BLOCK - 1))) * layers + layer


@compiled
def _is_own_body(x: float, y: float, z: float, base: NDArray[np.float64], edges: NDArray[np.float64]) -> bool:
    # base: x, y, cos, sin, squared radius, height
    dx, dy = x - base[0], y - base[1]
    if dx * dx + dy * dy > base[4] or z > base[5]:
        return False
    bx, by = base[2] * dx + base[3] * dy, -base[3] * dx + base[2] * dy
    for k in range(edges.shape[0]):
        if edges[k, 0] * bx + edges[k, 1] * by > edges[k, 2]:
            return False
    return True


@compiled
def _clear_ray(
    a: VoxelArrays,
    layers: int,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    key_x: int,
    key_y: int,
    layer: int,
    end_x: int,
    end_y: int,
    end_layer: int,
) -> None:
    """Walk every voxel from (x, y, z) (in voxels) along (dx, dy, dz) to the end voxel and set CLEARED on it."""
    step_x, step_y, step_z = 1 if dx > 0 else -1, 1 if dy > 0 else -1, 1 if dz > 0 else -1
    left_x, left_y, left_z = abs(end_x - key_x), abs(end_y - key_y), abs(end_layer - layer)
    far = 1e30
    grow_x, grow_y, grow_z = abs(1.0 / dx) if dx != 0.0 else far, abs(1.0 / dy) if dy != 0.0 else far, far
    if dz != 0.0:
        grow_z = abs(1.0 / dz)
    next_x = ((key_x + 1 - x) if dx > 0 else (x - key_x)) * grow_x if left_x > 0 else far
    next_y = ((key_y + 1 - y) if dy > 0 else (y - key_y)) * grow_y if left_y > 0 else far
    next_z = ((layer + 1 - z) if dz > 0 else (z - layer)) * grow_z if left_z > 0 else far
    index = _voxel_index(a, key_x, key_y, layer, layers)
    if index < 0:
        a.counters[1] += 1
        return
    move_x, move_y = step_x * layers, step_y * layers * BLOCK
    edge_x, edge_y = (BLOCK - 1 if step_x > 0 else 0), (BLOCK - 1 if step_y > 0 else 0)
    local_x, local_y = key_x & (BLOCK - 1), key_y & (BLOCK - 1)
    flags = a.flags
    for _ in range(left_x + left_y + left_z):
        if flags[index] & CLEARED == 0:
            flags[index] |= CLEARED
        if next_z < next_x and next_z < next_y:
            index += step_z
            left_z -= 1
            next_z = next_z + grow_z if left_z > 0 else far
            continue
        if next_x <= next_y:
            crosses = local_x == edge_x
            key_x += step_x
            local_x = key_x & (BLOCK - 1)
            index += move_x
            left_x -= 1
            next_x = next_x + grow_x if left_x > 0 else far
        else:
            crosses = local_y == edge_y
            key_y += step_y
            local_y = key_y & (BLOCK - 1)
            index += move_y
            left_y -= 1
            next_y = next_y + grow_y if left_y > 0 else far
        if crosses:
            index = _voxel_index(a, key_x, key_y, index % layers, layers)
            if index < 0:
                a.counters[1] += 1
                return
    flags[index] |= CLEARED


@compiled
def _trace(
    a: VoxelArrays,
    points: NDArray[np.float32],
    rotation: NDArray[np.float64],
    origin: NDArray[np.float64],
    base: NDArray[np.float64],
    edges: NDArray[np.float64],
    limits: NDArray[np.float64],
    resolution: float,
    z_key_min: int,
    layers: int,
    counts: NDArray[np.int64],
) -> None:
    # limits: max range, min range, min z, max z of marking; counts as ScanReport
    count = points.shape[0]
    ends = np.empty((count, 3), np.float64)
    kind = np.zeros(count, np.uint8)
    scale = 1.0 / resolution
    ox, oy, oz = origin[0] * scale, origin[1] * scale, origin[2] * scale - z_key_min
    for i in range(count):
        px, py, pz = float(points[i, 0]), float(points[i, 1]), float(points[i, 2])
        square = px * px + py * py + pz * pz
        if not square < 1e12:
            counts[2] += 1
            continue
        if square < limits[1] * limits[1]:
            counts[3] += 1
            continue
        dx = rotation[0, 0] * px + rotation[0, 1] * py + rotation[0, 2] * pz
        dy = rotation[1, 0] * px + rotation[1, 1] * py + rotation[1, 2] * pz
        dz = rotation[2, 0] * px + rotation[2, 1] * py + rotation[2, 2] * pz
        x, y, z = origin[0] + dx, origin[1] + dy, origin[2] + dz
        if _is_own_body(x, y, z, base, edges):
            counts[4] += 1
            continue
        ends[i, 0], ends[i, 1], ends[i, 2] = dx * scale, dy * scale, dz * scale
        layer = int(np.floor(oz + dz * scale))
        if square <= limits[0] * limits[0] and limits[2] <= z < limits[3] and 0 <= layer < layers:
            key_x, key_y = int(np.floor(x * scale)), int(np.floor(y * scale))
            index = _voxel_index(a, key_x, key_y, layer, layers)
            if index >= 0:
                a.flags[index] |= END
                kind[i] = 2
                counts[0] += 1
                continue
        kind[i] = 1
        counts[1] += 1
    start_x, start_y = int(np.floor(ox)), int(np.floor(oy))
    for i in range(count):
        if kind[i] == 0:
            continue
        dx, dy, dz = ends[i, 0], ends[i, 1], ends[i, 2]
        first, last = 0.0, 1.0
        if kind[i] == 1:
            length = np.sqrt(dx * dx + dy * dy + dz * dz) * resolution
            last = min(1.0, limits[0] / length)
        if oz < 0.0 or oz >= layers:
            # The sensor is below or above the map: the ray starts where it enters.
            if (oz < 0.0 and dz <= 0.0) or (oz >= layers and dz >= 0.0):
                continue
            first = ((0.0 - oz) if oz < 0.0 else (layers - oz)) / dz
        if oz + dz * last < 0.0:
            last = min(last, -oz / dz)
        elif oz + dz * last >= layers:
            last = min(last, (layers - oz) / dz)
        if first >= last:
            continue
        x, y, z = ox + dx * first, oy + dy * first, oz + dz * first
        key_x, key_y = (start_x, start_y) if first == 0.0 else (int(np.floor(x)), int(np.floor(y)))
        layer = min(max(int(np.floor(z)), 0), layers - 1)
        end_x, end_y = int(np.floor(ox + dx * last)), int(np.floor(oy + dy * last))
        end_layer = min(max(int(np.floor(oz + dz * last)), 0), layers - 1)
        index = _voxel_index(a, end_x, end_y, end_layer, layers)
        if index < 0:
            a.counters[1] += 1
        else:
            # Rays that end in one voxel say the same: the first one is walked.
            if a.flags[index] & TRACED:
                continue
            a.flags[index] |= TRACED
        _clear_ray(a, layers, x, y, z, dx, dy, dz, key_x, key_y, layer, end_x, end_y, end_layer)


@compiled
def _apply(
    a: VoxelArrays, words: NDArray[np.uint64], layers: int, hit: int, miss: int, lowest: int, highest: int
) -> None:
    size = CELLS * layers
    for slot in range(a.block_flags.shape[0]):
        if a.block_flags[slot] & TOUCHED == 0:
            continue
        changed = False
        for word in range(slot * size // 8, (slot + 1) * size // 8):
            if words[word] & WORD_OF_SCAN_BITS == 0:
                continue
            for index in range(word * 8, word * 8 + 8):
                bits = a.flags[index]
                if bits & (END | CLEARED):
                    old = int(a.log_odds[index])
                    new = min(old + hit, highest) if bits & END else max(old - miss, lowest)
                    # Zero is kept for voxels without evidence.
                    if new == 0:
                        new = -1
                    if new != old:
                        a.log_odds[index] = new
                        bits |= DIRTY
                        changed = True
                a.flags[index] = bits & DIRTY
        a.block_flags[slot] &= ~np.uint8(TOUCHED)
        if changed:
            a.block_flags[slot] |= COLUMNS_STALE | DELTA_PENDING


def insert_scan(
    voxels: VoxelMap, points: NDArray[np.float32], sensor_in_map: SE3, limits: MarkingLimits, own: SelfFilter | None
) -> ScanReport:
    """Insert points (N, 3) float32 of the sensor frame.

    Every voxel changes at most once: an end wins over any ray through it. Points that are not finite are counted and
    skipped. Rays clear from the sensor to the end, whatever its height.
    """
    settings = voxels.settings
    if limits.max_range_m > settings.max_range_m:
        raise ValueError(f"max_range_m = {limits.max_range_m}, allowed: at most the map's {settings.max_range_m}")
    x, y = float(sensor_in_map.translation[0]), float(sensor_in_map.translation[1])
    voxels.reserve(settings.blocks_per_scan, x, y)
    base, edges = _own_body_arrays(own)
    counts = np.zeros(5, np.int64)
    _trace(
        voxels.arrays,
        np.ascontiguousarray(points, np.float32),
        np.ascontiguousarray(sensor_in_map.rotation, np.float64),
        np.ascontiguousarray(sensor_in_map.translation, np.float64),
        base,
        edges,
        np.array([limits.max_range_m, limits.min_range_m, limits.min_z, limits.max_z]),
        settings.resolution,
        settings.z_key_min,
        settings.layers,
        counts,
    )
    _apply(
        voxels.arrays,
        voxels.arrays.flags.view(np.uint64),
        settings.layers,
        settings.hit,
        settings.miss,
        settings.log_odds_min,
        settings.log_odds_max,
    )
    return ScanReport(*(int(c) for c in counts))


def _own_body_arrays(own: SelfFilter | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if own is None:
        return np.array([0.0, 0.0, 1.0, 0.0, -1.0, 0.0]), np.zeros((0, 3))
    pose = own.base_in_map
    base = np.array([pose.x, pose.y, np.cos(pose.yaw), np.sin(pose.yaw), own.radius_m**2, own.height_m])
    return base, np.ascontiguousarray(own.edges, np.float64)
