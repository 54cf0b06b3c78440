"""From a seed to a design: rooms, passages, furniture and objects with names and poses, before any physics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mnav_core.randomness import generator
from mnav_sim_bridge.house.floorplan import PlannedRoom, draw_plan, draw_room_count
from mnav_sim_bridge.house.furnishing import furnish
from mnav_sim_bridge.house.objects import PlacedObject, place_objects
from mnav_sim_bridge.house.openings import Passage, Window, draw_passages, draw_windows
from mnav_sim_bridge.house.palette import Palette, draw_palette
from mnav_sim_bridge.house.placement import Placed, RoomFloor

PLAN_TRIES = 12


@dataclass(frozen=True)
class NamedFurniture:
    """A placed piece with its name and room index."""

    name: str
    room: int
    item: Placed


@dataclass(frozen=True)
class HouseDesign:
    """All that the assembly needs. Room names are `<kind>` or `<kind>_<n>`."""

    seed: int
    sub_seed: int
    palette: Palette
    rooms: tuple[PlannedRoom, ...]
    room_names: tuple[str, ...]
    wall_finish: tuple[int, ...]
    passages: tuple[Passage, ...]
    windows: tuple[Window, ...]
    furniture: tuple[NamedFurniture, ...]
    objects: tuple[PlacedObject, ...] = field(default=())

    @property
    def size(self) -> tuple[float, float]:
        """Extent of the outline along x and y, metres."""
        return max(r.rect.x1 for r in self.rooms), max(r.rect.y1 for r in self.rooms)


def draw_design(seed: int, sub_seed: int, room_count: int | None) -> HouseDesign | None:
    """The design of (seed, sub_seed); None when no plan connects its rooms within PLAN_TRIES."""
    count = room_count if room_count is not None else draw_room_count(generator("house-size", seed))
    rng = generator("house", seed, sub_seed, count)
    for _ in range(PLAN_TRIES):
        rooms = draw_plan(rng, count)
        passages = draw_passages(rng, rooms)
        if passages is not None:
            return _furnished(rng, seed, sub_seed, rooms, passages)
    return None


def _furnished(
    rng: np.random.Generator, seed: int, sub_seed: int, rooms: tuple[PlannedRoom, ...], passages: tuple[Passage, ...]
) -> HouseDesign:
    palette = draw_palette(rng)
    windows = draw_windows(rng, rooms)
    names = _numbered([r.kind for r in rooms])
    furniture: list[NamedFurniture] = []
    counts: dict[str, int] = {}
    floors = []
    for index in range(len(rooms)):
        floor = RoomFloor(index, rooms, passages, windows)
        furnish(rng, palette, floor)
        floors.append(floor)
        for item in floor.placed + floor.lying:
            category = item.furniture.category
            counts[category] = counts.get(category, 0) + 1
            furniture.append(NamedFurniture(f"{category}_{counts[category]}", index, item))
    objects = place_objects(rng, floors, {id(f.item): f.name for f in furniture})
    accents = [int(rng.integers(len(palette.walls))) for _ in rooms]
    return HouseDesign(
        seed, sub_seed, palette, rooms, tuple(names), tuple(accents), passages, windows, tuple(furniture), objects
    )


def _numbered(kinds: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    names = []
    for kind in kinds:
        seen[kind] = seen.get(kind, 0) + 1
        names.append(kind if kinds.count(kind) == 1 else f"{kind}_{seen[kind]}")
    return names
