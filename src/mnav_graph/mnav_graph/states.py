"""What evidence does to a believed state (appendix D): fresh replaces stale, contradiction lowers confidence."""

from __future__ import annotations

from mnav_core.sensing import ArticulationState
from mnav_graph.records import EntityState, StateEstimate
from mnav_graph.settings import GraphSettings

SHOWN = {ArticulationState.OPEN: EntityState.OPEN, ArticulationState.CLOSED: EntityState.CLOSED}


def shown_state(observed: ArticulationState) -> EntityState:
    """The state that an observation shows; a leaf that stands ajar is neither open nor closed."""
    return SHOWN.get(observed, EntityState.UNCERTAIN)


def updated_state(
    believed: StateEstimate, observed: ArticulationState, confidence: float, stamp_s: float, settings: GraphSettings
) -> StateEstimate:
    """The belief after one observation of the entity.

    UNKNOWN says nothing and changes nothing. Agreement keeps the higher confidence. A contradiction weighs both as
    independent witnesses of a two-sided question; where neither side wins, the state is uncertain.
    """
    if observed is ArticulationState.UNKNOWN or stamp_s < believed.stamp_s:
        return believed
    seen = shown_state(observed)
    sure = min(max(confidence, 0.0), settings.confidence_cap)
    is_stale = stamp_s - believed.stamp_s > settings.stale_s
    if believed.state is EntityState.UNCERTAIN or (is_stale and sure >= settings.accept_from):
        kept = seen if sure >= settings.accept_from else EntityState.UNCERTAIN
        return StateEstimate(kept, sure, stamp_s, observed)
    if seen is believed.state:
        return StateEstimate(seen, max(sure, believed.confidence), stamp_s, observed)
    old = min(believed.confidence, settings.confidence_cap)
    for_old, for_new = old * (1.0 - sure), (1.0 - old) * sure
    share = for_old / (for_old + for_new) if for_old + for_new > 0.0 else 0.5
    # Weak evidence speaks against nothing: a witness below even odds must not strengthen what it contradicts.
    share = min(share, old)
    if share >= settings.keep_from:
        return StateEstimate(believed.state, share, stamp_s, observed)
    if seen is not EntityState.UNCERTAIN and 1.0 - share >= settings.keep_from and for_new > for_old:
        return StateEstimate(seen, 1.0 - share, stamp_s, observed)
    return StateEstimate(EntityState.UNCERTAIN, max(share, 1.0 - share), stamp_s, observed)
