"""Rooms of hand-made houses: lintels split them, furniture does not; contents say what they are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mnav_perception.rooms.contents import SeenThing, type_rooms
from mnav_perception.rooms.records import RoomMap
from mnav_perception.rooms.segmentation import RoomSettings, find_rooms
from mnav_perception.rooms.slices import RoomSlice

CELL = 0.05


def cells(metres: float) -> int:
    return round(metres / CELL)


def two_rooms(lintel: bool, door_m: float = 0.9, noise: float = 0.0) -> RoomSlice:
    """A room of 4 x 3 m and one of 3 x 3 m on its right, a wall of 15 cm between with a door in its middle."""
    shape = (cells(3.6), cells(7.75))
    opened = np.zeros(shape, bool)
    opened[cells(0.3) : cells(3.3), cells(0.3) : cells(4.3)] = True
    opened[cells(0.3) : cells(3.3), cells(4.45) : cells(7.45)] = True
    door = np.s_[cells(1.8 - door_m / 2) : cells(1.8 + door_m / 2), cells(4.3) : cells(4.45)]
    wall = ~opened
    opened[door] = True
    if not lintel:
        wall[door] = False
    if noise:
        wall &= np.random.default_rng(1).random(shape) > noise
    floor = opened.copy()
    floor[cells(0.3) : cells(1.5), cells(0.3) : cells(2.5)] = False  # a big table: seen over, not stood on
    return RoomSlice(CELL, (-1.0, 2.0), wall, opened, floor)


def overlap(rooms: RoomMap, room: int, box: tuple[float, float, float, float]) -> float:
    """Intersection over union of a room and a box x0, y0, x1, y1 of the slice, in metres from its corner."""
    truth = np.zeros(rooms.labels.shape, bool)
    truth[cells(box[1]) : cells(box[3]), cells(box[0]) : cells(box[2])] = True
    mine: NDArray[np.bool_] = rooms.labels == room
    return float((mine & truth).sum() / (mine | truth).sum())


LEFT, RIGHT = (0.3, 0.3, 4.3, 3.3), (4.45, 0.3, 7.45, 3.3)


@pytest.mark.parametrize(
    "slices", [two_rooms(True), two_rooms(False), two_rooms(True, 1.5), two_rooms(True, noise=0.2)]
)
def test_a_door_splits_two_rooms(slices: RoomSlice) -> None:
    rooms = find_rooms(slices)
    assert len(rooms.rooms) == 2
    assert overlap(rooms, 1, LEFT) > 0.9 and overlap(rooms, 2, RIGHT) > 0.9


def test_areas_centroids_and_the_passage_are_where_they_are() -> None:
    rooms = find_rooms(two_rooms(True))
    assert [room.area_m2 for room in rooms.rooms] == pytest.approx([12.0, 9.0], rel=0.05)
    assert rooms.rooms[1].centroid == pytest.approx((-1.0 + 5.95, 2.0 + 1.8), abs=0.1)
    (passage,) = rooms.passages
    assert passage.rooms == (1, 2)
    assert passage.centre == pytest.approx((-1.0 + 4.375, 2.0 + 1.8), abs=0.1)
    assert passage.width_m == pytest.approx(0.9, abs=0.15)


def test_a_wide_opening_without_lintel_leaves_one_room() -> None:
    assert len(find_rooms(two_rooms(False, door_m=2.4)).rooms) == 1


def test_what_is_seen_through_a_window_is_no_room() -> None:
    slices = two_rooms(True)
    outside = np.s_[cells(0.3) : cells(3.3), cells(4.45) : cells(7.45)]
    floor = slices.floor.copy()
    floor[outside] = False
    seen = RoomSlice(slices.resolution, slices.origin, slices.wall, slices.open, floor)
    assert len(find_rooms(seen).rooms) == 1


def test_nothing_sensed_is_no_room() -> None:
    none = np.zeros((10, 10), bool)
    rooms = find_rooms(RoomSlice(CELL, (0.0, 0.0), none, none, none))
    assert rooms.rooms == () and rooms.room_at(0.1, 0.1) == 0


def test_a_setting_out_of_range_is_named() -> None:
    with pytest.raises(ValueError, match=r"neck_m = -1.0, allowed"):
        RoomSettings(neck_m=-1.0)


class HandPrior:
    """What a person would say of four things."""

    def score(self, thing: str, place: str) -> float:
        home = {"toilet": "bathroom", "soap": "bathroom", "bed": "bedroom", "pan": "kitchen"}
        return 0.6 if home[thing] == place else 0.2


def test_contents_type_rooms_and_an_empty_one_stays_unknown() -> None:
    rooms = find_rooms(two_rooms(True))
    things = [
        SeenThing("a", "toilet", 4.0, 3.0),
        SeenThing("b", "soap", 4.5, 4.0),
        SeenThing("c", "bed", 5.0, 4.0),
        SeenThing("d", "door", 0.0, 3.5),
        SeenThing("e", "pan", 99.0, 99.0),
    ]
    typed = type_rooms(rooms, things, HandPrior(), ("kitchen", "bathroom", "bedroom"))
    assert typed.rooms[0].kinds == ()
    assert typed.rooms[1].kinds[0].kind == "bathroom" and typed.rooms[1].kinds[1].kind == "bedroom"
    assert sum(kind.share for kind in typed.rooms[1].kinds) == pytest.approx(1.0)


def test_one_kind_of_thing_many_times_counts_once() -> None:
    rooms = find_rooms(two_rooms(True))
    beds = [SeenThing(f"bed{k}", "bed", 4.0, 3.0) for k in range(5)]
    baths = [SeenThing("t", "toilet", 4.0, 3.0), SeenThing("s", "soap", 4.0, 3.0)]
    typed = type_rooms(rooms, beds + baths, HandPrior(), ("bathroom", "bedroom"))
    assert typed.rooms[1].kinds[0].kind == "bathroom"


def test_rooms_are_drawn_where_they_are() -> None:
    pytest.importorskip("visualization_msgs")
    from mnav_perception.rooms.markers import to_room_markers

    rooms = find_rooms(two_rooms(lintel=True))
    markers = to_room_markers(rooms, 3.0).markers
    assert markers[0].action == 3 and len(markers) == 1 + 2 * 2 + len(rooms.passages)
    for marker in markers:
        for point in marker.points:
            assert rooms.room_at(point.x, point.y) in (0, marker.id)
        if marker.ns == "cells":
            area = len(marker.points) * marker.scale.x * marker.scale.y
            assert area == pytest.approx(rooms.rooms[marker.id - 1].area_m2, rel=0.05)
