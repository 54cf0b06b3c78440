"""Rooms under lasting ids, and the ways between them, from one segmentation after another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnav_graph.records import Entity, NodeKind, Point2, RoomNode, RoomPassage
from mnav_graph.settings import GraphSettings
from mnav_perception.rooms.records import RoomMap


@dataclass(frozen=True)
class RoomGrid:
    """Room labels of the newest segmentation, run by run in row-major order: (index into `names` + 1 or 0, length)."""

    resolution: float = 0.05
    origin: Point2 = (0.0, 0.0)
    shape: tuple[int, int] = (0, 0)
    names: tuple[str, ...] = ()
    runs: tuple[tuple[int, int], ...] = ()


def packed(labels: NDArray[np.int32], resolution: float, origin: Point2, names: tuple[str, ...]) -> RoomGrid:
    """The grid as runs."""
    flat = np.asarray(labels).ravel()
    if not flat.size:
        return RoomGrid(resolution, origin, (labels.shape[0], labels.shape[1]), names)
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1, [flat.size]])
    runs = tuple(zip(flat[starts[:-1]].tolist(), np.diff(starts).tolist(), strict=True))
    return RoomGrid(resolution, origin, (labels.shape[0], labels.shape[1]), names, runs)


def unpacked(grid: RoomGrid) -> NDArray[np.int32]:
    """The labels (H, W) int32. Raises ValueError when the runs do not fill the shape."""
    total = sum(length for _, length in grid.runs)
    if total != grid.shape[0] * grid.shape[1]:
        raise ValueError(f"room grid: runs cover {total} cells, allowed: {grid.shape[0]} x {grid.shape[1]}")
    values = np.array([value for value, _ in grid.runs], np.int32)
    return np.repeat(values, [length for _, length in grid.runs]).reshape(grid.shape)


@dataclass(frozen=True, eq=False)
class RoomLayer:
    """The newest labels (H, W), 0 or index + 1 into `names`."""

    labels: NDArray[np.int32]
    resolution: float
    origin: Point2
    names: tuple[str, ...]

    def room_at(self, x: float, y: float, reach_m: float = 0.0) -> str:
        """The room at a point, else the one nearest within `reach_m`, else ""."""
        near = self.rooms_near(x, y, reach_m)
        return near[0] if near else ""

    def rooms_near(self, x: float, y: float, reach_m: float) -> tuple[str, ...]:
        """Rooms with floor within `reach_m` of a point, nearest first."""
        row, column = self._cell(x, y)
        reach = math.ceil(reach_m / self.resolution)
        r0, c0 = max(row - reach, 0), max(column - reach, 0)
        window = self.labels[r0 : max(row + reach + 1, 0), c0 : max(column + reach + 1, 0)]
        if not window.size or not window.any():
            return ()
        rows, columns = np.nonzero(window)
        squares = (rows + r0 - row) ** 2 + (columns + c0 - column) ** 2
        inside = squares <= max(reach, 0) ** 2
        labels, squares = window[rows, columns][inside], squares[inside]
        nearest = {int(label): int(squares[labels == label].min()) for label in np.unique(labels)}
        return tuple(self.names[label - 1] for label in sorted(nearest, key=lambda k: (nearest[k], k)))

    def cells_of(self, room: str, stride: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x and y of the middles of every `stride`-th row's and column's cells of a room."""
        label = self.names.index(room) + 1 if room in self.names else -1
        rows, columns = np.nonzero(self.labels[::stride, ::stride] == label)
        xs = self.origin[0] + (columns * stride + 0.5) * self.resolution
        ys = self.origin[1] + (rows * stride + 0.5) * self.resolution
        return np.asarray(xs, np.float64), np.asarray(ys, np.float64)

    def _cell(self, x: float, y: float) -> tuple[int, int]:
        return (
            math.floor((y - self.origin[1]) / self.resolution),
            math.floor((x - self.origin[0]) / self.resolution),
        )

    def grid(self) -> RoomGrid:
        """The layer as it is saved."""
        return packed(self.labels, self.resolution, self.origin, self.names)

    @staticmethod
    def of_grid(grid: RoomGrid) -> RoomLayer:
        """The layer that was saved. Raises ValueError when it does not fill its shape."""
        return RoomLayer(unpacked(grid), grid.resolution, grid.origin, grid.names)


