"""What could be done next, made anew from map and graph, with what speaks for and against it (section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.interaction import Operation
from mnav_core.maps import MapSnapshot
from mnav_graph.eligibility import Judged, judge_interaction, judge_visit
from mnav_graph.graph import InteractionGraph
from mnav_graph.records import (
    Candidate,
    CandidateKind,
    Eligibility,
    Entity,
    ExpectedEffect,
    NodeKind,
    RobotNode,
    RoomNode,
)
from mnav_graph.viewpoints import ACT, GO, LOOK, Standing, standing_places
from mnav_perception.exploration.frontiers import Frontier
from mnav_perception.exploration.travel import TravelSettings, travel_cost

EFFECTS = {
    (NodeKind.CHANNEL, Operation.OPEN): ExpectedEffect.ENABLE_TRAVERSAL,
    (NodeKind.CONTAINER, Operation.OPEN): ExpectedEffect.REVEAL_CONTENTS,
    (NodeKind.CHANNEL, Operation.CLOSE): ExpectedEffect.BLOCK_TRAVERSAL,
    (NodeKind.CONTAINER, Operation.CLOSE): ExpectedEffect.HIDE_CONTENTS,
}
LOOK_AGAIN = frozenset({Eligibility.EVIDENCE_WEAK, Eligibility.EVIDENCE_STALE, Eligibility.STATE_UNRELIABLE})
OWN_MARGIN_M = 0.2
ROOM_STRIDE = 4


@dataclass(frozen=True)
class CandidateRequest:
    """What to make candidates for.

    `goal_categories`: objects of these are gone to; None goes to every object. `operations`: what the robot can do.
    """

    goal_categories: frozenset[str] | None = None
    operations: tuple[Operation, ...] = (Operation.OPEN,)
    travel: TravelSettings = field(default_factory=TravelSettings)


def make_candidates(
    graph: InteractionGraph,
    maps: MapSnapshot,
    frontiers: Sequence[Frontier],
    now_s: float,
    request: CandidateRequest | None = None,
) -> tuple[Candidate, ...]:
    """Everything that could be done now, eligible ones first, then by route cost, then by id.

    Raises ValueError before the graph was told where the robot is.
    """
    asked = request or CandidateRequest()
    robot = graph.robot
    if robot is None:
        raise ValueError("graph: no pose of the robot, allowed: after set_robot")
    travel = travel_cost(maps.costmap, robot.pose, asked.travel)
    made = _interactions(graph, maps, travel, now_s, asked, robot)
    made += _visits(graph, maps, travel, now_s, asked)
    made += _rooms(graph, maps, travel, now_s, robot)
    made += [_exploration(graph, frontier, now_s) for frontier in frontiers]
    return tuple(sorted(made, key=lambda c: (not c.is_eligible, c.route_cost_m, c.id)))


def _interactions(
    graph: InteractionGraph,
    maps: MapSnapshot,
    travel: NDArray[np.float32],
    now_s: float,
    asked: CandidateRequest,
    robot: RobotNode,
) -> list[Candidate]:
    """One candidate per operation, and a look at those whose evidence does not suffice."""
    entities = [e for e in graph.entities.values() if e.is_interactive]
    places = _places(maps, travel, entities, ACT)
    open_ways = graph.room_distances(robot.room) if robot.room else {}
    made: list[Candidate] = []
    doubtful: dict[str, Entity] = {}
    pending = graph.pending_entities
    for entity, (viewpoint, cost) in zip(entities, places, strict=True):
        for operation in asked.operations:
            name = f"{operation.value}:{entity.id}"
            failures = graph.failures(name, entity.id)
            judged = judge_interaction(entity, operation, cost, failures, entity.id in pending, now_s,
                                       graph.settings)  # fmt: skip
            if judged.eligibility in LOOK_AGAIN:
                doubtful[entity.id] = entity
            leads = tuple(r for r in entity.rooms if r not in open_ways) if entity.kind is NodeKind.CHANNEL else ()
            made.append(
                Candidate(
                    id=name,
                    kind=CandidateKind.INTERACT,
                    entity_id=entity.id,
                    operation=operation,
                    effect=EFFECTS[entity.kind, operation],
                    viewpoint=viewpoint,
                    route_cost_m=cost,
                    point=entity.operable_point or entity.position,
                    eligibility=judged.eligibility,
                    reason=judged.reason,
                    room=entity.rooms[0] if entity.rooms else "",
                    leads_to=leads,
                    failures=failures[0],
                )
            )
    for entity, place in zip(doubtful.values(), _places(maps, travel, tuple(doubtful.values()), LOOK), strict=True):
        made.append(_visit(graph, entity, place, ExpectedEffect.REFRESH_STATE, "look", now_s))
    return made


def _visits(
    graph: InteractionGraph, maps: MapSnapshot, travel: NDArray[np.float32], now_s: float, asked: CandidateRequest
) -> list[Candidate]:
    wanted = asked.goal_categories
    things = [
        entity
        for entity in graph.entities.values()
        if (not entity.is_interactive if wanted is None else entity.category in wanted)
    ]
    places = _places(maps, travel, things, GO)
    return [
        _visit(graph, thing, place, ExpectedEffect.REACH_TARGET, "navigate", now_s)
        for thing, place in zip(things, places, strict=True)
    ]


def _visit(
    graph: InteractionGraph,
    entity: Entity,
    place: tuple[SE2 | None, float],
    effect: ExpectedEffect,
    verb: str,
    now_s: float,
) -> Candidate:
    name = f"{verb}:{entity.id}"
    failures = graph.failures(name)
    judged = judge_visit(place[1], failures, now_s, graph.settings)
    return _navigation(name, entity.id, effect, place, entity.position, judged, failures[0], entity.rooms[:1])


def _rooms(
    graph: InteractionGraph, maps: MapSnapshot, travel: NDArray[np.float32], now_s: float, robot: RobotNode
) -> list[Candidate]:
    made = []
    for room in graph.rooms.values():
        if room.current and room.id != robot.room:
            place = _inside(graph, room, maps, travel)
            name = f"navigate:{room.id}"
            failures = graph.failures(name)
            judged = judge_visit(place[1], failures, now_s, graph.settings)
            point = (*room.centroid, 0.0)
            made.append(
                _navigation(name, room.id, ExpectedEffect.REACH_ROOM, place, point, judged, failures[0], (room.id,))
            )
    return made


def _inside(
    graph: InteractionGraph, room: RoomNode, maps: MapSnapshot, travel: NDArray[np.float32]
) -> tuple[SE2 | None, float]:
    """The reachable place of a room nearest to its centroid."""
    xs, ys = graph.floor_of(room.id, ROOM_STRIDE)
    grid = maps.costmap
    rows = np.floor((ys - grid.origin[1]) / grid.resolution).astype(int)
    columns = np.floor((xs - grid.origin[0]) / grid.resolution).astype(int)
    inside = (rows >= 0) & (columns >= 0) & (rows < travel.shape[0]) & (columns < travel.shape[1])
    costs = np.full(len(xs), np.inf)
    costs[inside] = travel[rows[inside], columns[inside]]
    if not np.isfinite(costs).any():
        return None, math.inf
    away = np.where(np.isfinite(costs), np.hypot(xs - room.centroid[0], ys - room.centroid[1]), np.inf)
    best = int(np.argmin(away))
    return SE2(float(xs[best]), float(ys[best])), float(costs[best])


def _navigation(
    name: str,
    entity_id: str,
    effect: ExpectedEffect,
    place: tuple[SE2 | None, float],
    point: tuple[float, float, float],
    judged: Judged,
    failures: int,
    rooms: tuple[str, ...],
) -> Candidate:
    return Candidate(
        id=name,
        kind=CandidateKind.NAVIGATE,
        entity_id=entity_id,
        operation=None,
        effect=effect,
        viewpoint=place[0],
        route_cost_m=place[1],
        point=point,
        eligibility=judged.eligibility,
        reason=judged.reason,
        room=rooms[0] if rooms else "",
        failures=failures,
    )


def _exploration(graph: InteractionGraph, frontier: Frontier, now_s: float) -> Candidate:
    name = f"explore:{frontier.id}"
    failures = graph.failures(name)
    judged = judge_visit(frontier.path_cost_m, failures, now_s, graph.settings)
    (x, y), (cx, cy) = frontier.goal, frontier.centroid
    reached = math.isfinite(frontier.path_cost_m)
    return Candidate(
        id=name,
        kind=CandidateKind.EXPLORE,
        entity_id="",
        operation=None,
        effect=ExpectedEffect.OBSERVE_SPACE,
        viewpoint=SE2(x, y, math.atan2(cy - y, cx - x)) if reached else None,
        route_cost_m=frontier.path_cost_m,
        point=(cx, cy, 0.0),
        eligibility=judged.eligibility,
        reason=judged.reason,
        room=graph.room_at(cx, cy),
        failures=failures[0],
        gain=frontier.gain,
    )


def _places(
    maps: MapSnapshot, travel: NDArray[np.float32], entities: Sequence[Entity], standing: Standing
) -> list[tuple[SE2 | None, float]]:
    centres = np.array([_middle(e) for e in entities], float).reshape(-1, 2)
    radii = np.array([_reach(e) for e in entities], float)
    fronts = np.array([_front(e, at) for e, at in zip(entities, centres.tolist(), strict=True)], float)
    return standing_places(maps, travel, centres, radii, fronts, standing)


def _middle(entity: Entity) -> tuple[float, float]:
    low, high = entity.core_low, entity.core_high
    return (low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0


def _reach(entity: Entity) -> float:
    low, high = entity.core_low, entity.core_high
    return max(high[0] - low[0], high[1] - low[1]) / 2.0 + OWN_MARGIN_M


def _front(entity: Entity, at: Sequence[float]) -> float:
    """Towards who opens it where that is known, else towards where it was seen from."""
    if entity.facing is not None:
        return math.atan2(entity.facing[1], entity.facing[0])
    return math.atan2(entity.seen_from[1] - at[1], entity.seen_from[0] - at[0])
