"""Rooms as the regions between walls, with doors closed by their lintels, or else by their narrowness."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_perception.rooms.records import Passage, Room, RoomMap
from mnav_perception.rooms.slices import RoomSlice

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class RoomSettings:
    """Lengths in metres, areas in square metres.

    `slice_from_m`: furniture ends below it and lintels begin. `gap_m`: holes in a sensed wall that are closed.
    `neck_m`: a region is split where it is narrower, when each side is a room by itself. `min_floor_share`: of a
    room's cells, those where a robot could stand; what is seen through a window has none.
    """

    slice_from_m: float = 2.05
    gap_m: float = 0.25
    neck_m: float = 1.0
    min_area_m2: float = 1.5
    min_core_m2: float = 1.0
    min_floor_share: float = 0.08
    reach_m: float = 0.3
    passage_m: float = 0.4

    def __post_init__(self) -> None:
        """Raise ValueError naming the setting, its value and what is allowed."""
        for name in ("slice_from_m", "gap_m", "neck_m", "min_area_m2", "min_core_m2", "reach_m", "passage_m"):
            value = getattr(self, name)
            if not 0.0 < value <= 20.0:
                raise ValueError(f"{name} = {value}, allowed: above 0, at most 20")
        if not 0.0 <= self.min_floor_share < 1.0:
            raise ValueError(f"min_floor_share = {self.min_floor_share}, allowed: from 0, below 1")


def find_rooms(slices: RoomSlice, settings: RoomSettings | None = None) -> RoomMap:
    """Rooms and passages of a slice. Ids go by area, the largest room is 1."""
    used = settings or RoomSettings()
    cell = slices.resolution
    if not slices.open.any():
        return RoomMap(cell, slices.origin, np.zeros(slices.open.shape, np.int32), (), ())
    barrier = _closed(slices.wall, used.gap_m / cell)
    regions = _components(slices.open & ~barrier)
    labels = _kept(_split_at_necks(regions, used, cell), slices.floor, used, cell)
    # The barrier is thicker than the wall: give the rooms back what lies between.
    labels = _grown(labels, slices.open & ~slices.wall, used.reach_m / cell)
    rooms = tuple(_room(label, labels, slices) for label in range(1, int(labels.max(initial=0)) + 1))
    return RoomMap(cell, slices.origin, labels, rooms, _passages(labels, slices, used))


def _closed(wall: NDArray[np.bool_], gap_cells: float) -> NDArray[np.bool_]:
    size = 2 * max(round(gap_cells / 2.0), 1) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    padded = np.pad(wall.astype(np.uint8), size)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, kernel)[size:-size, size:-size]
    # One more cell, so that a wall sensed in a diagonal line is tight.
    return np.asarray(cv2.dilate(closed, np.ones((2, 2), np.uint8)) > 0)


def _components(mask: NDArray[np.bool_]) -> Labels:
    return np.asarray(cv2.connectedComponents(mask.astype(np.uint8), connectivity=4)[1], np.int32)


def _split_at_necks(regions: Labels, settings: RoomSettings, cell: float) -> Labels:
    """Cut a region that falls into several cores when everything narrower than a neck is taken away."""
    distance = cv2.distanceTransform(np.pad((regions > 0).astype(np.uint8), 1), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[
        1:-1, 1:-1
    ]
    cores = _components(distance > settings.neck_m / (2.0 * cell))
    areas = np.bincount(cores.ravel()) * cell * cell
    by_region: dict[int, list[int]] = defaultdict(list)
    for core in np.flatnonzero(areas >= settings.min_core_m2):
        if core:
            row, column = np.argwhere(cores == core)[0]
            by_region[int(regions[row, column])].append(int(core))
    out = regions.copy()
    following = int(regions.max(initial=0)) + 1
    for region, members in by_region.items():
        if len(members) < 2:
            continue
        seeds = np.zeros(regions.shape, np.int32)
        for offset, member in enumerate(members):
            seeds[cores == member] = following + offset
        following += len(members)
        inside = regions == region
        out[inside] = _spread(seeds, inside)[inside]
    return out


def _spread(seeds: Labels, inside: NDArray[np.bool_]) -> Labels:
    """Labels of the seeds over the whole of `inside`, each cell by the nearest way within it."""
    labels = seeds.copy()
    for _ in range(sum(seeds.shape)):
        grown = cv2.dilate(labels.astype(np.float32), np.ones((3, 3), np.uint8)).astype(np.int32)
        fresh = inside & (labels == 0) & (grown > 0)
        if not fresh.any():
            break
        labels[fresh] = grown[fresh]
    return labels


def _grown(labels: Labels, allowed: NDArray[np.bool_], cells: float) -> Labels:
    """Labels carried over into unlabelled allowed cells, at most so many cells far."""
    out = labels.copy()
    for _ in range(max(round(cells), 1)):
        grown = cv2.dilate(out.astype(np.float32), np.ones((3, 3), np.uint8)).astype(np.int32)
        fresh = allowed & (out == 0) & (grown > 0)
        out[fresh] = grown[fresh]
    return out


def _kept(labels: Labels, floor: NDArray[np.bool_], settings: RoomSettings, cell: float) -> Labels:
    """Regions that can be rooms, renumbered from 1 by area."""
    cells = np.bincount(labels.ravel())
    standing = np.bincount(labels.ravel(), weights=floor.ravel(), minlength=len(cells))
    good = (cells * cell * cell >= settings.min_area_m2) & (standing >= settings.min_floor_share * np.maximum(cells, 1))
    good[0] = False
    order = [int(k) for k in np.argsort(-cells, kind="stable") if good[k]]
    table = np.zeros(len(cells), np.int32)
    table[order] = np.arange(1, len(order) + 1)
    return np.asarray(table[labels])


def _room(label: int, labels: Labels, slices: RoomSlice) -> Room:
    rows, columns = np.nonzero(labels == label)
    cell = slices.resolution
    centroid = (
        slices.origin[0] + (float(columns.mean()) + 0.5) * cell,
        slices.origin[1] + (float(rows.mean()) + 0.5) * cell,
    )
    return Room(label, centroid, len(rows) * cell * cell)


def _passages(labels: Labels, slices: RoomSlice, settings: RoomSettings) -> tuple[Passage, ...]:
    """Where the floor leads from one room into another: the cells at which both rooms, grown over the floor, meet."""
    cell = slices.resolution
    grown = _grown(labels, slices.floor, settings.passage_m / cell)
    meeting: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for here, there in (
        (np.s_[:, :-1], np.s_[:, 1:]),
        (np.s_[:-1, :], np.s_[1:, :]),
    ):
        a, b = grown[here], grown[there]
        both = (a > 0) & (b > 0) & (a != b) & slices.floor[here] & slices.floor[there]
        for row, column in np.argwhere(both):
            pair = (int(min(a[row, column], b[row, column])), int(max(a[row, column], b[row, column])))
            meeting[pair].append((int(row), int(column)))
    found = []
    for pair, cells in sorted(meeting.items()):
        mask = np.zeros(labels.shape, np.uint8)
        mask[tuple(np.array(cells).T)] = 1
        count, parts = cv2.connectedComponents(cv2.dilate(mask, np.ones((3, 3), np.uint8)))
        for part in range(1, count):
            rows, columns = np.nonzero((parts == part) & (mask > 0))
            width = max(float(np.ptp(rows)), float(np.ptp(columns))) * cell + cell
            centre = (
                slices.origin[0] + (float(columns.mean()) + 0.5) * cell,
                slices.origin[1] + (float(rows.mean()) + 0.5) * cell,
            )
            found.append(Passage(pair, centre, width))
    return tuple(found)
