"""Which geoms a view can show: inside its frustum, and in rooms that can be seen through open holes in walls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import NDArray

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE3
from mnav_sim_bridge.house.emitter import Group
from mnav_sim_bridge.house.records import HouseRecord

# Half a wall and what sticks out of it: a geom this close to a room's floor can be seen from inside.
ROOM_MARGIN = 0.16
PORTAL_MARGIN = 0.1
AT_PORTAL = 0.5
DOOR_WIDTH = 0.9
Point = tuple[float, float]


@dataclass(frozen=True)
class Portal:
    """A hole between two rooms, or to the outside (room -1): its two ends in the map."""

    rooms: tuple[int, int]
    a: Point
    b: Point


@dataclass(frozen=True)
class Cone:
    """Directions within `half` radians of `heading`; half = pi is everywhere."""

    heading: float
    half: float

    def cut(self, low: float, high: float) -> Cone | None:
        """The part between two directions, counter-clockwise from `low` to `high`; None when empty."""
        if self.half >= math.pi:
            return Cone((low + high) / 2, (high - low) / 2)
        a = math.remainder((low + high) / 2 - self.heading, 2 * math.pi)
        half = (high - low) / 2
        start, end = max(-self.half, a - half), min(self.half, a + half)
        return Cone(self.heading + (start + end) / 2, (end - start) / 2) if end > start else None


@dataclass
class ViewCuller:
    """Hides what a view cannot show, so that a view costs what it shows. Never hides anything that could be seen."""

    model: mujoco.MjModel
    record: HouseRecord
    _portals: tuple[Portal, ...] = field(default=(), init=False, repr=False)
    _groups: NDArray[np.int32] | None = field(default=None, init=False, repr=False)
    _rooms: NDArray[np.bool_] | None = field(default=None, init=False, repr=False)

    def prepare(self, data: mujoco.MjData) -> None:
        """Sort geoms into rooms from a state with valid kinematics; called by the first use."""
        self._portals = tuple(_portals(self.record))
        self._groups = np.array(self.model.geom_group, np.int32)
        count = len(self.record.rooms)
        table = np.zeros((self.model.ngeom, count + 1), bool)
        centres, reach = np.asarray(data.geom_xpos)[:, :2], _flat_reach(self.model, data)
        for k, room in enumerate(self.record.rooms):
            x0, y0, x1, y1 = room.rect
            table[:, k] = (
                (centres[:, 0] + reach[:, 0] > x0 - ROOM_MARGIN) & (centres[:, 0] - reach[:, 0] < x1 + ROOM_MARGIN)
                & (centres[:, 1] + reach[:, 1] > y0 - ROOM_MARGIN) & (centres[:, 1] - reach[:, 1] < y1 + ROOM_MARGIN)
            )  # fmt: skip
        # What moves may leave its room: leaves are seen from both sides, robots from everywhere.
        moving = np.asarray(self.model.body_weldid)[np.asarray(self.model.geom_bodyid)] != 0
        table[moving] = True
        table[:, count] = ~table[:, :count].any(1) | moving
        self._rooms = table

    def show(self, data: mujoco.MjData, camera: PinholeCamera, optical_in_map: SE3) -> None:
        """Put every geom that the view cannot show into the hidden group, and all others back into their own."""
        if self._groups is None or self._rooms is None:
            self.prepare(data)
        if self._groups is None or self._rooms is None:
            raise RuntimeError("culler: geoms were not sorted into rooms")
        shown = _in_frustum(self.model, data, camera, optical_in_map)
        rooms = self._seen_rooms(camera, optical_in_map)
        if rooms is not None:
            shown &= self._rooms[:, rooms].any(1)
        self.model.geom_group[:] = np.where(shown, self._groups, int(Group.HIDDEN))

    def restore(self) -> None:
        """Every geom back into its own group."""
        if self._groups is not None:
            self.model.geom_group[:] = self._groups

    def _seen_rooms(self, camera: PinholeCamera, optical_in_map: SE3) -> list[int] | None:
        """Rooms that the view may see into, the last index standing for what is in none; None when it could be any."""
        x, y = float(optical_in_map.translation[0]), float(optical_in_map.translation[1])
        start = [
            k for k, r in enumerate(self.record.rooms)
            if r.rect[0] - 0.1 <= x <= r.rect[2] + 0.1 and r.rect[1] - 0.1 <= y <= r.rect[3] + 0.1
        ]  # fmt: skip
        if not start:
            return None
        seen: set[int] = set()
        cone = _view_cone(camera, optical_in_map)
        stack: list[tuple[int, Cone, tuple[int, ...]]] = [(k, cone, (k,)) for k in start]
        while stack:
            room, cone, path = stack.pop()
            seen.add(room)
            for portal in self._portals:
                if room not in portal.rooms:
                    continue
                other = portal.rooms[0] if portal.rooms[1] == room else portal.rooms[1]
                rest = _through(portal, (x, y), cone)
                if rest is None or other in path:
                    continue
                if other < 0:
                    # Past a window lies only the ground, unless the outline has a corner that looks back at the house.
                    if not _is_box(self.record):
                        return None
                    continue
                stack.append((other, rest, (*path, other)))
        return [*sorted(seen), len(self.record.rooms)]


def _portals(record: HouseRecord) -> Iterator[Portal]:
    index = {room.id: k for k, room in enumerate(record.rooms)}
    for door in record.doors:
        yield Portal((index[door.rooms[0]], index[door.rooms[1]]), *_ends(door.centre, door.axis, DOOR_WIDTH))
    for opening in record.openings:
        yield Portal(
            (index[opening.rooms[0]], index[opening.rooms[1]]), *_ends(opening.centre, opening.axis, opening.width)
        )
    for window in record.windows:
        yield Portal((index[window.room], -1), *_ends((window.centre[0], window.centre[1]), window.axis, window.width))


def _ends(centre: Point, axis: str, width: float) -> tuple[Point, Point]:
    half = width / 2 + PORTAL_MARGIN
    dx, dy = (half, 0.0) if axis == "x" else (0.0, half)
    return (centre[0] - dx, centre[1] - dy), (centre[0] + dx, centre[1] + dy)


def _through(portal: Portal, eye: Point, cone: Cone) -> Cone | None:
    """What of a cone passes a portal."""
    (ax, ay), (bx, by) = portal.a, portal.b
    mx, my = (ax + bx) / 2, (ay + by) / 2
    half = math.hypot(bx - ax, by - ay) / 2
    if math.hypot(mx - eye[0], my - eye[1]) < half + AT_PORTAL:
        return cone
    first, second = math.atan2(ay - eye[1], ax - eye[0]), math.atan2(by - eye[1], bx - eye[0])
    turn = math.remainder(second - first, 2 * math.pi)
    low, high = (first, first + turn) if turn >= 0 else (second, second - turn)
    return cone.cut(low, high)


def _view_cone(camera: PinholeCamera, optical_in_map: SE3) -> Cone:
    """Horizontal directions of a view's corners; everywhere when the view reaches near straight up or down."""
    corners = camera.unproject(
        [(0, 0), (camera.width, 0), (0, camera.height), (camera.width, camera.height)], np.ones(4)
    )
    rays = corners @ optical_in_map.rotation.T
    forward = optical_in_map.rotation[:, 2]
    heading = math.atan2(forward[1], forward[0])
    ahead = np.array([math.cos(heading), math.sin(heading)])
    if np.any(rays[:, :2] @ ahead < 0.15 * np.linalg.norm(rays, axis=1)):
        return Cone(0.0, math.pi)
    angles = [abs(math.remainder(math.atan2(r[1], r[0]) - heading, 2 * math.pi)) for r in rays]
    return Cone(heading, max(angles) + 0.02)


