"""Spots of a path that turned out impassable for the footprint, kept out of the plans of one motion."""

from __future__ import annotations

import numpy as np

from mnav_core.maps import FREE, INSCRIBED, GridMap
from mnav_executor_geo.paths import Path

_RADIUS_M = 0.3
_AHEAD_M = 0.35
_MOST = 8


class Detours:
    """Marks a disc around each spot as too near an obstacle, on a copy of the costmap."""

    def __init__(self) -> None:
        self._spots: list[tuple[float, float]] = []
        self._source: GridMap | None = None
        self._marked: GridMap | None = None

    def __len__(self) -> int:
        return len(self._spots)

    def avoid_ahead(self, path: Path, index: int) -> None:
        """Avoid the place a little ahead on a path; the oldest spot is forgotten when there are many."""
        at = min(len(path.points) - 1, int(np.searchsorted(path.lengths_m, path.lengths_m[index] + _AHEAD_M)))
        spot = (float(path.points[at, 0]), float(path.points[at, 1]))
        self._spots = [*self._spots[-(_MOST - 1) :], spot]
        self._source = None

    def forget(self) -> None:
        """Avoid nothing."""
        self._spots = []
        self._source = None

    def mark(self, costmap: GridMap) -> GridMap:
        """The costmap to plan on; the same object for the same costmap and spots."""
        if not self._spots:
            return costmap
        if self._source is not costmap or self._marked is None:
            rows, columns = costmap.shape
            x = costmap.origin[0] + (np.arange(columns) + 0.5) * costmap.resolution
            y = costmap.origin[1] + (np.arange(rows) + 0.5) * costmap.resolution
            data = costmap.data.copy()
            for sx, sy in self._spots:
                near = (x[None, :] - sx) ** 2 + (y[:, None] - sy) ** 2 <= _RADIUS_M**2
                data[near & (data >= FREE) & (data < INSCRIBED)] = INSCRIBED
            self._source = costmap
            self._marked = GridMap(costmap.stamp_s, costmap.resolution, costmap.origin, data)
        return self._marked
