"""What a candidate is worth: expected gain in connectivity or observability, and what it costs (section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_graph.graph import InteractionGraph
from mnav_graph.records import Acknowledgement, Candidate, CandidateKind, Entity, EntityState, ExpectedEffect, NodeKind
from mnav_perception.exploration.travel import travel_cost
from mnav_perception.rooms.contents import PlacePrior
from mnav_planner.agents.exploring import gain_of
from mnav_planner.agents.multinav.beyond import unlocked_share
from mnav_planner.agents.multinav.records import Situation
from mnav_planner.agents.multinav.settings import MultiNavSettings

# How sharply differences of the prior's scores tell places apart.
SHARPNESS = 14.0
# Containers of any home, so that one kind that was seen is judged against those that were not.
USUAL_CONTAINERS = ("fridge", "cabinet", "drawer", "wardrobe", "box", "shelf")
# Plain exploration's order of frontiers is kept: others are worth this much less.
OTHER_FRONTIER = 0.5
# What was not seen from a frontier's own place will hardly be seen from there again.
LOOKED_AT = 0.05
LEAST_GAIN = 0.02
# What the executor says is done most likely is, though no view has shown it.
DONE = 0.2


@dataclass(frozen=True)
class Prospect:
    """A candidate with its expected gain, the chance that the target is seen thanks to it, and its cost."""

    candidate: Candidate
    gain: float
    cost_m: float

    @property
    def worth(self) -> float:
        """Gain a metre."""
        return self.gain / self.cost_m


def prospects_of(
    situation: Situation, prior: PlacePrior, settings: MultiNavSettings, relations: bool = True
) -> tuple[Prospect, ...]:
    """Every candidate with its worth, best first; equal ones by id.

    Without `relations` an entity is judged by itself: not by what a door connects, nor by the rooms of containers.
    """
    travel = travel_cost(situation.maps.costmap, situation.now.pose)
    containers = container_shares(situation.graph, situation.category, prior, relations)
    found = []
    for candidate in situation.candidates:
        gain = _gain(candidate, situation, containers, travel if relations else None, settings)
        found.append(Prospect(candidate, gain, _cost(candidate, situation.graph, settings)))
    return tuple(sorted(found, key=lambda p: (-p.worth, p.candidate.id)))


def _gain(
    candidate: Candidate,
    situation: Situation,
    containers: dict[str, float],
    travel: NDArray[np.float32] | None,
    settings: MultiNavSettings,
) -> float:
    if candidate.effect is ExpectedEffect.REACH_TARGET:
        return 1000.0
    if candidate.kind is CandidateKind.EXPLORE:
        seen = min(gain_of(situation.frontiers[candidate.id], situation.now) / settings.explored_m2, 1.0)
        order = 1.0 if candidate.id == situation.preferred else OTHER_FRONTIER
        return settings.room_share * max(seen, LEAST_GAIN) * order * LOOKED_AT ** situation.visits.get(candidate.id, 0)
    entity = situation.graph.entities.get(candidate.entity_id)
    if entity is None or not entity.is_interactive:
        return 0.0
    closed = chance_closed(entity)
    retried = 0.5**candidate.failures
    if _was_done(situation.graph, candidate):
        retried *= DONE
    if entity.kind is NodeKind.CHANNEL:
        unlocked = 1.0 if travel is None else unlocked_share(entity, situation.maps, travel)
        return closed * retried * settings.room_share * unlocked
    return closed * retried * settings.hidden_share * containers.get(entity.id, 0.0)


def _was_done(graph: InteractionGraph, candidate: Candidate) -> bool:
    """Whether the last attempt of a candidate completed."""
    same = [a for a in graph.attempts if a.candidate_id == candidate.id and a.ended_s is not None]
    return bool(same) and same[-1].acknowledgement is Acknowledgement.COMPLETED


def _cost(candidate: Candidate, graph: InteractionGraph, settings: MultiNavSettings) -> float:
    entity = graph.entities.get(candidate.entity_id)
    spent = 0.0
    if entity is not None and entity.is_interactive:
        spent = settings.door_m if entity.kind is NodeKind.CHANNEL else settings.container_m
    return candidate.route_cost_m + settings.first_m + spent


def chance_closed(entity: Entity) -> float:
    """How likely a door or container is closed, by its believed state."""
    believed = entity.state
    if believed.state is EntityState.CLOSED:
        return max(believed.confidence, 0.5)
    if believed.state is EntityState.OPEN:
        return 1.0 - max(believed.confidence, 0.5)
    return 0.5


def container_shares(
    graph: InteractionGraph, category: str, prior: PlacePrior, relations: bool = True
) -> dict[str, float]:
    """How plausible it is that a target which is in some container is in each of the known ones that are not known
    open, 0..1: by what the container is called, and by what its room may be.
    """
    containers = [e for e in graph.entities.values() if e.kind is NodeKind.CONTAINER]
    names = tuple(dict.fromkeys([*USUAL_CONTAINERS, *(e.category for e in containers)]))
    of_class = dict(zip(names, softmax([prior.score(category, name) for name in names]), strict=True))
    found: dict[str, float] = {}
    for name in {e.category for e in containers}:
        same = [e for e in containers if e.category == name]
        fits = [_room_fit(graph, e, category, prior) if relations else 1.0 for e in same]
        for entity, fit in zip(same, fits, strict=True):
            # Of several alike, each holds its part; the better its room fits the larger.
            found[entity.id] = of_class[name] * fit / max(sum(fits), 1.0)
    return found


def _room_fit(graph: InteractionGraph, entity: Entity, category: str, prior: PlacePrior) -> float:
    """How well the container's room suits the target, 1 for a room of which nothing is known."""
    room = graph.rooms.get(entity.rooms[0]) if entity.rooms else None
    if room is None or not room.kinds:
        return 1.0
    kinds = [kind.kind for kind in room.kinds]
    suits = softmax([prior.score(category, kind) for kind in kinds])
    share = sum(kind.share * suit for kind, suit in zip(room.kinds, suits, strict=True))
    return min(max(share * len(kinds), 0.3), 2.0)


def softmax(scores: Sequence[float], sharpness: float = SHARPNESS) -> list[float]:
    """Shares of scores of which only differences mean something."""
    top = max(scores)
    votes = [math.exp(sharpness * (score - top)) for score in scores]
    return [vote / sum(votes) for vote in votes]