def _in_frustum(
    model: mujoco.MjModel, data: mujoco.MjData, camera: PinholeCamera, optical_in_map: SE3
) -> NDArray[np.bool_]:
    """Geoms whose bounding ball touches the view's pyramid; what has no bound is always in."""
    centres = (np.asarray(data.geom_xpos) - optical_in_map.translation) @ optical_in_map.rotation
    radius = np.asarray(model.geom_rbound)
    left, right = camera.cx / camera.fx, (camera.width - camera.cx) / camera.fx
    top, bottom = camera.cy / camera.fy, (camera.height - camera.cy) / camera.fy
    x, y, z = centres[:, 0], centres[:, 1], centres[:, 2]
    inside = z > -radius
    for side, slope in ((x, right), (-x, left), (y, bottom), (-y, top)):
        inside &= side - slope * z <= radius * math.hypot(1.0, slope)
    return inside | (radius <= 0)


def _flat_reach(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float64]:
    """Half extents along x and y of each geom's box, (N, 2)."""
    turn = np.abs(np.asarray(data.geom_xmat).reshape(-1, 3, 3))
    half = np.asarray(model.geom_aabb).reshape(-1, 6)[:, 3:]
    middle = np.asarray(model.geom_aabb).reshape(-1, 6)[:, :3]
    reach = np.einsum("nij,nj->ni", turn, half + np.abs(middle))
    return np.asarray(reach[:, :2])


def _is_box(record: HouseRecord) -> bool:
    """True when the rooms fill the outline's rectangle, so that no outer wall faces another."""
    area = sum((r.rect[2] - r.rect[0] + 0.12) * (r.rect[3] - r.rect[1] + 0.12) for r in record.rooms)
    return area > 0.995 * record.size[0] * record.size[1]
