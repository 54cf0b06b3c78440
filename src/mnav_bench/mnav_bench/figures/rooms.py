"""Figures of rooms: how many true rooms a map sensed all over a house shows, and how many get their kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_bench.figures.rows import FigureRow, at_least
from mnav_bench.geodesic import inflate
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.randomness import derive_seed
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame, SensorRequest
from mnav_perception.mapper import Mapper
from mnav_perception.rooms.contents import PlacePrior, things_in, type_rooms
from mnav_perception.rooms.records import RoomMap
from mnav_perception.rooms.segmentation import RoomSettings, find_rooms
from mnav_perception.rooms.slices import slice_rooms
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.house.records import HouseRecord, RoomRecord
from mnav_sim_bridge.world import MujocoWorld, make_world

HOUSES, FOUND_PERCENT, TYPED_PERCENT, IOU = 20, 85.0, 60.0, 0.6
# Where the robot stands to sense: a lattice so wide, with a scan every time and the cameras every third time.
SPACING_M, SCANS_A_PLACE, LOOK_EVERY = 1.0, 2, 3
MARGIN_M = 0.05


@dataclass(frozen=True)
class HouseScore:
    """One house: true rooms, those found at the IoU, those found whose best kind is the true one."""

    seed: int
    rooms: int
    found: int
    typed: int
    regions: int


def room_figures(robot: RobotDescription, prior: PlacePrior, houses: int = HOUSES) -> list[FigureRow]:
    """Two rows over so many houses."""
    scores = [score_house(derive_seed("rooms", index), robot, prior) for index in range(houses)]
    rooms, found = sum(s.rooms for s in scores), sum(s.found for s in scores)
    typed = sum(s.typed for s in scores)
    worst = min(scores, key=lambda s: s.found / s.rooms)
    detail = f"{found} of {rooms} rooms in {houses} houses; worst house {worst.found} of {worst.rooms}"
    return [
        at_least(f"rooms found at IoU >= {IOU}", 100.0 * found / rooms, FOUND_PERCENT, "%", detail),
        at_least("rooms found that got their kind", 100.0 * typed / max(found, 1), TYPED_PERCENT, "%"),
    ]


def score_house(seed: int, robot: RobotDescription, prior: PlacePrior) -> HouseScore:
    """Sense one house all over and hold its rooms against the truth."""
    house = generate_house(seed, robot).house
    world = make_world(house, {robot.name: (robot, SE2(*_middle(house.record.rooms[0])))})
    try:
        mapper, frames = sense_all_over(world, robot)
    finally:
        world.close()
    settings = RoomSettings()
    found = find_rooms(slice_rooms(mapper.voxels, mapper.rule, settings.slice_from_m), settings)
    found = type_rooms(found, things_in(frames), prior)
    matches = match_rooms(found, house.record)
    kinds = {room.id: room.kinds[0].kind if room.kinds else "" for room in found.rooms}
    typed = sum(_same_kind(kinds[match], house.record.rooms[k].kind) for k, match in matches.items())
    return HouseScore(seed, len(house.record.rooms), len(matches), typed, len(found.rooms))


def sense_all_over(world: MujocoWorld, robot: RobotDescription) -> tuple[Mapper, list[DetectionFrame]]:
    """The map of a robot that stood wherever it can get, and what its detector saw from there."""
    mapper = Mapper(robot)
    frames: list[DetectionFrame] = []
    for index, pose in enumerate(places(world.truth().obstacle_map(robot.name), robot)):
        world.place(robot.name, pose)
        for turn in range(SCANS_A_PLACE):
            look = turn == 0 and index % LOOK_EVERY == 0
            frame = world.sense(robot.name, SensorRequest(scan=True, detect=tuple(robot.views) if look else ()))
            if frame.scan is not None:
                mapper.integrate_scan(frame.scan)
            frames += frame.detections
    return mapper, frames


def places(grid: GridMap, robot: RobotDescription) -> list[SE2]:
    """Poses on a lattice over the largest part of the floor that the robot can reach."""
    free = inflate(grid, robot.inscribed_radius + MARGIN_M)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(free.astype(np.uint8), connectivity=4)
    if len(stats) < 2:
        raise UsageError(f"robot {robot.name} can stand nowhere in this house")
    reached = labels == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())
    step = round(SPACING_M / grid.resolution)
    found: list[SE2] = []
    for row0 in range(0, grid.shape[0], step):
        for column0 in range(0, grid.shape[1], step):
            rows, columns = np.nonzero(reached[row0 : row0 + step, column0 : column0 + step])
            if len(rows):
                k = int(np.argmin(np.hypot(rows - step / 2, columns - step / 2)))
                point = grid.to_point(row0 + int(rows[k]), column0 + int(columns[k]))
                found.append(SE2(*point, 0.7 * len(found)))
    return found


def match_rooms(found: RoomMap, record: HouseRecord) -> dict[int, int]:
    """True room index to the id of the region that overlaps it at the IoU; above one half there is at most one."""
    matches = {}
    for index, room in enumerate(record.rooms):
        truth = _cells(room, found)
        ids, counts = np.unique(found.labels[truth], return_counts=True)
        for label, count in zip(ids.tolist(), counts.tolist(), strict=True):
            union = int(truth.sum()) + int((found.labels == label).sum()) - count
            if label and count / union >= IOU:
                matches[index] = int(label)
    return matches


def _cells(room: RoomRecord, found: RoomMap) -> NDArray[np.bool_]:
    """Cells of a room's rectangle. Rooms never lie wholly outside the grid."""
    x = found.origin[0] + (np.arange(found.labels.shape[1]) + 0.5) * found.resolution
    y = found.origin[1] + (np.arange(found.labels.shape[0]) + 0.5) * found.resolution
    x0, y0, x1, y1 = room.rect
    return np.asarray(((x >= x0) & (x <= x1))[None, :] & ((y >= y0) & (y <= y1))[:, None])


def _middle(room: RoomRecord) -> tuple[float, float]:
    return ((room.rect[0] + room.rect[2]) / 2.0, (room.rect[1] + room.rect[3]) / 2.0)


def _same_kind(guess: str, truth: str) -> bool:
    words: Sequence[str] = truth.replace("_", " ").split()
    return bool(guess) and guess.split()[0] == words[0]
