"""Grids and voxels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from nav_msgs.msg import OccupancyGrid

from mnav_core import frames
from mnav_core.maps import FREE, LETHAL, GridMap, MapSnapshot, VoxelDelta
from mnav_core.messages.buffers import to_array
from mnav_core.messages.sensing import header
from mnav_core.messages.stamps import to_seconds, to_time
from mnav_interfaces.msg import VoxelDelta as VoxelDeltaMessage

# Keys and log-odds of one voxel take 13 bytes: 1.3 MB a message.
MAX_VOXELS = 100_000


def to_occupancy_grid(grid: GridMap) -> OccupancyGrid:
    """Grid message in `map`, stamped when the grid was derived."""
    message = OccupancyGrid(header=header(frames.MAP, grid.stamp_s), data=to_array(grid.data, "b"))
    info = message.info
    info.map_load_time = to_time(grid.stamp_s)
    info.resolution = float(grid.resolution)
    info.height, info.width = grid.shape
    info.origin.position.x, info.origin.position.y = float(grid.origin[0]), float(grid.origin[1])
    info.origin.orientation.w = 1.0
    return message


def grid_of(message: OccupancyGrid) -> GridMap:
    """Record of a grid message. Raises ValueError when it is turned, has no resolution, or its data do not fill it."""
    info = message.info
    # The message holds single precision: 0.05 comes back as 0.05000000074505806.
    resolution = float(f"{info.resolution:.7g}")
    if not resolution > 0.0:
        raise ValueError(f"grid resolution {info.resolution}, allowed: above 0")
    if abs(info.origin.orientation.z) > 1e-6 or abs(info.origin.orientation.x) + abs(info.origin.orientation.y) > 1e-6:
        raise ValueError("grid origin is turned, allowed: aligned with its frame")
    data = np.frombuffer(message.data, np.int8)
    if data.size != info.height * info.width:
        raise ValueError(f"grid data has {data.size} cells, allowed: {info.height} x {info.width}")
    origin = (info.origin.position.x, info.origin.position.y)
    return GridMap(to_seconds(message.header.stamp), resolution, origin, data.reshape(info.height, info.width))


def to_coverage_grid(snapshot: MapSnapshot) -> OccupancyGrid:
    """`inspected` as a grid: 100 inspected, 0 not."""
    values = np.where(snapshot.inspected, np.int8(LETHAL), np.int8(FREE))
    return to_occupancy_grid(replace(snapshot.occupancy, data=values))


def snapshot_of(occupancy: GridMap, costmap: GridMap, coverage: GridMap) -> MapSnapshot:
    """Snapshot of three grids of one time. Raises ValueError when they do not lie on one grid."""
    first = (occupancy.stamp_s, occupancy.origin, occupancy.shape)
    for name, grid in (("costmap", costmap), ("coverage", coverage)):
        other = (grid.stamp_s, grid.origin, grid.shape)
        if other != first:
            raise ValueError(f"{name} has stamp, origin, shape {other}, allowed: the map's {first}")
    return MapSnapshot(occupancy.stamp_s, occupancy, costmap, coverage.data > FREE)


def to_voxel_deltas(delta: VoxelDelta) -> list[VoxelDeltaMessage]:
    """Messages of a delta, none over 1.5 MB; all carry the delta's sequence."""
    messages = []
    for start in range(0, max(1, len(delta.keys)), MAX_VOXELS):
        part = slice(start, start + MAX_VOXELS)
        messages.append(
            VoxelDeltaMessage(
                header=header(frames.MAP, delta.stamp_s),
                sequence=delta.sequence,
                resolution=float(delta.resolution),
                keys=to_array(delta.keys[part], "i"),
                log_odds=to_array(delta.log_odds[part], "b"),
            )
        )
    return messages


def voxel_delta_of(message: VoxelDeltaMessage) -> VoxelDelta:
    """Record of a delta message. Raises ValueError when keys and log-odds do not match."""
    keys = np.frombuffer(message.keys, np.int32) if len(message.keys) else np.zeros(0, np.int32)
    log_odds = np.frombuffer(message.log_odds, np.int8) if len(message.log_odds) else np.zeros(0, np.int8)
    if len(keys) != 3 * len(log_odds):
        raise ValueError(f"voxels: {len(keys)} key numbers for {len(log_odds)} log-odds, allowed: three each")
    stamp_s, resolution = to_seconds(message.header.stamp), float(f"{message.resolution:.7g}")
    return VoxelDelta(stamp_s, message.sequence, resolution, keys.reshape(-1, 3), log_odds)
