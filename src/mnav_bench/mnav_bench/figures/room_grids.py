"""Grids of rooms with doors, as large as a figure asks for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import LETHAL, GridMap
from mnav_core.randomness import generator

RESOLUTION = 0.05
WALL_CELLS = 3
DOOR_CELLS = 20
MARGIN_CELLS = 6


def room_grid(side: int, seed: int, room_cells: int = 100) -> GridMap:
    """Occupancy (side, side), 0 and 100: rooms of about `room_cells` a side behind walls of 15 cm.

    Every wall between two rooms has a door of 1 m; every room holds a few boxes away from walls and doors.
    """
    rng = generator("room grid", side, seed)
    count = max(side // room_cells, 2)
    edges = np.linspace(0, side - WALL_CELLS, count + 1).astype(int)
    data = np.zeros((side, side), np.int8)
    for edge in edges:
        data[edge : edge + WALL_CELLS] = LETHAL
        data[:, edge : edge + WALL_CELLS] = LETHAL
    for row in range(count):
        for column in range(count):
            top, left = int(edges[row]), int(edges[column])
            bottom, right = int(edges[row + 1]), int(edges[column + 1])
            if column + 1 < count:
                at = _door(rng, top, bottom)
                data[at : at + DOOR_CELLS, right : right + WALL_CELLS] = 0
            if row + 1 < count:
                at = _door(rng, left, right)
                data[bottom : bottom + WALL_CELLS, at : at + DOOR_CELLS] = 0
            _furnish(rng, data, (top, left, bottom, right))
    return GridMap(0.0, RESOLUTION, (0.0, 0.0), data)


def _door(rng: np.random.Generator, start: int, end: int) -> int:
    """First cell of a door in a wall whose room spans [start, end)."""
    low, high = start + WALL_CELLS + MARGIN_CELLS, end - DOOR_CELLS - MARGIN_CELLS
    return int(rng.integers(low, max(high, low + 1)))


def _furnish(rng: np.random.Generator, data: NDArray[np.int8], room: tuple[int, int, int, int]) -> None:
    """A few boxes in the middle of a room, so that every door stays free."""
    top, left, bottom, right = room
    quarter = (bottom - top) // 4
    for _ in range(int(rng.integers(1, 4))):
        height, width = (int(n) for n in rng.integers(6, 20, 2))
        row = int(rng.integers(top + quarter, max(bottom - quarter - height, top + quarter + 1)))
        column = int(rng.integers(left + quarter, max(right - quarter - width, left + quarter + 1)))
        data[row : row + height, column : column + width] = LETHAL
