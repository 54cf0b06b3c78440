"""Rooms from the maps that a mind has: walls and closed doors are what the base cannot pass."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mnav_core.maps import FREE, LETHAL, UNKNOWN, MapSnapshot
from mnav_graph.records import Entity, NodeKind
from mnav_perception.rooms.contents import PlacePrior, SeenThing, type_rooms
from mnav_perception.rooms.records import RoomMap
from mnav_perception.rooms.segmentation import RoomSettings, find_rooms
from mnav_perception.rooms.slices import RoomSlice

# On the floor plan doorways are what is narrow; furniture makes rooms smaller than they are.
FLOOR_PLAN = RoomSettings(neck_m=1.2, min_area_m2=2.0)


def rooms_of(maps: MapSnapshot, entities: Iterable[Entity], prior: PlacePrior) -> RoomMap:
    """Rooms of the occupancy map, typed by what was seen in them."""
    grid = maps.occupancy
    floor = np.asarray(grid.data == FREE)
    plan = RoomSlice(grid.resolution, grid.origin, np.asarray(grid.data == LETHAL), grid.data != UNKNOWN, floor)
    things = [
        SeenThing(entity.id, entity.category, entity.position[0], entity.position[1])
        for entity in entities
        if entity.kind is not NodeKind.CHANNEL
    ]
    return type_rooms(find_rooms(plan, FLOOR_PLAN), things, prior)
