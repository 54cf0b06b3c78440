"""Maps that cross a seam."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
FREE = 0
INSCRIBED = 99
LETHAL = 100


@dataclass(frozen=True, eq=False)
class GridMap:
    """An int8 grid (H, W), row = y, column = x, cell (0, 0) centred half a cell from `origin`, in frame `map`.

    Occupancy: -1 unknown, 0 free, 100 occupied. Costmap: -1 unknown, 0 free, 1..98 graded, 99 the footprint's inscribed
    circle touches an obstacle, 100 lethal.
    """

    stamp_s: float
    resolution: float
    origin: tuple[float, float]
    data: NDArray[np.int8]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (int(self.data.shape[0]), int(self.data.shape[1]))

    def to_cell(self, x: float, y: float) -> tuple[int, int]:
        """(row, column) of the cell that holds a point; may lie outside the grid."""
        return (
            math.floor((y - self.origin[1]) / self.resolution),
            math.floor((x - self.origin[0]) / self.resolution),
        )

    def to_point(self, row: int, column: int) -> tuple[float, float]:
        """The centre (x, y) of a cell."""
        return (
            self.origin[0] + (column + 0.5) * self.resolution,
            self.origin[1] + (row + 0.5) * self.resolution,
        )

    def contains(self, row: int, column: int) -> bool:
        """Whether the cell lies in the grid."""
        rows, columns = self.shape
        return 0 <= row < rows and 0 <= column < columns

    def at(self, x: float, y: float) -> int:
        """Value at a point, UNKNOWN outside the grid."""
        row, column = self.to_cell(x, y)
        return int(self.data[row, column]) if self.contains(row, column) else UNKNOWN


@dataclass(frozen=True, eq=False)
class MapSnapshot:
    """The maps of one robot at one time, all on one grid.

    `occupancy` as in `GridMap`; `costmap` graded; `inspected` (H, W) bool: the cell was within the detector's range and
    unoccluded in some detection frame.
    """

    stamp_s: float
    occupancy: GridMap
    costmap: GridMap
    inspected: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class VoxelDelta:
    """Changed voxels: integer keys (N, 3) int32 in `map` (key = floor(p / resolution)) and their log-odds (N,) int8.

    A log-odds of 0 says the voxel was forgotten. `sequence` grows by one a delta and restarts at 0 with a full map.
    """

    stamp_s: float
    sequence: int
    resolution: float
    keys: NDArray[np.int32]
    log_odds: NDArray[np.int8]
