"""Beliefs under evidence, and equation 3 line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnav_core.sensing import ArticulationState
from mnav_graph.records import Acknowledgement, EntityState, StateEstimate, Verdict
from mnav_graph.settings import GraphSettings
from mnav_graph.states import updated_state
from mnav_graph.verification import verified_state
from mnav_perception.articulation.records import StateEvidence

A, E, S = ArticulationState, EntityState, GraphSettings()
CLOSED = StateEstimate(E.CLOSED, 0.9, 10.0, A.CLOSED)
ACKS = st.sampled_from(Acknowledgement)
SURE = st.floats(0.0, 1.0)


def told(state: ArticulationState, confidence: float = 0.9) -> StateEvidence:
    return StateEvidence(state, confidence, 20.0)


def test_a_view_that_does_not_tell_changes_nothing() -> None:
    assert updated_state(CLOSED, A.UNKNOWN, 1.0, 11.0, S) == CLOSED


def test_contradiction_of_equal_weight_is_uncertain() -> None:
    after = updated_state(CLOSED, A.OPEN, 0.9, 11.0, S)
    assert (after.state, after.confidence) == (E.UNCERTAIN, pytest.approx(0.5))


def test_weaker_contradiction_only_lowers_confidence() -> None:
    # 0.9 * 0.4 / (0.9 * 0.4 + 0.1 * 0.6) = 0.857
    after = updated_state(CLOSED, A.OPEN, 0.6, 11.0, S)
    assert (after.state, after.confidence) == (E.CLOSED, pytest.approx(0.857, abs=1e-3))


def test_much_stronger_contradiction_turns_the_state() -> None:
    weak = StateEstimate(E.CLOSED, 0.6, 10.0, A.CLOSED)
    # 0.6 * 0.05 / (0.6 * 0.05 + 0.4 * 0.95) = 0.073
    after = updated_state(weak, A.OPEN, 0.95, 11.0, S)
    assert (after.state, after.confidence) == (E.OPEN, pytest.approx(0.927, abs=1e-3))


def test_stale_evidence_gives_way_at_once() -> None:
    after = updated_state(CLOSED, A.OPEN, 0.8, 10.0 + S.stale_s + 1.0, S)
    assert (after.state, after.confidence) == (E.OPEN, 0.8)


def test_a_leaf_ajar_is_neither() -> None:
    assert updated_state(StateEstimate(), A.PARTIAL, 0.9, 1.0, S).state is E.UNCERTAIN


@given(SURE, SURE, st.sampled_from([A.OPEN, A.CLOSED, A.PARTIAL]))
def test_contradiction_never_raises_the_believed_states_confidence(
    old: float, new: float, seen: ArticulationState
) -> None:
    before = StateEstimate(E.CLOSED, old, 10.0, A.CLOSED)
    after = updated_state(before, seen, new, 11.0, S)
    if after.state is E.CLOSED and seen is not A.CLOSED:
        assert after.confidence <= old
    assert 0.0 <= after.confidence <= 1.0


@given(ACKS, st.floats(S.tau_verify, 1.0))
def test_a_verified_effect_beats_every_acknowledgement(ack: Acknowledgement, sure: float) -> None:
    state, verdict = verified_state(CLOSED, E.OPEN, [told(A.OPEN, sure)], ack, 21.0, S)
    assert (state.state, verdict) == (E.OPEN, Verdict.VERIFIED)


@given(ACKS, st.floats(0.0, S.tau_verify - 1e-6))
def test_below_the_threshold_the_requested_state_is_not_written(ack: Acknowledgement, sure: float) -> None:
    state, _ = verified_state(CLOSED, E.OPEN, [told(A.OPEN, sure)], ack, 21.0, S)
    assert state.state is E.UNCERTAIN


@given(ACKS, SURE, st.sampled_from([A.CLOSED, A.PARTIAL, A.UNKNOWN]))
def test_confidence_in_another_state_never_writes_the_requested_one(
    ack: Acknowledgement, sure: float, seen: ArticulationState
) -> None:
    state, verdict = verified_state(CLOSED, E.OPEN, [told(seen, sure)], ack, 21.0, S)
    assert state.state is not E.OPEN and verdict is not Verdict.VERIFIED


@pytest.mark.parametrize("evidence", [[], [told(A.UNKNOWN)], [told(A.CLOSED)]])
@pytest.mark.parametrize("ack", [Acknowledgement.FAILED, Acknowledgement.TIMED_OUT, Acknowledgement.STALLED])
def test_failure_without_observed_change_keeps_the_state(evidence: list[StateEvidence], ack: Acknowledgement) -> None:
    assert verified_state(CLOSED, E.OPEN, evidence, ack, 21.0, S) == (CLOSED, Verdict.NO_CHANGE)


@pytest.mark.parametrize(
    ("evidence", "ack"),
    [
        ([told(A.PARTIAL)], Acknowledgement.FAILED),  # a partial effect
        ([told(A.OPEN), told(A.CLOSED)], Acknowledgement.COMPLETED),  # conflict between views
        ([told(A.CLOSED)], Acknowledgement.COMPLETED),  # conflict with the executor
        ([], Acknowledgement.COMPLETED),  # occluded
    ],
)
def test_conflicting_partial_or_occluded_evidence_is_uncertain(
    evidence: list[StateEvidence], ack: Acknowledgement
) -> None:
    state, verdict = verified_state(CLOSED, E.OPEN, evidence, ack, 21.0, S)
    assert (state.state, verdict) == (E.UNCERTAIN, Verdict.UNCERTAIN)
