"""The current situation in words for a model: rooms with anchors, doors and containers, candidates, history (G.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mnav_graph.graph import InteractionGraph
from mnav_graph.records import Candidate, Entity, NodeKind
from mnav_planner.agents.multinav.records import Situation, reason_of

# G.2: up to four major anchor objects a room.
ANCHORS = 4
MAX_CANDIDATES = 24
MAX_ENTITIES = 40
MAX_NAME = 40


def situation_text(situation: Situation, candidates: Sequence[Candidate]) -> str:
    """The request, what is known, what can be done, and what was done lately."""
    graph = situation.graph
    here = graph.robot.room if graph.robot is not None else ""
    parts = [
        f"Target: {_safe(situation.category)}. Request: {_safe(situation.request, 200)}",
        "Rooms:\n" + _rooms(graph, here),
        "Doors and containers:\n" + _interactive(graph),
        "Candidates:\n" + "\n".join(_candidate(c, graph) for c in candidates),
        "Recent actions:\n" + ("\n".join(f"- {p.candidate_id}: {p.outcome}" for p in situation.history) or "- none"),
    ]
    return "\n\n".join(parts)


def anchors_of(graph: InteractionGraph, room_id: str, limit: int = ANCHORS) -> tuple[str, ...]:
    """Categories of the largest things of a room, each once."""
    inside = [e for e in graph.entities.values() if room_id in e.rooms and e.kind is not NodeKind.CHANNEL]
    inside.sort(key=lambda e: -math.prod(e.size))
    return tuple(dict.fromkeys(_safe(e.category) for e in inside))[:limit]


def room_name(graph: InteractionGraph, room_id: str) -> str:
    """A room's id with what it most likely is."""
    room = graph.rooms.get(room_id)
    if room is None:
        return "unknown"
    return f"{room_id} ({room.kinds[0].kind})" if room.kinds else room_id


def _rooms(graph: InteractionGraph, here: str) -> str:
    lines = []
    for room in graph.rooms.values():
        if room.current:
            mark = "you are here" if room.id == here else "unvisited" if room.visited_s is None else "visited"
            anchors = ", ".join(anchors_of(graph, room.id)) or "nothing seen"
            lines.append(f"- {room_name(graph, room.id)}, {room.area_m2:.0f} m2, {mark}: {anchors}")
    return "\n".join(lines) or "- none yet"


def _interactive(graph: InteractionGraph) -> str:
    lines = [_entity(e) for e in graph.entities.values() if e.is_interactive]
    return "\n".join(lines[:MAX_ENTITIES]) or "- none seen"


def _entity(entity: Entity) -> str:
    effect = "joins" if entity.kind is NodeKind.CHANNEL else "in"
    rooms = " and ".join(entity.rooms) or "unknown"
    believed = entity.state
    return f"- {entity.id}: {believed.state.value} ({believed.confidence:.2f}), {effect} {rooms}"


def _candidate(candidate: Candidate, graph: InteractionGraph) -> str:
    entity = graph.entities.get(candidate.entity_id)
    state = f", now {entity.state.state.value}" if entity is not None and entity.is_interactive else ""
    leads = f", may connect {', '.join(candidate.leads_to)}" if candidate.leads_to else ""
    tried = f", tried {candidate.failures} times in vain" if candidate.failures else ""
    where = f", in {candidate.room}" if candidate.room else ""
    return (
        f"- {candidate.id}: {candidate.kind.value}, {reason_of(candidate).value}, expected {candidate.effect.value},"
        f" {candidate.route_cost_m:.1f} m{where}{state}{leads}{tried}"
    )


def _safe(text: str, limit: int = MAX_NAME) -> str:
    """A name from outside on one line, cut."""
    return " ".join(text.split())[:limit]
