"""Which cells a detector has looked at: a fan of rays that sees over what is low and under what hangs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import UNKNOWN
from mnav_core.sensing import DetectionFrame
from mnav_perception.compiled import compiled
from mnav_perception.mapping.voxels import BLOCK, BLOCK_SHIFT, VoxelArrays, VoxelMap, slot_of

BINS = 64  # elevations told apart along one ray


@dataclass(frozen=True)
class CoverageSettings:
    """Range of the detector in metres, how far above a surface its objects reach, and the unknown gap it may cross."""

    range_m: float = 4.0
    object_height_m: float = 0.15
    unknown_gap_m: float = 0.2

    def __post_init__(self) -> None:
        """Raise ValueError naming the setting, its value and what is allowed."""
        for name in ("range_m", "object_height_m", "unknown_gap_m"):
            value = getattr(self, name)
            if not 0.0 < value <= 50.0:
                raise ValueError(f"{name} = {value}, allowed: above 0, at most 50")


@compiled
def _bins_between(low: float, high: float, first: float, width: float) -> int:
    """Bits of the elevation bins whose centres lie in [low, high]; one bin at least when the interval is in range."""
    b0 = math.ceil((low - first) / width - 0.5)
    b1 = math.floor((high - first) / width - 0.5)
    if b1 < b0:
        b0 = b1 = math.floor(((low + high) * 0.5 - first) / width)
    b0, b1 = max(b0, 0), min(b1, BINS - 2)
    if b1 < b0:
        return 0
    return ((1 << (b1 - b0 + 1)) - 1) << b0


@compiled
def _fan(
    a: VoxelArrays,
    camera: NDArray[np.float64],
    rotation: NDArray[np.float64],
    intrinsics: NDArray[np.float64],
    azimuths: NDArray[np.float64],
    elevations: NDArray[np.float64],
    resolution: float,
    z_min: float,
    range_m: float,
    object_height: float,
    gap_cells: int,
) -> int:
    # intrinsics: fx, fy, cx, cy, width, height; elevations: first, width of a bin; returns newly inspected cells
    new = 0
    first, width = elevations[0], elevations[1]
    scale = 1.0 / resolution
    for ray in range(azimuths.shape[0]):
        ux, uy = math.cos(azimuths[ray]), math.sin(azimuths[ray])
        visible = 0
        for b in range(BINS - 1):
            e = first + (b + 0.5) * width
            dx, dy, dz = ux * math.cos(e), uy * math.cos(e), math.sin(e)
            cz = rotation[0, 2] * dx + rotation[1, 2] * dy + rotation[2, 2] * dz
            if cz <= 1e-6:
                continue
            u = (rotation[0, 0] * dx + rotation[1, 0] * dy + rotation[2, 0] * dz) / cz * intrinsics[0] + intrinsics[2]
            v = (rotation[0, 1] * dx + rotation[1, 1] * dy + rotation[2, 1] * dz) / cz * intrinsics[1] + intrinsics[3]
            if 0.0 <= u <= intrinsics[4] and 0.0 <= v <= intrinsics[5]:
                visible |= 1 << b
        x, y = camera[0] * scale, camera[1] * scale
        key_x, key_y = math.floor(x), math.floor(y)
        step_x, step_y = 1 if ux > 0 else -1, 1 if uy > 0 else -1
        grow_x = abs(1.0 / ux) if abs(ux) > 1e-12 else 1e30
        grow_y = abs(1.0 / uy) if abs(uy) > 1e-12 else 1e30
        next_x = ((key_x + 1 - x) if ux > 0 else (x - key_x)) * grow_x
        next_y = ((key_y + 1 - y) if uy > 0 else (y - key_y)) * grow_y
        entered, gap = 0.0, 0
        while visible != 0 and entered * resolution <= range_m and gap <= gap_cells:
            left = min(next_x, next_y)
            distance = max(0.5 * (entered + left) * resolution, 0.5 * resolution)
            slot = slot_of(a, key_x >> BLOCK_SHIFT, key_y >> BLOCK_SHIFT, False)
            cell = (key_y & (BLOCK - 1)) * BLOCK + (key_x & (BLOCK - 1))
            if slot < 0 or a.state[slot, cell] == UNKNOWN:
                gap += 1
            else:
                gap = 0
                low_z, top_z = 0.0, 0.0
                blocked = 0
                if a.top[slot, cell] > 0:
                    low_z = z_min + a.low[slot, cell] * resolution
                    top_z = z_min + a.top[slot, cell] * resolution
                    blocked = _bins_between(
                        math.atan2(low_z - camera[2], distance), math.atan2(top_z - camera[2], distance), first, width
                    )
                near_z = min(max(camera[2], low_z), top_z + object_height) - camera[2]
                if distance * distance + near_z * near_z <= range_m * range_m:
                    zone = _bins_between(
                        math.atan2(low_z - camera[2], distance),
                        math.atan2(top_z + object_height - camera[2], distance),
                        first,
                        width,
                    )
                    if zone & visible and a.inspected[slot, cell] == 0:
                        a.inspected[slot, cell] = 1
                        new += 1
                visible &= ~blocked
            entered = left
            if next_x <= next_y:
                next_x += grow_x
                key_x += step_x
            else:
                next_y += grow_y
                key_y += step_y
    return new


def inspect(voxels: VoxelMap, frame: DetectionFrame, settings: CoverageSettings) -> int:
    """Mark every cell that the detector could see in `frame`; returns how many are new.

    Columns must be up to date. Along each ray an obstacle hides the elevations between its lowest and highest voxel:
    a camera at 1.25 m looks over a table and one at 0.37 m looks under it. The first obstacle cell counts as seen.
    """
    camera, pose = frame.camera, frame.camera_in_map
    edge_u = np.linspace(0.0, camera.width, 9)
    edge_v = np.linspace(0.0, camera.height, 9)
    u = np.concatenate([edge_u, edge_u, np.zeros(9), np.full(9, camera.width)])
    v = np.concatenate([np.zeros(9), np.full(9, camera.height), edge_v, edge_v])
    optical = np.stack([(u - camera.cx) / camera.fx, (v - camera.cy) / camera.fy, np.ones_like(u)], axis=1)
    rays = optical @ pose.rotation.T
    elevation = np.arctan2(rays[:, 2], np.hypot(rays[:, 0], rays[:, 1]))
    forward = pose.rotation[:, 2]
    low, high = float(elevation.min()), float(elevation.max())
    middle = math.asin(min(max(float(forward[2]), -1.0), 1.0))
    low, high = min(low, middle), max(high, middle)
    yaw = math.atan2(float(forward[1]), float(forward[0]))
    offsets = np.angle(np.exp(1j * (np.arctan2(rays[:, 1], rays[:, 0]) - yaw)))
    # A camera that sees the pole sees every azimuth.
    if max(-low, high) > 1.4:
        low, high = (-math.pi / 2, high) if -low > 1.4 else (low, math.pi / 2)
        span = (-math.pi, math.pi)
    else:
        span = (float(offsets.min()), float(offsets.max()))
    resolution = voxels.settings.resolution
    rays_count = max(2, math.ceil((span[1] - span[0]) * settings.range_m / resolution * 1.5))
    azimuths = yaw + span[0] + (np.arange(rays_count) + 0.5) / rays_count * (span[1] - span[0])
    return _fan(
        voxels.arrays,
        np.ascontiguousarray(pose.translation, np.float64),
        np.ascontiguousarray(pose.rotation, np.float64),
        np.array([camera.fx, camera.fy, camera.cx, camera.cy, camera.width, camera.height], np.float64),
        azimuths,
        np.array([low, (high - low) / (BINS - 1)]),
        resolution,
        voxels.settings.z_min,
        settings.range_m,
        settings.object_height_m,
        round(settings.unknown_gap_m / resolution),
    )
