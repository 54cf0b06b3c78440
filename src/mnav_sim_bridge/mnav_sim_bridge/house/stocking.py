"""Taking things out of a house's design and putting a thing into one of its containers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnav_core.randomness import generator
from mnav_sim_bridge.house.catalogue import object_kinds
from mnav_sim_bridge.house.design import HouseDesign, NamedFurniture
from mnav_sim_bridge.house.objects import PlacedObject, Spot, put_thing, spots_of, turned_bounds
from mnav_sim_bridge.house.rectangles import Rect


@dataclass(frozen=True)
class Addition:
    """A thing to put into a container: its name, category, the container's id, and what draws its looks and place."""

    name: str
    category: str
    container: str
    seed: int


def restocked(design: HouseDesign, removed: Sequence[str], added: Sequence[Addition]) -> HouseDesign | None:
    """The design without some things and with others; None when something does not fit into its container."""
    gone = set(removed)
    objects = [o for o in design.objects if o.name not in gone]
    for addition in added:
        placed = _placed(design, objects, addition)
        if placed is None:
            return None
        objects.append(placed)
    return replace(design, objects=tuple(objects))


def _placed(design: HouseDesign, objects: Sequence[PlacedObject], addition: Addition) -> PlacedObject | None:
    kind = object_kinds()[addition.category]
    rng = generator("stocking", addition.seed)
    for named in design.furniture:
        for spot in spots_of(named.item, named.name):
            if spot.container is None or container_id(named, spot.container) != addition.container:
                continue
            spot.taken += [_rect(o) for o in objects if _lies_in(o, spot)]
            found = put_thing(rng, kind, spot, named.room, addition.name)
            if found is not None:
                return found
    return None


def container_id(named: NamedFurniture, index: int) -> str:
    """The id that the house record gives a container of a piece of furniture."""
    container = named.item.furniture.containers[index]
    return f"{named.name}_{container.parts[0]}" if container.category == "drawer" else named.name


def _lies_in(thing: PlacedObject, spot: Spot) -> bool:
    part = spot.part.name if spot.part is not None else None
    same = (thing.furniture, thing.part, thing.container) == (spot.name, part, spot.container)
    return same and abs(thing.position[2] - spot.surface.z - 0.001) < 1e-6


def _rect(thing: PlacedObject) -> Rect:
    low, high = turned_bounds(thing.shapes, thing.yaw)
    x, y = thing.position[0], thing.position[1]
    return Rect(x + low[0], y + low[1], x + high[0], y + high[1])
