"""What a chooser is told and what it answers (MultINav, G.2 and G.3)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from mnav_core.maps import MapSnapshot
from mnav_core.requests import Observation, Reply, Request
from mnav_graph.graph import InteractionGraph
from mnav_graph.records import Candidate, ExpectedEffect
from mnav_perception.exploration.frontiers import Frontier
from mnav_planner.agents.multinav.scene import Shown


class ReasonCode(Enum):
    """Why a candidate is chosen (G.2)."""

    TARGET_VISIBLE = "TARGET_VISIBLE"
    UNLOCK_ROUTE = "UNLOCK_ROUTE"
    REVEAL_TARGET_CONTAINER = "REVEAL_TARGET_CONTAINER"
    EXPLORE_TARGET_ROOM = "EXPLORE_TARGET_ROOM"


class Confidence(Enum):
    """How sure a chooser is (G.3)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Origin(Enum):
    """Who chose."""

    BUILTIN = "builtin"
    MODEL = "model"
    FALLBACK = "fallback"


REASONS = {
    ExpectedEffect.REACH_TARGET: ReasonCode.TARGET_VISIBLE,
    ExpectedEffect.ENABLE_TRAVERSAL: ReasonCode.UNLOCK_ROUTE,
    ExpectedEffect.REVEAL_CONTENTS: ReasonCode.REVEAL_TARGET_CONTAINER,
}


def reason_of(candidate: Candidate) -> ReasonCode:
    """The reason code of a candidate's expected effect."""
    return REASONS.get(candidate.effect, ReasonCode.EXPLORE_TARGET_ROOM)


@dataclass(frozen=True)
class Choice:
    """Candidate ids, best first, at most three; why the first one, how sure, and who says so."""

    ranked_ids: tuple[str, ...]
    reason: ReasonCode
    confidence: Confidence
    origin: Origin = Origin.BUILTIN
    words: str = ""


@dataclass(frozen=True)
class PastAction:
    """One decision and what came of it, in words for a summary."""

    stamp_s: float
    candidate_id: str
    outcome: str


@dataclass(frozen=True, eq=False)
class Situation:
    """Everything that a choice may rest on; `candidates` are those that can be executed now.

    `maps` are those that routes were planned in, `frontiers` by candidate id, `preferred` the frontier that plain
    exploration would take ("" for none), `visits` how often a frontier was looked at from its own place, `shown` what
    the newest capture shows of each entity.
    """

    category: str
    request: str
    now: Observation
    maps: MapSnapshot
    graph: InteractionGraph
    candidates: tuple[Candidate, ...]
    frontiers: Mapping[str, Frontier]
    preferred: str
    visits: Mapping[str, int] = field(default_factory=dict)
    history: tuple[PastAction, ...] = ()
    shown: Mapping[str, Sequence[Shown]] = field(default_factory=dict)


@dataclass
class ChoiceCounts:
    """What the choices of a run cost and how often the builtin chooser stood in for the model."""

    decisions: int = 0
    model_calls: int = 0
    fallbacks: int = 0
    tokens: int = 0
    reasons: dict[str, int] = field(default_factory=dict)


class Chooser(Protocol):
    """Ranks the current candidates."""

    def choose(self, situation: Situation, counts: ChoiceCounts) -> Generator[Request, Reply, Choice | None]:
        """The ranking, None when nothing is worth doing; may ask a model, and so yields requests like a mind."""
        ...
