"""Rooms as markers: their cells in colour, what they may be, and the passages between them."""

from __future__ import annotations

import colorsys

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from mnav_core import frames
from mnav_core.messages.stamps import to_time
from mnav_perception.rooms.records import Room, RoomMap

TEXT_HEIGHT_M, TEXT_AT_M, FLOOR_AT_M, PASSAGE_HEIGHT_M = 0.3, 1.5, 0.02, 0.1
# Every so many cells of a room is drawn.
STRIDE = 4
GOLDEN = 0.618034


def to_room_markers(rooms: RoomMap, stamp_s: float) -> MarkerArray:
    """Markers in `map`, the first of which deletes what was drawn before; namespaces `cells`, `names`, `passages`."""
    found = [Marker(action=Marker.DELETEALL)]
    for room in rooms.rooms:
        found += [_cells(rooms, room, stamp_s), _name(room, stamp_s)]
    for number, passage in enumerate(rooms.passages):
        marker = _marker("passages", number, Marker.SPHERE, stamp_s)
        marker.pose.position = Point(x=passage.centre[0], y=passage.centre[1], z=FLOOR_AT_M)
        marker.scale.x = marker.scale.y = passage.width_m
        marker.scale.z = PASSAGE_HEIGHT_M
        marker.color = ColorRGBA(r=1.0, g=1.0, b=1.0, a=0.6)
        found.append(marker)
    return MarkerArray(markers=found)


def room_text(room: Room) -> str:
    """What a room may be, how sure that is, and its floor area."""
    kind = "room" if not room.kinds else f"{room.kinds[0].kind} {100.0 * room.kinds[0].share:.0f} %"
    return f"{kind}, {room.area_m2:.0f} m2"


def _cells(rooms: RoomMap, room: Room, stamp_s: float) -> Marker:
    marker = _marker("cells", room.id, Marker.CUBE_LIST, stamp_s)
    size = STRIDE * rooms.resolution
    marker.scale.x = marker.scale.y = size
    marker.scale.z = 0.01
    marker.color = _colour(room.id)
    grid = rooms.labels[STRIDE // 2 :: STRIDE, STRIDE // 2 :: STRIDE]
    for row, column in np.argwhere(grid == room.id):
        x = rooms.origin[0] + (float(column) + 0.5) * size
        y = rooms.origin[1] + (float(row) + 0.5) * size
        marker.points.append(Point(x=x, y=y, z=FLOOR_AT_M))
    return marker


def _name(room: Room, stamp_s: float) -> Marker:
    marker = _marker("names", room.id, Marker.TEXT_VIEW_FACING, stamp_s)
    marker.pose.position = Point(x=room.centroid[0], y=room.centroid[1], z=TEXT_AT_M)
    marker.scale.z = TEXT_HEIGHT_M
    marker.color = ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0)
    marker.text = room_text(room)
    return marker


def _marker(namespace: str, number: int, kind: int, stamp_s: float) -> Marker:
    marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
    marker.header.frame_id, marker.header.stamp = frames.MAP, to_time(stamp_s)
    marker.pose.orientation.w = 1.0
    return marker


def _colour(number: int) -> ColorRGBA:
    r, g, b = colorsys.hsv_to_rgb((number * GOLDEN) % 1.0, 0.6, 0.9)
    return ColorRGBA(r=r, g=g, b=b, a=0.5)
