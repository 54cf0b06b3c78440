"""Doors, archways and windows: which rooms connect, and where the holes in the walls are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnav_sim_bridge.house.floorplan import PlannedRoom
from mnav_sim_bridge.house.rectangles import Rect

Rng = np.random.Generator
WALL = 0.12
WALL_HEIGHT = 2.6
DOOR_WIDTH = 0.9
DOOR_HEIGHT = 2.05
LEAF_WIDTH = 0.85
ARCH_WIDTH = 1.5
# Distance from a door's centre to the corner of a room: half the door, plus the leaf's over-swing beyond its hinge.
DOOR_TO_CORNER = 0.86
CLEAR_SWING_SIDE = 1.15
CLEAR_PLAIN_SIDE = 1.0


@dataclass(frozen=True)
class Edge:
    """A stretch of wall between two rooms: `axis` 'x' (along x at y = at) or 'y', from `start` to `end`, metres."""

    axis: str
    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        """Metres."""
        return self.end - self.start

    def point(self, along: float) -> tuple[float, float]:
        """The map point at coordinate `along`."""
        return (along, self.at) if self.axis == "x" else (self.at, along)


@dataclass(frozen=True)
class Passage:
    """A hole between two rooms. With a leaf: hinge on the `hinge_sign` side along the axis, opening into `into`."""

    rooms: tuple[int, int]
    edge: Edge
    along: float
    width: float
    leaf: bool
    into: int = -1
    hinge_sign: int = 1

    @property
    def centre(self) -> tuple[float, float]:
        """Middle of the hole."""
        return self.edge.point(self.along)

    def side(self, rooms: tuple[PlannedRoom, ...], room: int) -> int:
        """+1 when `room` lies on the positive side of the wall, else -1."""
        cx, cy = rooms[room].rect.centre
        return 1 if (cy if self.edge.axis == "x" else cx) > self.edge.at else -1

    def clear_zone(self, rooms: tuple[PlannedRoom, ...], room: int) -> Rect:
        """The floor rectangle of `room` in front of the hole that must stay free."""
        low, high = self.along - self.width / 2 - 0.06, self.along + self.width / 2 + 0.06
        depth = CLEAR_PLAIN_SIDE
        if self.leaf and room == self.into:
            depth = CLEAR_SWING_SIDE
            low, high = (low - 0.2, high) if self.hinge_sign < 0 else (low, high + 0.2)
        near, far = sorted((self.edge.at, self.edge.at + self.side(rooms, room) * (depth + WALL / 2)))
        return Rect(low, near, high, far) if self.edge.axis == "x" else Rect(near, low, far, high)


@dataclass(frozen=True)
class Window:
    """A hole in an outer wall, `sill` above the floor."""

    room: int
    edge: Edge
    along: float
    width: float
    height: float
    sill: float


def shared_edge(a: Rect, b: Rect) -> Edge | None:
    """The stretch of wall that two rooms share, or None."""
    for at, other in ((a.y1, b.y0), (a.y0, b.y1)):
        start, end = max(a.x0, b.x0), min(a.x1, b.x1)
        if abs(at - other) < 1e-6 and end - start > 0.05:
            return Edge("x", at, start, end)
    for at, other in ((a.x1, b.x0), (a.x0, b.x1)):
        start, end = max(a.y0, b.y0), min(a.y1, b.y1)
        if abs(at - other) < 1e-6 and end - start > 0.05:
            return Edge("y", at, start, end)
    return None


def draw_passages(rng: Rng, rooms: tuple[PlannedRoom, ...]) -> tuple[Passage, ...] | None:
    """Passages that connect every room, none only through a bedroom or bathroom; None when the plan allows none.

    A room opens onto the hallway, else onto the living room, else onto another public room; a bathroom without any of
    these may belong to one bedroom.
    """
    kinds = [r.kind for r in rooms]
    edges = {
        (i, j): edge
        for i in range(len(rooms))
        for j in range(i + 1, len(rooms))
        if (edge := shared_edge(rooms[i].rect, rooms[j].rect)) and edge.length >= 2 * DOOR_TO_CORNER - 0.1
    }
    hub = kinds.index("hallway") if "hallway" in kinds else kinds.index("living_room")
    chosen: list[tuple[int, int]] = []
    reached = {hub}
    for host_kind in ("hallway", "living_room", "dining_room", "kitchen", "office", "bedroom"):
        for host in [i for i in range(len(rooms)) if kinds[i] == host_kind and i in reached]:
            for other in range(len(rooms)):
                pair = (min(host, other), max(host, other))
                if other in reached or pair not in edges:
                    continue
                if host_kind == "bedroom" and kinds[other] != "bathroom":
                    continue
                chosen.append(pair)
                reached.add(other)
    if len(reached) < len(rooms):
        return None
    open_kinds = {"living_room", "kitchen", "dining_room"}
    loops = [p for p in edges if p not in chosen and {kinds[p[0]], kinds[p[1]]} <= open_kinds and rng.random() < 0.7]
    suites = [p for p in edges if p not in chosen and {kinds[p[0]], kinds[p[1]]} == {"bedroom", "bathroom"}]
    if suites and rng.random() < 0.2:
        loops.append(suites[0])
    passages: list[Passage] = []
    for pair in chosen + loops:
        passage = _place(rng, rooms, pair, edges[pair], passages)
        if passage is None and pair in chosen:
            return None
        if passage is not None:
            passages.append(passage)
    return tuple(passages)


def _place(
    rng: Rng, rooms: tuple[PlannedRoom, ...], pair: tuple[int, int], edge: Edge, placed: list[Passage]
) -> Passage | None:
    """One passage on `edge`, clear of those already placed; None after a bounded number of tries."""
    kinds = {rooms[pair[0]].kind, rooms[pair[1]].kind}
    public = {"living_room", "kitchen", "dining_room", "hallway"}
    arch = kinds <= public and edge.length > ARCH_WIDTH + 0.9 and rng.random() < 0.45
    width = ARCH_WIDTH if arch else DOOR_WIDTH
    margin = width / 2 + 0.3 if arch else DOOR_TO_CORNER
    low, high = edge.start + min(margin, edge.length / 2), edge.end - min(margin, edge.length / 2)
    rank = ("hallway", "living_room", "dining_room", "kitchen", "office", "laundry", "bedroom", "bathroom")
    into = max(pair, key=lambda i: (rank.index(rooms[i].kind), -rooms[i].rect.area))
    for _ in range(24):
        near_low = rng.random() < 0.5
        along = float(rng.uniform(low, high)) if arch or rng.random() < 0.2 else (low if near_low else high)
        # The hinge goes to the nearer corner of the room that the leaf opens into, so that it rests along a wall.
        rect = rooms[into].rect
        start, end = (rect.x0, rect.x1) if edge.axis == "x" else (rect.y0, rect.y1)
        hinge = -1 if along - start < end - along else 1
        passage = Passage(pair, edge, along, width, not arch, into, hinge)
        if not any(_conflict(rooms, passage, other) for other in placed):
            return passage
    return None


def _conflict(rooms: tuple[PlannedRoom, ...], a: Passage, b: Passage) -> bool:
    """True when a leaf of one would sweep the place in front of the other, or both pierce the same wall too closely."""
    same_wall = a.edge.axis == b.edge.axis and abs(a.edge.at - b.edge.at) < 1e-6
    if same_wall and abs(a.along - b.along) < (a.width + b.width) / 2 + 0.3:
        return True
    for room in set(a.rooms) & set(b.rooms):
        swept = (a.leaf and a.into == room) or (b.leaf and b.into == room)
        if swept and a.clear_zone(rooms, room).overlaps(b.clear_zone(rooms, room)):
            return True
    return False


def draw_windows(rng: Rng, rooms: tuple[PlannedRoom, ...]) -> tuple[Window, ...]:
    """One or two windows on the outer walls of each room, none in the way of a passage."""
    made: list[Window] = []
    for i, room in enumerate(rooms):
        edges = [e for e in _outer_edges(i, rooms) if e.length > 1.5]
        rng.shuffle(edges)
        wanted = 2 if room.kind in ("living_room", "bedroom", "dining_room") else 1
        for edge in edges[:wanted]:
            small = room.kind in ("bathroom", "laundry", "hallway")
            widest = 1.2 if room.kind == "kitchen" else 1.8
            width = 0.7 if small else float(min(widest, edge.length - 0.9))
            along = (edge.start + edge.end) / 2 + float(rng.uniform(-0.2, 0.2)) * (edge.length - width - 0.5)
            height, sill = (0.6, 1.5) if small else (1.15, 0.95)
            made.append(Window(i, edge, along, width, height, sill))
    return tuple(made)


def _outer_edges(index: int, rooms: tuple[PlannedRoom, ...]) -> list[Edge]:
    """The stretches of a room's border that no other room touches."""
    r = rooms[index].rect
    sides = [
        Edge("x", r.y0, r.x0, r.x1),
        Edge("x", r.y1, r.x0, r.x1),
        Edge("y", r.x0, r.y0, r.y1),
        Edge("y", r.x1, r.y0, r.y1),
    ]
    shared = [e for j, o in enumerate(rooms) if j != index and (e := shared_edge(r, o.rect))]
    result = []
    for side in sides:
        cuts = sorted((e.start, e.end) for e in shared if e.axis == side.axis and abs(e.at - side.at) < 1e-6)
        start = side.start
        for a, b in [*cuts, (side.end, side.end)]:
            if a - start > 0.3:
                result.append(Edge(side.axis, side.at, start, a))
            start = max(start, b)
    return result


def outer_edges(index: int, rooms: tuple[PlannedRoom, ...]) -> tuple[Edge, ...]:
    """The stretches of a room's border that no other room touches, at least 0.3 m long."""
    return tuple(_outer_edges(index, rooms))
