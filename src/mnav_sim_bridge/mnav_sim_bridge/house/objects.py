"""Putting small things on, in and beside furniture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mnav_sim_bridge.house.catalogue import ObjectKind, object_kinds
from mnav_sim_bridge.house.furniture import Furniture, MovingPart, Surface
from mnav_sim_bridge.house.placement import Placed, RoomFloor
from mnav_sim_bridge.house.rectangles import Rect
from mnav_sim_bridge.house.shapes import Shape, Vector, bounds, rotation, yaw_quat

Rng = np.random.Generator
GAP = 0.025
# Things with a front look where their furniture looks; the rest lie as they fell.
FACING = frozenset(
    {
        "laptop",
        "alarm_clock",
        "teddy_bear",
        "picture_frame",
        "pillow",
        "toaster",
        "tissue_box",
        "backpack",
        "cereal_box",
    }
)
PER_ROOM = {
    "kitchen": 9,
    "dining_room": 6,
    "living_room": 8,
    "bedroom": 7,
    "office": 6,
    "bathroom": 5,
    "laundry": 4,
    "hallway": 4,
}


@dataclass(frozen=True)
class PlacedObject:
    """A small thing: pose in the frame of what carries it.

    `furniture` and `part` name the carrying body (a moving part, or the fixed case); both None on the floor, where the
    pose is of the map.
    """

    name: str
    kind: ObjectKind
    shapes: tuple[Shape, ...]
    room: int
    furniture: str | None
    part: str | None
    container: int | None
    support: str
    support_height: float
    position: Vector
    yaw: float


@dataclass
class Spot:
    """A surface being filled."""

    surface: Surface
    item: Placed
    name: str
    part: MovingPart | None
    container: int | None
    taken: list[Rect] = field(default_factory=list)


def place_objects(rng: Rng, floors: Sequence[RoomFloor], names: Mapping[int, str]) -> tuple[PlacedObject, ...]:
    """Objects for every room; `names` maps id() of a placed piece to its name."""
    kinds = object_kinds()
    counts: dict[str, int] = {}
    made: list[PlacedObject] = []
    used: dict[str, int] = {}
    for floor in floors:
        spots = [s for item in floor.placed for s in spots_of(item, names[id(item)])]
        open_spots = [s for s in spots if s.container is None]
        wanted = PER_ROOM[floor.room.kind] + int(rng.integers(-1, 3))
        fitting = [k for k in kinds.values() if floor.room.kind in k.rooms]
        for _ in range(wanted * 2):
            if wanted <= 0 or not fitting:
                break
            # Spread the categories over the house: what it has already is drawn less often.
            weights = np.array([k.weight / (1 + 2.5 * used.get(k.category, 0)) for k in fitting])
            kind = fitting[int(rng.choice(len(fitting), p=weights / weights.sum()))]
            placed = _place_one(rng, kind, open_spots, floor, counts)
            if placed is not None:
                made.append(placed)
                used[kind.category] = used.get(kind.category, 0) + 1
                wanted -= 1
        made += _fill_containers(rng, kinds, [s for s in spots if s.container is not None], floor, counts)
    return tuple(made)


def spots_of(item: Placed, name: str) -> list[Spot]:
    furniture: Furniture = item.furniture
    found = [Spot(s, item, name, None, None) for s in furniture.surfaces if s.tag != "high"]
    parts = {p.name: p for p in furniture.parts}
    for k, container in enumerate(furniture.containers):
        found += [Spot(s, item, name, None, k) for s in container.surfaces]
        for part_name in container.parts:
            part = parts[part_name]
            if part.surface is not None:
                found.append(Spot(part.surface, item, name, part, k))
    return found


def _fill_containers(
    rng: Rng, kinds: Mapping[str, ObjectKind], spots: list[Spot], floor: RoomFloor, counts: dict[str, int]
) -> list[PlacedObject]:
    made = []
    for spot in spots:
        fitting = [k for k in kinds.values() if spot.surface.tag in k.inside and floor.room.kind in k.rooms]
        wanted = int(rng.integers(0, 3)) if spot.surface.tag == "fridge" else int(rng.random() < 0.45)
        for _ in range(wanted):
            if not fitting:
                break
            placed = put_on(rng, fitting[int(rng.integers(len(fitting)))], spot, floor, counts)
            if placed is not None:
                made.append(placed)
    return made


def _place_one(
    rng: Rng, kind: ObjectKind, spots: list[Spot], floor: RoomFloor, counts: dict[str, int]
) -> PlacedObject | None:
    choices: list[Spot | None] = [s for s in spots if s.surface.tag in kind.surfaces]
    if "floor" in kind.surfaces:
        choices.append(None)
    if not choices:
        return None
    for i in rng.permutation(len(choices))[:3]:
        spot = choices[int(i)]
        placed = _on_floor(rng, kind, floor, counts) if spot is None else put_on(rng, kind, spot, floor, counts)
        if placed is not None:
            return placed
    return None


def put_on(rng: Rng, kind: ObjectKind, spot: Spot, floor: RoomFloor, counts: dict[str, int]) -> PlacedObject | None:
    """Try a few places on a surface; None when the thing is too big or the place is taken."""
    placed = put_thing(rng, kind, spot, floor.index, "")
    return None if placed is None else replace(placed, name=_named(kind, counts))


def put_thing(rng: Rng, kind: ObjectKind, spot: Spot, room: int, name: str) -> PlacedObject | None:
    """A thing of a kind on a surface, under a name; None when it is too big or the place is taken."""
    shapes = kind.build(rng)
    surface = spot.surface
    for _ in range(6):
        yaw = float(rng.normal(0, 0.2)) if kind.category in FACING else float(rng.uniform(-math.pi, math.pi))
        low, high = turned_bounds(shapes, yaw)
        if high[2] > surface.headroom:
            return None
        x0, x1 = surface.rect.x0 - low[0], surface.rect.x1 - high[0]
        y0, y1 = surface.rect.y0 - low[1], surface.rect.y1 - high[1]
        if x0 > x1 or y0 > y1:
            continue
        x, y = float(rng.uniform(x0, x1)), float(rng.uniform(y0, y1))
        rect = Rect(x + low[0], y + low[1], x + high[0], y + high[1])
        if any(rect.overlaps(t, GAP) for t in spot.taken):
            continue
        spot.taken.append(rect)
        height = surface.z + (spot.part.pos[2] if spot.part else 0.0)
        # A millimetre of air keeps the bottom from flickering with the surface.
        return PlacedObject(
            name, kind, shapes, room, spot.name, spot.part.name if spot.part else None,
            spot.container, spot.name, height, (x, y, surface.z + 0.001), yaw,
        )  # fmt: skip
    return None


def _on_floor(rng: Rng, kind: ObjectKind, floor: RoomFloor, counts: dict[str, int]) -> PlacedObject | None:
    """Against a wall, as a small piece of furniture would stand."""
    shapes = kind.build(rng)
    # A sixth of a turn at most, so that the box around the thing stays true to it.
    yaw = float(rng.uniform(-0.3, 0.3))
    low, high = turned_bounds(shapes, yaw)
    stand_in = Furniture(kind.category, (Shape(shapes[0].kind, *_box_of(low, high), shapes[0].finish),))
    item = floor.against_wall(rng, stand_in, 14, 0.4)
    if item is None:
        return None
    return PlacedObject(
        _named(kind, counts), kind, shapes, floor.index, None, None, None, "floor", 0.0,
        (item.x, item.y, 0.001), yaw + item.yaw,
    )  # fmt: skip


def _box_of(low: Vector, high: Vector) -> tuple[Vector, Vector]:
    middle = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    half = tuple((b - a) / 2 for a, b in zip(low, high, strict=True))
    return (middle[0], middle[1], middle[2]), (half[0], half[1], half[2])


def turned_bounds(shapes: tuple[Shape, ...], yaw: float) -> tuple[Vector, Vector]:
    """Bounds after a turn about z: the corners of each shape's box, turned."""
    turn = rotation(yaw_quat(yaw))
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for shape in shapes:
        a, b = bounds((shape,))
        corners = np.array([[x, y, z] for x in (a[0], b[0]) for y in (a[1], b[1]) for z in (a[2], b[2])]) @ turn.T
        low, high = np.minimum(low, corners.min(0)), np.maximum(high, corners.max(0))
    return (float(low[0]), float(low[1]), float(low[2])), (float(high[0]), float(high[1]), float(high[2]))


def _named(kind: ObjectKind, counts: dict[str, int]) -> str:
    counts[kind.category] = counts.get(kind.category, 0) + 1
    return f"{kind.category}_{counts[kind.category]}"
