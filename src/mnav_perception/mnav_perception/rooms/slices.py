"""What the voxel map says above head height, where walls and lintels are and furniture is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import FREE
from mnav_perception.mapping.columns import ColumnRule, assemble_grids, summarise_columns
from mnav_perception.mapping.voxels import BLOCK, VoxelMap


@dataclass(frozen=True, eq=False)
class RoomSlice:
    """Grids (H, W) on one lattice: something is above head height (`wall`), rays went through the column at some height
    (`open`), the robot can stand there (`floor`).
    """

    resolution: float
    origin: tuple[float, float]
    wall: NDArray[np.bool_]
    open: NDArray[np.bool_]
    floor: NDArray[np.bool_]


def slice_rooms(voxels: VoxelMap, rule: ColumnRule, from_m: float) -> RoomSlice:
    """Slice the map from height `from_m` to its top. Raises ValueError when nothing of the map lies above it."""
    settings = voxels.settings
    first = settings.layer_of(from_m)
    if first >= settings.layers:
        raise ValueError(f"from_m = {from_m}, allowed: below the map's top at {settings.z_max}")
    summarise_columns(voxels, rule)
    (x0, y0), state, _ = assemble_grids(voxels)
    wall, opened = np.zeros(state.shape, np.bool_), np.zeros(state.shape, np.bool_)
    blocks = voxels.arrays.log_odds.reshape(voxels.capacity, BLOCK, BLOCK, settings.layers)
    for slot in voxels.used_slots():
        block_x, block_y = voxels.arrays.slot_xy[slot]
        row, column = int(block_y) * BLOCK - y0, int(block_x) * BLOCK - x0
        at = np.s_[row : row + BLOCK, column : column + BLOCK]
        wall[at] = (blocks[slot, :, :, first:] >= settings.occupied_from).any(axis=2)
        opened[at] = (blocks[slot] < 0).any(axis=2)
    origin = (x0 * settings.resolution, y0 * settings.resolution)
    return RoomSlice(settings.resolution, origin, wall, opened, state == FREE)