NO_ROOMS = RoomLayer(np.zeros((0, 0), np.int32), 0.05, (0.0, 0.0), ())


def named_rooms(
    segmented: RoomMap, known: Mapping[str, RoomNode], before: RoomLayer, stamp_s: float, first_number: int
) -> tuple[dict[str, RoomNode], RoomLayer, int]:
    """All rooms with their ids kept where floors overlap most, the new layer, and the next free number.

    A room that no new region overlaps, or that lost its floor to a larger one, stays known but is not current.
    """
    owners = _owners(segmented, before)
    names: dict[int, str] = {}
    for _, label, name in owners:
        if label not in names and name not in names.values():
            names[label] = name
    number = first_number
    rooms = {room_id: replace(node, current=False) for room_id, node in known.items()}
    for room in segmented.rooms:
        if room.id not in names:
            names[room.id] = f"room_{number}"
            number += 1
        name = names[room.id]
        visited = known[name].visited_s if name in known else None
        rooms[name] = RoomNode(name, room.centroid, room.area_m2, room.kinds, stamp_s, visited)
    ordered = tuple(names[room.id] for room in segmented.rooms)
    table = np.zeros(int(segmented.labels.max(initial=0)) + 1, np.int32)
    for position, room in enumerate(segmented.rooms):
        table[room.id] = position + 1
    return rooms, RoomLayer(table[segmented.labels], segmented.resolution, segmented.origin, ordered), number


def _owners(segmented: RoomMap, before: RoomLayer) -> list[tuple[int, int, str]]:
    """(-shared cells, new label, old name) of every overlapping pair, most cells first."""
    if not before.labels.size or not segmented.labels.size:
        return []
    down = round((segmented.origin[1] - before.origin[1]) / before.resolution)
    right = round((segmented.origin[0] - before.origin[0]) / before.resolution)
    rows, columns = np.nonzero(segmented.labels)
    r, c = rows + down, columns + right
    inside = (r >= 0) & (c >= 0) & (r < before.labels.shape[0]) & (c < before.labels.shape[1])
    new, old = segmented.labels[rows[inside], columns[inside]], before.labels[r[inside], c[inside]]
    pairs, counts = np.unique(np.stack([new[old > 0], old[old > 0]]), axis=1, return_counts=True)
    return sorted(
        (-int(count), int(a), before.names[int(b) - 1]) for a, b, count in zip(pairs[0], pairs[1], counts, strict=True)
    )


def passages_of(
    segmented: RoomMap, layer: RoomLayer, channels: Iterable[Entity], settings: GraphSettings
) -> tuple[RoomPassage, ...]:
    """The openings of a segmentation by room ids, each with the door whose leaf is at it."""
    name_of = {room.id: layer.names[position] for position, room in enumerate(segmented.rooms)}
    doors = [entity for entity in channels if entity.kind is NodeKind.CHANNEL]
    found = []
    for passage in segmented.passages:
        a, b = (name_of[room] for room in passage.rooms)
        near = [(_from_box(door, passage.centre), door.id) for door in doors]
        reach = [pair for pair in near if pair[0] <= settings.passage_reach_m]
        found.append(RoomPassage((a, b), passage.centre, min(reach)[1] if reach else ""))
    return tuple(found)


def _from_box(entity: Entity, point: Point2) -> float:
    dx = max(entity.low[0] - point[0], 0.0, point[0] - entity.high[0])
    dy = max(entity.low[1] - point[1], 0.0, point[1] - entity.high[1])
    return math.hypot(dx, dy)
