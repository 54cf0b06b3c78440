"""Walk the rays of one scan through a dense window of voxels around the sensor."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnav_perception.compiled import compiled

# What a scan says of a voxel. WALKED, a ray ended there, holds only while rays are walked.
# BESIDE is CLEARED with an end next to it on the same height: a surface is never exactly where its voxels are, so that
# such rays clear what is not occupied and wear no wall away.
NOTHING, CLEARED, ENDED, WALKED, BESIDE = 0, 1, 2, 3, 4

# A wall is a group of columns this flat; a ray grazes it below this sine; what it then leaves alone, in voxels.
WALL_FLATNESS, GRAZING_SINE, GRAZED, LONGEST_GRAZE = 0.2, 0.5, 1.5, 40.0

# Places in the counts of a scan.
MARKED, CLEARED_ONLY, NOT_FINITE, NEAR, OWN_BODY = range(5)


class ScanWindow(NamedTuple):
    """What one scan says of the voxels around the sensor; W x W columns, `padded` layers each, zero between scans."""

    seen: NDArray[np.uint8]  # (W * W * padded,)
    ends_in: NDArray[np.uint8]  # (W * W,) 1 where a point lies in the column
    width: int
    padded: int


def new_window(range_cells: int, layers: int) -> ScanWindow:
    """A window for rays of `range_cells`; columns are padded to whole words with at least one spare layer."""
    width, padded = 2 * (range_cells + 2) + 1, (layers // 8 + 1) * 8
    return ScanWindow(np.zeros(width * width * padded, np.uint8), np.zeros(width * width, np.uint8), width, padded)


@compiled
def _is_own_body(x: float, y: float, z: float, base: NDArray[np.float64], edges: NDArray[np.float64]) -> bool:
    # base: x, y, cos, sin, squared radius, height
    dx, dy = x - base[0], y - base[1]
    if dx * dx + dy * dy > base[4] or z > base[5]:
        return False
    bx, by = base[2] * dx + base[3] * dy, -base[3] * dx + base[2] * dy
    inside = True
    for k in range(edges.shape[0]):
        inside = inside and edges[k, 0] * bx + edges[k, 1] * by <= edges[k, 2]
    return inside


@compiled
def _trusted(ends_in: NDArray[np.uint8], width: int, column: int, row: int, dx: float, dy: float) -> float:
    """Fraction of a ray, (dx, dy) voxels long, that clears when it ends in a wall.

    The columns around the end that hold points give the wall's direction. A ray that grazes it runs through the wall's
    own voxels before its end and would wear the wall away: it clears up to GRAZED voxels in front of the wall.
    """
    count, sum_x, sum_y, sum_xx, sum_xy, sum_yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(-2, 3):
        for i in range(-2, 3):
            if ends_in[(row + j) * width + column + i]:
                count += 1.0
                sum_x += i
                sum_y += j
                sum_xx += i * i
                sum_xy += i * j
                sum_yy += j * j
    if count < 3.0:
        return 1.0
    xx, yy = sum_xx - sum_x * sum_x / count, sum_yy - sum_y * sum_y / count
    xy = sum_xy - sum_x * sum_y / count
    half, spread = 0.5 * (xx + yy), math.sqrt(0.25 * (xx - yy) ** 2 + xy * xy)
    if half - spread > WALL_FLATNESS * (half + spread):
        return 1.0
    along = 0.5 * math.atan2(2.0 * xy, xx - yy)
    length = math.sqrt(dx * dx + dy * dy)
    sine = abs(dy * math.cos(along) - dx * math.sin(along)) / max(length, 1e-9)
    if sine > GRAZING_SINE:
        return 1.0
    return 1.0 - min(GRAZED / max(sine, 1e-3), LONGEST_GRAZE, length) / max(length, 1e-9)


@compiled
def _walk(
    seen: NDArray[np.uint8],
    pa: float,
    pb: float,
    pc: float,
    da: float,
    db: float,
    dc: float,
    stride_a: int,
    stride_b: int,
    stride_c: int,
) -> None:
    """Clear every voxel from p to p + d, in voxels of the window, where |da| is the largest component.

    One slab of the first axis at a time: in it each other axis is crossed at most once, so three stores hold every
    voxel and no branch depends on the order of crossings.
    """
    first, last = int(pa), int(pa + da)
    length = abs(da)
    slope_b, slope_c = (db / length, dc / length) if length > 0.0 else (0.0, 0.0)
    steep_b, steep_c = abs(slope_b), abs(slope_c)
    sign, slabs = (1, last - first) if last >= first else (-1, first - last)
    offset = (first + 1 - pa) if da >= 0.0 else (pa - first)
    b_in, c_in = pb, pc
    kb, kc = int(b_in), int(c_in)
    base = first * stride_a
    for k in range(slabs + 1):
        along = min(offset + k, length)
        b_out, c_out = pb + slope_b * along, pc + slope_c * along
        nb, nc = int(b_out), int(c_out)
        # Distances to the planes that are crossed, if any: the nearer in time comes first.
        plane_b, plane_c = float(max(kb, nb)), float(max(kc, nc))
        b_first = abs(plane_b - b_in) * steep_c < abs(plane_c - c_in) * steep_b
        middle = (nb * stride_b + kc * stride_c) if b_first else (kb * stride_b + nc * stride_c)
        seen[base + kb * stride_b + kc * stride_c] = CLEARED
        seen[base + middle] = CLEARED
        seen[base + nb * stride_b + nc * stride_c] = CLEARED
        b_in, c_in, kb, kc = b_out, c_out, nb, nc
        base += sign * stride_a


@compiled
def trace(
    window: ScanWindow,
    points: NDArray[np.float32],
    rotation: NDArray[np.float64],
    origin: NDArray[np.float64],
    corner: NDArray[np.int64],
    base: NDArray[np.float64],
    edges: NDArray[np.float64],
    limits: NDArray[np.float64],
    resolution: float,
    layers: int,
    counts: NDArray[np.int64],
) -> None:
    """Mark the ends of points (N, 3) of the sensor frame and clear the rays to them.

    `corner`: key (x, y, z) of the window's first voxel. `limits`: range, nearest, lowest and highest z to mark, metres.
    """
    count = points.shape[0]
    ends = np.empty((count, 3), np.float64)
    kind = np.zeros(count, np.uint8)
    ended_in = np.full(count, -1, np.int32)
    scale = 1.0 / resolution
    seen, ends_in = window.seen, window.ends_in
    stride_x, stride_y = window.padded, window.padded * window.width
    ox, oy, oz = origin[0] * scale - corner[0], origin[1] * scale - corner[1], origin[2] * scale - corner[2]
    for i in range(count):
        px, py, pz = float(points[i, 0]), float(points[i, 1]), float(points[i, 2])
        square = px * px + py * py + pz * pz
        if not square < 1e12:
            counts[NOT_FINITE] += 1
            continue
        if square < limits[1] * limits[1]:
            counts[NEAR] += 1
            continue
        dx = rotation[0, 0] * px + rotation[0, 1] * py + rotation[0, 2] * pz
        dy = rotation[1, 0] * px + rotation[1, 1] * py + rotation[1, 2] * pz
        dz = rotation[2, 0] * px + rotation[2, 1] * py + rotation[2, 2] * pz
        if _is_own_body(origin[0] + dx, origin[1] + dy, origin[2] + dz, base, edges):
            counts[OWN_BODY] += 1
            continue
        z = origin[2] + dz
        dx, dy, dz = dx * scale, dy * scale, dz * scale
        if square > limits[0] * limits[0]:
            shorter = limits[0] / math.sqrt(square)
            dx, dy, dz = dx * shorter, dy * shorter, dz * shorter
            kind[i] = 1
        elif limits[2] <= z < limits[3] and 0.0 <= oz + dz < layers:
            kind[i] = 2
            ends_in[int(oy + dy) * window.width + int(ox + dx)] = 1
            counts[MARKED] += 1
        else:
            kind[i] = 1
        ends[i, 0], ends[i, 1], ends[i, 2] = dx, dy, dz
    for i in range(count):
        if kind[i] == 0:
            continue
        dx, dy, dz = ends[i, 0], ends[i, 1], ends[i, 2]
        if kind[i] == 1:
            counts[CLEARED_ONLY] += 1
        # Only heights cut the ray: the window is as wide as the longest one.
        first, last = 0.0, 1.0
        if oz < 0.0 or oz >= layers:
            if (oz < 0.0 and dz <= 0.0) or (oz >= layers and dz >= 0.0):
                continue
            first = (-oz if oz < 0.0 else layers - oz) / dz
        if oz + dz < 0.0:
            last = -oz / dz
        elif oz + dz >= layers:
            last = (layers - oz) / dz
        if first >= last:
            continue
        end = int(ox + dx * last) * stride_x + int(oy + dy * last) * stride_y + int(oz + dz * last)
        # Rays that end in one voxel say the same: the first one is walked.
        ended_in[i] = end
        if seen[end] == WALKED:
            continue
        if kind[i] == 2:
            last = max(last * _trusted(ends_in, window.width, int(ox + dx), int(oy + dy), dx, dy), first)
        x, y, z = ox + dx * first, oy + dy * first, oz + dz * first
        dx, dy, dz = dx * (last - first), dy * (last - first), dz * (last - first)
        if abs(dx) >= abs(dy) and abs(dx) >= abs(dz):
            _walk(seen, x, y, z, dx, dy, dz, stride_x, stride_y, 1)
        elif abs(dy) >= abs(dz):
            _walk(seen, y, x, z, dy, dx, dz, stride_y, stride_x, 1)
        else:
            _walk(seen, z, x, y, dz, dx, dy, 1, stride_x, stride_y)
        seen[end] = WALKED
    # Ends win over every ray that went through them.
    for i in range(count):
        if ended_in[i] >= 0 and kind[i] == 1:
            seen[ended_in[i]] = CLEARED
    for i in range(count):
        if ended_in[i] >= 0 and kind[i] == 2:
            seen[ended_in[i]] = ENDED
            for j in range(-1, 2):
                for k in range(-1, 2):
                    beside = ended_in[i] + j * stride_y + k * stride_x
                    if seen[beside] == CLEARED:
                        seen[beside] = BESIDE
