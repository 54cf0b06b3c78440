"""Rooms and the passages between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RoomKind:
    """A kind of room and how plausible it is from the contents, as a share of all kinds (0..1)."""

    kind: str
    share: float


@dataclass(frozen=True)
class Room:
    """One room: the label of its cells, centroid in `map`, floor area, what it may be (best first; empty: unknown)."""

    id: int
    centroid: tuple[float, float]
    area_m2: float
    kinds: tuple[RoomKind, ...] = ()


@dataclass(frozen=True)
class Passage:
    """An opening between two rooms, by their ids, at its middle in `map`, as wide as its free cells."""

    rooms: tuple[int, int]
    centre: tuple[float, float]
    width_m: float


@dataclass(frozen=True, eq=False)
class RoomMap:
    """Rooms of one map. `labels` (H, W) int32 holds room ids, 0 elsewhere; row is y, column x, from `origin`."""

    resolution: float
    origin: tuple[float, float]
    labels: NDArray[np.int32]
    rooms: tuple[Room, ...]
    passages: tuple[Passage, ...]

    def room_at(self, x: float, y: float) -> int:
        """Id of the room at a point of `map`, 0 where there is none."""
        column = int(np.floor((x - self.origin[0]) / self.resolution))
        row = int(np.floor((y - self.origin[1]) / self.resolution))
        inside = 0 <= row < self.labels.shape[0] and 0 <= column < self.labels.shape[1]
        return int(self.labels[row, column]) if inside else 0
