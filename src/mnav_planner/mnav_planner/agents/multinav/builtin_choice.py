"""The builtin chooser, and the one of the ablation without effects."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from mnav_core.requests import Reply, Request
from mnav_graph.records import CandidateKind, ExpectedEffect
from mnav_perception.rooms.contents import PlacePrior
from mnav_planner.agents.multinav.prospects import prospects_of
from mnav_planner.agents.multinav.records import Choice, ChoiceCounts, Confidence, Origin, Situation, reason_of
from mnav_planner.agents.multinav.settings import MultiNavSettings

# A first choice worth this much more than the second is sure.
SURE, LIKELY = 2.0, 1.25
LEAST_WORTH = 1e-4


@dataclass(frozen=True)
class BuiltinChooser:
    """Ranks by expected gain over cost; without `relations` from a flat list of objects (section 5.3)."""

    prior: PlacePrior
    settings: MultiNavSettings
    relations: bool = True
    origin: Origin = Origin.BUILTIN

    def choose(self, situation: Situation, counts: ChoiceCounts) -> Generator[Request, Reply, Choice | None]:
        """The best candidates of some worth."""
        yield from ()
        ranked = [
            p for p in prospects_of(situation, self.prior, self.settings, self.relations) if p.worth > LEAST_WORTH
        ]
        if not ranked:
            return None
        lead = ranked[0].worth / ranked[1].worth if len(ranked) > 1 else SURE
        sure = Confidence.HIGH if lead >= SURE else Confidence.MEDIUM if lead >= LIKELY else Confidence.LOW
        first = ranked[0]
        words = f"gain {first.gain:.2f} for {first.cost_m:.1f} m"
        ids = tuple(p.candidate.id for p in ranked[: self.settings.ranked])
        return Choice(ids, reason_of(first.candidate), sure, self.origin, words)


@dataclass(frozen=True)
class GreedyChooser:
    """Greedy Selection (section 5.3): the nearest candidate, whatever its effect; an observed target goes first."""

    settings: MultiNavSettings

    def choose(self, situation: Situation, counts: ChoiceCounts) -> Generator[Request, Reply, Choice | None]:
        """By route cost alone; rooms are no goals by themselves."""
        yield from ()
        open_to = [
            c
            for c in situation.candidates
            if c.kind is not CandidateKind.NAVIGATE or c.effect is not ExpectedEffect.REACH_ROOM
        ]
        ranked = sorted(open_to, key=lambda c: (c.effect is not ExpectedEffect.REACH_TARGET, c.route_cost_m, c.id))
        if not ranked:
            return None
        ids = tuple(c.id for c in ranked[: self.settings.ranked])
        return Choice(ids, reason_of(ranked[0]), Confidence.MEDIUM, words=f"{ranked[0].route_cost_m:.1f} m away")
