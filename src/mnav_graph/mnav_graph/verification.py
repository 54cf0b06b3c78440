"""Equation 3: what an attempt changed, from what was seen after it and what the executor said."""

from __future__ import annotations

from collections.abc import Sequence

from mnav_core.sensing import ArticulationState
from mnav_graph.records import Acknowledgement, EntityState, StateEstimate, Verdict
from mnav_graph.settings import GraphSettings
from mnav_graph.states import shown_state
from mnav_perception.articulation.records import StateEvidence


def verified_state(
    before: StateEstimate,
    requested: EntityState,
    evidence: Sequence[StateEvidence],
    acknowledgement: Acknowledgement,
    now_s: float,
    settings: GraphSettings,
) -> tuple[StateEstimate, Verdict]:
    """z_{t+1}(u*) and the verdict, from the evidence after the attempt; evidence that shows nothing does not count.

    The requested state needs confidence of at least tau in that state, and then beats a failed acknowledgement.
    Conflicting, partial or occluded evidence leaves the state uncertain. A failed or timed-out attempt without an
    observed change leaves the state as it was.
    """
    telling = [e for e in evidence if e.state is not ArticulationState.UNKNOWN]
    sure = [e for e in telling if e.confidence >= settings.tau_verify]
    shown = {shown_state(e.state) for e in sure}
    if shown == {requested}:
        best = max(sure, key=lambda e: e.confidence)
        estimate = StateEstimate(requested, min(best.confidence, settings.confidence_cap), now_s, best.state)
        return estimate, Verdict.VERIFIED
    known = before.observed if before.state is EntityState.UNCERTAIN else None
    is_changed = any(_differs(e.state, before.state, known) for e in telling)
    if acknowledgement is not Acknowledgement.COMPLETED and not is_changed:
        return before, Verdict.NO_CHANGE
    doubt = max((e.confidence for e in telling), default=0.0)
    observed = telling[-1].state if telling else ArticulationState.UNKNOWN
    return StateEstimate(EntityState.UNCERTAIN, min(doubt, settings.confidence_cap), now_s, observed), Verdict.UNCERTAIN


def _differs(seen: ArticulationState, before: EntityState, known: ArticulationState | None) -> bool:
    """Whether what is seen is a change; of an uncertain entity only against what was last seen of it."""
    if known is not None:
        return known is not ArticulationState.UNKNOWN and seen is not known
    return shown_state(seen) is not before
