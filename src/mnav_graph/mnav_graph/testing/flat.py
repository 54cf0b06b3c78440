"""Frames, maps and rooms of a small flat for the tests of the graph."""

from __future__ import annotations

import math

import numpy as np

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import OPTICAL_IN_BODY, SE2, SE3
from mnav_core.maps import GridMap, MapSnapshot
from mnav_core.sensing import ArticulationState, Detection, DetectionFrame, InteractionKind
from mnav_perception.rooms.records import Passage, Room, RoomMap

CAMERA = PinholeCamera.from_hfov(640, 480, math.radians(90.0))
KIND = {"door": InteractionKind.CHANNEL, "fridge": InteractionKind.CONTAINER, "drawer": InteractionKind.CONTAINER}
CELL = 0.05
ORIGIN = SE2(0.0, 0.0, 0.0)


def camera_at(pose: SE2, height: float = 1.25) -> SE3:
    """An optical frame that looks along the heading of a planar pose."""
    return pose.to_se3(height) @ SE3(OPTICAL_IN_BODY, np.zeros(3))


def frame_of(
    things: list[tuple[str, str, tuple[float, float, float]]],
    stamp_s: float,
    pose: SE2 = ORIGIN,
    states: dict[str, ArticulationState] | None = None,
    sizes: dict[str, tuple[float, float, float]] | None = None,
    view: str = "front",
) -> DetectionFrame:
    """A frame of (id, category, centre in the map); sizes are of the optical frame."""
    camera = camera_at(pose)
    inverse = camera.inverse()
    made = []
    for name, category, at in things:
        centre = inverse.apply(np.array(at))
        made.append(
            Detection(
                name, category, 1.0, (0.0, 0.0, 50.0, 50.0), None, (float(centre[0]), float(centre[1]),
                float(centre[2])), (sizes or {}).get(category, (0.1, 0.1, 0.1)), KIND.get(category,
                InteractionKind.NONE), (states or {}).get(category, ArticulationState.UNKNOWN),
            )
        )  # fmt: skip
    return DetectionFrame(view, stamp_s, CAMERA, camera, tuple(made))


def two_rooms(joined: bool = False, shift: int = 0, swap: bool = False) -> RoomMap:
    """Two rooms of 4 x 4 m beside each other from (0, 0), the wall at x = 4; `shift` grows the grid to the left."""
    labels = np.zeros((80, 164 + shift), np.int32)
    left, right = (2, 1) if swap else (1, 2)
    labels[:, shift : shift + 80] = left
    labels[:, shift + 84 : shift + 164] = right
    rooms = (Room(left, (2.0, 2.0), 16.0), Room(right, (6.2, 2.0), 16.0))
    passages = (Passage((1, 2), (4.1, 2.0), 0.9),) if joined else ()
    return RoomMap(CELL, (-shift * CELL, 0.0), labels, tuple(sorted(rooms, key=lambda r: r.id)), passages)


def flat_maps(door_open: bool = False, stamp_s: float = 0.0) -> MapSnapshot:
    """The maps of those rooms: free inside, walls around and between, inscribed cells beside walls."""
    data = np.full((80, 164), 0, np.int8)
    data[:, 80:84] = 100
    if door_open:
        data[31:49, 80:84] = 0
    data[0, :] = data[-1, :] = data[:, 0] = data[:, -1] = 100
    cost = data.copy()
    grid = GridMap(stamp_s, CELL, (0.0, 0.0), data)
    return MapSnapshot(stamp_s, grid, GridMap(stamp_s, CELL, (0.0, 0.0), cost), np.ones(data.shape, bool))
