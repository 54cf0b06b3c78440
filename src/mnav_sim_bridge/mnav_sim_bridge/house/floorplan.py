"""Floor plans: rooms as rectangles that tile the outline of a house."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnav_sim_bridge.house.rectangles import Rect

Rng = np.random.Generator
MIN_ROOMS, MAX_ROOMS = 3, 10
MIN_SIDE = 2.6
# Rooms are drawn as wall centre lines; a hallway is the one kind allowed to be narrower than MIN_SIDE.
AREA = {
    "living_room": (17.0, 25.0),
    "kitchen": (11.0, 15.0),
    "bedroom": (11.0, 15.5),
    "bathroom": (6.8, 9.0),
    "dining_room": (10.5, 14.0),
    "office": (8.5, 11.5),
    "laundry": (6.8, 8.5),
}
PUBLIC = ("living_room", "kitchen", "dining_room", "office")
_DEFAULT_COUNT = {4: 0.06, 5: 0.19, 6: 0.28, 7: 0.24, 8: 0.14, 9: 0.07, 10: 0.02}


@dataclass(frozen=True)
class PlannedRoom:
    """A room of the plan: kind and rectangle between wall centre lines."""

    kind: str
    rect: Rect


def draw_room_count(rng: Rng) -> int:
    """A room count with mean about 6.5."""
    counts = list(_DEFAULT_COUNT)
    weights = np.array(list(_DEFAULT_COUNT.values()))
    return int(rng.choice(counts, p=weights / weights.sum()))


def draw_program(rng: Rng, count: int) -> list[str]:
    """The kinds of `count` rooms; from five rooms on one is a hallway."""
    kinds = ["living_room", "kitchen", "bedroom", "bathroom"][:count]
    if count == 3:
        kinds[2] = "bedroom" if rng.random() < 0.7 else "bathroom"
    extra = ["dining_room", "bedroom", "office", "laundry", "bedroom", "bathroom"]
    order = [extra[i] for i in rng.permutation(len(extra))]
    order.sort(key=lambda kind: 0 if kind == "bedroom" and rng.random() < 0.5 else 1)
    if count >= 5:
        kinds.append("hallway")
    while len(kinds) < count:
        kinds.append(order.pop(0))
    return kinds


def draw_plan(rng: Rng, count: int) -> tuple[PlannedRoom, ...]:
    """A plan with `count` rooms whose lower left corner is the origin; sides never below MIN_SIDE but for hallways."""
    kinds = draw_program(rng, count)
    rooms = _hub_plan(rng, kinds) if "hallway" not in kinds else _corridor_plan(rng, kinds)
    return _oriented(rng, rooms)


def _draw_area(rng: Rng, kind: str) -> float:
    low, high = AREA[kind]
    return float(rng.uniform(low, high))


def _hub_plan(rng: Rng, kinds: list[str]) -> list[PlannedRoom]:
    """The living room along one side, every other room opening onto it."""
    others = [k for k in kinds if k != "living_room"]
    rng.shuffle(others)
    width = float(rng.uniform(3.6, 4.4))
    heights = [max(MIN_SIDE, _draw_area(rng, k) / width) for k in others]
    total = sum(heights)
    depth = max(3.8, min(5.2, _draw_area(rng, "living_room") / total * 1.1))
    rooms = [PlannedRoom("living_room", Rect(0, 0, depth, total))]
    y = 0.0
    for kind, height in zip(others, heights, strict=True):
        rooms.append(PlannedRoom(kind, Rect(depth, y, depth + width, y + height)))
        y += height
    return rooms


def _corridor_plan(rng: Rng, kinds: list[str]) -> list[PlannedRoom]:
    """A hallway between two strips of rooms; public rooms may form a block across its end."""
    others = [k for k in kinds if k != "hallway"]
    hall = float(rng.uniform(1.75, 2.15))
    block: list[str] = []
    if len(others) >= 5 and rng.random() < 0.6:
        block = ["living_room", "dining_room" if "dining_room" in others else "kitchen"]
        for kind in block:
            others.remove(kind)
    low, high = _balanced(rng, others)
    depths = [float(rng.uniform(3.5, 4.3)) for _ in range(2)]
    strips = [
        [max(MIN_SIDE, _draw_area(rng, k) / d) for k in strip] for strip, d in zip((low, high), depths, strict=True)
    ]
    lengths = [sum(s) for s in strips]
    longest = max(lengths)
    for k in range(2):
        # A strip may end early, which makes the outline an L; a slight difference is stretched away.
        if longest - lengths[k] < 1.6 or rng.random() < 0.4:
            strips[k] = [w * longest / lengths[k] for w in strips[k]]
    y1, y2 = depths[0], depths[0] + hall
    rooms = [PlannedRoom("hallway", Rect(0, y1, longest, y2))]
    for names, widths, y0, top in ((low, strips[0], 0.0, y1), (high, strips[1], y2, y2 + depths[1])):
        x = 0.0
        for kind, w in zip(names, widths, strict=True):
            rooms.append(PlannedRoom(kind, Rect(x, y0, x + w, top)))
            x += w
    if block:
        rooms += _end_block(rng, block, y1, y2, y2 + depths[1])
    return rooms


def _end_block(rng: Rng, kinds: list[str], y1: float, y2: float, top: float) -> list[PlannedRoom]:
    """Two public rooms stacked at the hallway's end, the living room facing it."""
    areas = [_draw_area(rng, k) for k in kinds]
    width = max(3.4, min(4.8, sum(areas) / top))
    split = y1 - 0.35 if rng.random() < 0.5 else y2 + 0.35
    living_high = split < y1
    lower = PlannedRoom(kinds[1 if living_high else 0], Rect(-width, 0, 0, split))
    upper = PlannedRoom(kinds[0 if living_high else 1], Rect(-width, split, 0, top))
    return [lower, upper]


def _balanced(rng: Rng, kinds: list[str]) -> tuple[list[str], list[str]]:
    """Two groups of about equal area, public rooms in the first where possible."""
    order = [kinds[i] for i in rng.permutation(len(kinds))]
    order.sort(key=lambda k: 0 if k in PUBLIC else 1)
    middle = [sum(AREA[k]) / 2 for k in order]
    best = min(range(1, len(order)), key=lambda i: abs(sum(middle[:i]) - sum(middle[i:])))
    low, high = order[:best], order[best:]
    rng.shuffle(low)
    rng.shuffle(high)
    return low, high


def _oriented(rng: Rng, rooms: list[PlannedRoom]) -> tuple[PlannedRoom, ...]:
    """The plan mirrored and transposed at random, moved to the positive quadrant."""
    swap, mirror = rng.random() < 0.5, rng.random() < 0.5

    def turn(r: Rect) -> Rect:
        x0, x1 = (-r.x1, -r.x0) if mirror else (r.x0, r.x1)
        return Rect(r.y0, x0, r.y1, x1) if swap else Rect(x0, r.y0, x1, r.y1)

    turned = [PlannedRoom(room.kind, turn(room.rect)) for room in rooms]
    dx = min(room.rect.x0 for room in turned)
    dy = min(room.rect.y0 for room in turned)
    return tuple(
        PlannedRoom(
            room.kind,
            Rect(*(round(v, 3) for v in (room.rect.x0 - dx, room.rect.y0 - dy, room.rect.x1 - dx, room.rect.y1 - dy))),
        )
        for room in turned
    )
