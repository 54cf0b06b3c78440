"""Edges from states: what a door's state does to connectivity and a container's to visibility (equation 2)."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from mnav_graph.records import Edge, EdgeKind, Entity, EntityState, NodeKind, Point2, RoomNode, RoomPassage

ROBOT = "robot"


def mediated_weight(distance_m: float, state: EntityState) -> float:
    """w(R_i, R_j | u): the distance while the door is open, infinite while it is closed or uncertain."""
    return distance_m if state is EntityState.OPEN else math.inf


def exposes(state: EntityState, in_view: bool) -> bool:
    """Vis(o | u): the container is open and the object is in view now."""
    return state is EntityState.OPEN and in_view


def through(a: Point2, middle: Point2, b: Point2) -> float:
    """d(R_i, R_j): from one centroid through the opening to the other, metres."""
    return math.dist(a, middle) + math.dist(middle, b)


def edges_of(
    entities: Mapping[str, Entity],
    rooms: Mapping[str, RoomNode],
    passages: Iterable[RoomPassage],
    in_view: frozenset[str],
    robot_room: str,
) -> Iterator[Edge]:
    """Every relation as the states are now; connectivity comes once a pair of rooms and way."""
    if robot_room:
        yield Edge(EdgeKind.CONTAINMENT, robot_room, ROBOT)
    yield from connections(entities, rooms, passages)
    for entity in entities.values():
        if entity.kind is not NodeKind.CHANNEL:
            for room in entity.rooms:
                yield Edge(EdgeKind.CONTAINMENT, room, entity.id)
        if entity.inside:
            yield Edge(EdgeKind.CONTAINMENT, entity.inside, entity.id)
            if exposes(entities[entity.inside].state.state, entity.id in in_view):
                yield Edge(EdgeKind.VISIBILITY, entity.inside, entity.id)
        if entity.id in in_view:
            yield Edge(EdgeKind.VISIBILITY, ROBOT, entity.id)


def connections(
    entities: Mapping[str, Entity], rooms: Mapping[str, RoomNode], passages: Iterable[RoomPassage]
) -> Iterator[Edge]:
    """Ways between rooms: openings seen in the map, and doors whose two rooms are known though no floor joins them."""
    joined = set()
    for passage in passages:
        a, b = passage.rooms
        length = through(rooms[a].centroid, passage.centre, rooms[b].centroid)
        if passage.channel:
            joined.add(passage.channel)
            length = mediated_weight(length, entities[passage.channel].state.state)
        yield Edge(EdgeKind.CONNECTIVITY, a, b, length, passage.channel)
    for entity in entities.values():
        if entity.kind is NodeKind.CHANNEL and len(entity.rooms) == 2 and entity.id not in joined:
            a, b = entity.rooms
            x, y, _ = entity.position
            length = through(rooms[a].centroid, (x, y), rooms[b].centroid)
            yield Edge(EdgeKind.CONNECTIVITY, a, b, mediated_weight(length, entity.state.state), entity.id)


def room_distances(start: str, edges: Iterable[Edge]) -> dict[str, float]:
    """Length of the shortest way from a room to every room that can be reached through open ways, metres."""
    ways: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for edge in edges:
        if edge.kind is EdgeKind.CONNECTIVITY and math.isfinite(edge.weight):
            ways[edge.source].append((edge.target, edge.weight))
            ways[edge.target].append((edge.source, edge.weight))
    best = {start: 0.0}
    queue = [(0.0, start)]
    while queue:
        length, room = heapq.heappop(queue)
        if length > best[room]:
            continue
        for other, weight in ways[room]:
            if length + weight < best.get(other, math.inf):
                best[other] = length + weight
                heapq.heappush(queue, (best[other], other))
    return best
