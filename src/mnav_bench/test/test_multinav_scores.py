"""Appendix E clause by clause: episodes worked by hand, and properties that no episode may break."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnav_bench.multinav.effects import achieved_ids, class_attempts, effects_by_attempt, errors
from mnav_bench.multinav.record import (
    AttemptRecord,
    Claim,
    Domain,
    EpisodeRun,
    EpisodeSpec,
    InteractionClass,
    JointClass,
    JointMotion,
    Mover,
    Necessity,
    Plan,
    RequiredEffect,
    Split,
)
from mnav_bench.multinav.released import released_means, released_score
from mnav_bench.multinav.scores import planar_length, score, spl
from mnav_bench.multinav.tables import table
from mnav_core.interaction import Operation

DOOR = InteractionClass(Domain.CHANNEL, "door")
FRIDGE = InteractionClass(Domain.CONTAINER, "fridge")
DRAWER = InteractionClass(Domain.CONTAINER, "drawer")
JOINTS = (
    JointClass("door_a", "door_a", DOOR),
    JointClass("door_b", "door_b", DOOR),
    JointClass("fridge_a", "fridge_a", FRIDGE),
    JointClass("drawer_a", "drawer_a", DRAWER),
)
# Mixed: through door A to fridge A. Reference 10 m, success nearer than 1.5 m.
SPEC = EpisodeSpec(
    id="m1",
    split=Split.MIXED,
    necessity=Necessity.REQUIRED,
    reference_m=10.0,
    threshold_m=1.5,
    classes=(DOOR, FRIDGE),
    effects=(RequiredEffect("channel::a::0", "door_a"), RequiredEffect("container::a::0", "fridge_a")),
    plans=(Plan("p", ("channel::a::0", "container::a::0")),),
    joints=JOINTS,
)
CONTROL = replace(SPEC, id="u1", split=Split.CHANNEL, necessity=Necessity.UNNECESSARY, effects=(), plans=())


def attempt(number: int, operation: Operation = Operation.OPEN, acknowledged: bool = True) -> AttemptRecord:
    return AttemptRecord(number, operation, 10.0 * number, 10.0 * number + 5.0, acknowledged)


def by(number: int, joint: str, before: float, after: float, at: float = 1.0) -> JointMotion:
    return JointMotion(10.0 * number + at, joint, before, after, Mover.ATTEMPT, number)


def pushed(time_s: float, joint: str, before: float, after: float) -> JointMotion:
    return JointMotion(time_s, joint, before, after, Mover.BODY)


def run_of(
    attempts: tuple[AttemptRecord, ...] = (),
    motions: tuple[JointMotion, ...] = (),
    path_m: float = 12.0,
    distance_m: float = 1.0,
    visible: bool = True,
    spec: EpisodeSpec = SPEC,
) -> EpisodeRun:
    return EpisodeRun(spec.id, ((0.0, 0.0), (path_m, 0.0)), distance_m, visible, attempts, motions)


def test_a_mixed_episode_by_hand() -> None:
    # Opens a drawer (another class), fails on the door, opens it, opens the fridge: A 4, E 1, V 2.
    attempts = (attempt(0), attempt(1, acknowledged=False), attempt(2), attempt(3))
    motions = (
        by(0, "drawer_a", 0.0, 0.95),
        by(1, "door_a", 0.0, 0.4),
        by(2, "door_a", 0.4, 0.9),
        by(3, "fridge_a", 0.0, 1.0),
    )
    result = score(SPEC, run_of(attempts, motions))
    assert (result.attempts, result.errors, result.class_attempts) == (4, 1, 2)
    assert result.success and result.plan_done and result.isr == 1.0
    assert result.ip == 0.5
    assert result.spl == pytest.approx(10.0 / 12.0)
    assert result.operation_cost_m == pytest.approx(12.0 + 0.3 * 4 + 1.0)
    assert result.cost == pytest.approx(14.2 / 30.0)


@pytest.mark.parametrize(("distance", "visible", "expected"), [(1.4999, True, True), (1.5, True, False),
                                                               (1.0, False, False)])  # fmt: skip
def test_success_is_strictly_nearer_and_visible(distance: float, visible: bool, expected: bool) -> None:
    result = score(SPEC, run_of(distance_m=distance, visible=visible))
    assert result.success is expected
    assert result.cost == (12.0 / 30.0 if expected else 1.0)


@pytest.mark.parametrize(("claim", "expected"), [(None, False), (Claim(False), False), (Claim(True), True)])
def test_a_restricted_policy_must_claim_with_evidence(claim: Claim | None, expected: bool) -> None:
    assert score(SPEC, replace(run_of(), restricted=True, claim=claim)).success is expected
    assert not score(SPEC, replace(run_of(distance_m=1.5), restricted=True, claim=claim)).success


def test_spl_of_special_lengths() -> None:
    assert spl(True, 0.0, 0.0) == 1.0 and spl(True, 0.0, 2.0) == 0.0
    assert spl(False, 5.0, 5.0) == 0.0 and spl(True, 5.0, 4.0) == 1.0
    assert spl(True, None, 1.0) is None and spl(False, float("nan"), 1.0) is None and spl(True, -1.0, 1.0) is None
    scores = [score(SPEC, run_of()), score(replace(SPEC, reference_m=None), run_of(distance_m=9.0))]
    assert table(scores)[0].spl is None and table(scores)[0].sr == 0.5


def test_isr_is_the_best_valid_plan_and_credits_an_id_once() -> None:
    plans = (
        Plan("long", ("channel::a::0", "container::a::0")),
        Plan("short", ("container::a::0",)),
        Plan("broken", ("channel::a::0",), valid=False),
        Plan("empty", ()),
    )
    spec = replace(SPEC, plans=plans)
    door_twice = (by(0, "door_a", 0.0, 0.9), by(1, "door_a", 0.9, 0.1), by(2, "door_a", 0.1, 0.9))
    attempts = (attempt(0), attempt(1, Operation.CLOSE), attempt(2))
    result = score(spec, run_of(attempts, door_twice))
    assert result.isr == 0.5 and result.plan_done is False
    fridge = score(spec, run_of((attempt(0, acknowledged=False),), (by(0, "fridge_a", 0.0, 0.8),)))
    assert fridge.isr == 1.0 and fridge.plan_done is True


def test_isr_without_a_valid_plan_is_unavailable_and_controls_are_excluded() -> None:
    no_plan = replace(SPEC, plans=(Plan("empty", ()), Plan("broken", ("channel::a::0",), valid=False)))
    assert table([score(SPEC, run_of()), score(no_plan, run_of())])[0].isr is None
    row = table([score(SPEC, run_of()), score(CONTROL, run_of(spec=CONTROL))])[0]
    assert (row.isr, row.required, row.episodes) == (0.0, 1, 2)


def test_a_transient_opening_counts_and_its_macro_may_fail() -> None:
    scan = (by(0, "drawer_a", 0.0, 0.9, 1.0), by(0, "drawer_a", 0.9, 0.0, 2.0))
    spec = replace(SPEC, classes=(DRAWER,), effects=(RequiredEffect("d", "drawer_a"),), plans=(Plan("p", ("d",)),))
    result = score(spec, run_of((attempt(0, acknowledged=False),), scan))
    assert (result.isr, result.ip, result.errors) == (1.0, 1.0, 0)


def test_just_below_the_threshold_is_no_opening() -> None:
    result = score(SPEC, run_of((attempt(0),), (by(0, "door_a", 0.0, 0.7999),)))
    assert (result.isr, result.ip, result.errors) == (0.0, 0.0, 1)
    assert score(SPEC, run_of((attempt(0),), (by(0, "door_a", 0.7999, 0.8),))).ip == 1.0
    assert score(SPEC, run_of((attempt(0),), (by(0, "door_a", 0.8, 1.0),))).errors == 1


def test_reopening_after_closure_earns_again_and_a_repeated_request_does_not() -> None:
    attempts = (attempt(0), attempt(1, Operation.CLOSE), attempt(2), attempt(3))
    motions = (by(0, "door_b", 0.0, 0.9), by(1, "door_b", 0.9, 0.0), by(2, "door_b", 0.0, 0.9))
    result = score(SPEC, run_of(attempts, motions))
    # Attempt 3 asks again for what is open: no effect, an error. The closing moved something: no error, no credit.
    assert (result.class_attempts, result.errors, result.ip) == (2, 1, 0.5)


def test_one_attempt_with_several_effects_counts_once_and_the_instance_does_not_matter() -> None:
    motions = (by(0, "door_b", 0.0, 0.9), by(0, "fridge_a", 0.0, 0.9, 2.0))
    result = score(SPEC, run_of((attempt(0),), motions))
    assert (result.class_attempts, result.ip) == (1, 1.0)


def test_another_class_is_in_the_denominator_and_no_error() -> None:
    result = score(SPEC, run_of((attempt(0),), (by(0, "drawer_a", 0.0, 1.0),)))
    assert (result.ip, result.errors, result.operation_cost_m) == (0.0, 0, pytest.approx(12.3))


def test_a_closing_without_motion_is_an_error() -> None:
    assert score(SPEC, run_of((attempt(0, Operation.CLOSE),))).errors == 1
    assert score(SPEC, run_of((attempt(0, Operation.CLOSE),), (by(0, "door_a", 0.5, 0.4),))).errors == 0


def test_a_rejected_goal_is_an_attempt_and_an_error() -> None:
    rejected = AttemptRecord(0, Operation.OPEN, 0.0, 0.0, rejected=True)
    result = score(SPEC, run_of((rejected,)))
    assert (result.attempts, result.errors, result.ip) == (1, 1, 0.0)


def test_without_attempts_ip_is_the_necessity() -> None:
    assert score(SPEC, run_of()).ip == 0.0
    assert score(CONTROL, run_of(spec=CONTROL)).ip == 1.0
    assert score(CONTROL, run_of((attempt(0),), spec=CONTROL)).ip == 0.0


def test_ip_is_the_mean_of_ratios_not_the_ratio_of_sums() -> None:
    one = score(SPEC, run_of((attempt(0),), (by(0, "door_a", 0.0, 1.0),)))
    three = score(SPEC, run_of((attempt(0), attempt(1), attempt(2))))
    assert table([one, three])[0].ip == 0.5


def test_what_the_body_moves_earns_nothing_and_neither_does_a_reopening() -> None:
    opened = score(SPEC, run_of((), (pushed(1.0, "door_a", 0.0, 0.9),)))
    assert (opened.isr, opened.ip) == (0.0, 0.0)
    shut = (by(0, "door_a", 0.0, 0.9), pushed(8.0, "door_a", 0.9, 0.1), by(1, "door_a", 0.1, 0.9))
    result = score(SPEC, run_of((attempt(0), attempt(1)), shut))
    assert (result.class_attempts, result.ip, result.errors) == (1, 0.5, 0)
    ajar = (pushed(1.0, "door_a", 0.0, 0.3), by(1, "door_a", 0.3, 0.9))
    assert score(SPEC, run_of((attempt(1),), ajar)).ip == 1.0


def test_a_crash_fails_and_keeps_the_ip_of_its_attempts() -> None:
    crashed = replace(run_of((attempt(0),), (by(0, "door_a", 0.0, 1.0),)), crashed=True)
    result = score(SPEC, crashed)
    assert (result.success, result.spl, result.cost, result.ip) == (False, 0.0, 1.0, 1.0)
    idle = score(CONTROL, replace(run_of(spec=CONTROL), crashed=True))
    assert idle.ip == 0.0
    good = score(SPEC, run_of())
    assert table([good, result])[0].sr == 0.5 and table([good, result], completed_only=True)[0].sr == 1.0


def test_ineligible_episodes_leave_the_denominator_and_are_said() -> None:
    out = score(replace(SPEC, ineligible="start pose 0.2 m off"), run_of(distance_m=9.0))
    row = table([score(SPEC, run_of()), out])[0]
    assert (row.sr, row.episodes, row.ineligible) == (1.0, 1, 1)


def test_cost_is_one_over_budget() -> None:
    assert score(SPEC, run_of(path_m=40.0)).cost == 1.0


def test_a_run_of_another_episode_is_refused() -> None:
    with pytest.raises(ValueError, match="m1"):
        score(SPEC, run_of(spec=CONTROL))


def test_the_released_code_counts_otherwise() -> None:
    # Door A, then a drawer, then door A again after closing: new required effects 1 of 4 attempts.
    attempts = (attempt(0), attempt(1), attempt(2, Operation.CLOSE), attempt(3))
    motions = (
        by(0, "door_a", 0.0, 0.9), by(1, "drawer_a", 0.0, 0.9), by(2, "door_a", 0.9, 0.0), by(3, "door_a", 0.0, 0.9),
    )  # fmt: skip
    theirs, ours = released_score(SPEC, run_of(attempts, motions)), score(SPEC, run_of(attempts, motions))
    assert (theirs.sr, theirs.success, theirs.isr, theirs.ip, theirs.errors) == (True, False, 0.0, 0.25, 3)
    assert theirs.cost == pytest.approx(12.0 + 0.3 * 4 + 3.0)
    assert (ours.isr, ours.ip, ours.errors) == (0.5, 0.5, 0)
    failed = released_score(SPEC, run_of(distance_m=3.0))
    assert failed.cost == pytest.approx(12.0 + 5.0)
    crashed = released_score(SPEC, replace(run_of(), crashed=True))
    assert released_means([theirs, crashed])["sr"] == 1.0


FRACTION = st.floats(0.0, 1.0)
MOTIONS = st.lists(
    st.builds(
        JointMotion,
        time_s=st.floats(0.0, 100.0),
        joint=st.sampled_from([j.joint for j in JOINTS]),
        before=FRACTION,
        after=FRACTION,
        by=st.sampled_from(Mover),
        attempt=st.integers(0, 4),
    ),
    max_size=12,
).map(tuple)
ATTEMPTS = st.lists(st.sampled_from(Operation), max_size=5).map(
    lambda ops: tuple(attempt(n, op) for n, op in enumerate(ops))
)


@given(ATTEMPTS, MOTIONS, st.floats(0.0, 60.0), st.booleans(), st.booleans())
def test_every_score_is_within_its_bounds(
    attempts: tuple[AttemptRecord, ...],
    motions: tuple[JointMotion, ...],
    path_m: float,
    visible: bool,
    crashed: bool,
) -> None:
    for spec in (SPEC, CONTROL):
        run = replace(run_of(attempts, motions, path_m, visible=visible, spec=spec), crashed=crashed)
        result = score(spec, run)
        assert result.class_attempts <= result.attempts and result.errors <= result.attempts
        for value in (result.spl, result.isr, result.ip, result.cost):
            assert value is None or 0.0 <= value <= 1.0
        assert result.success or (result.spl == 0.0 and result.cost == 1.0)
        # Effects neither add nor remove success.
        assert result.success is score(spec, replace(run, attempts=(), motions=())).success
        assert not result.plan_done or result.isr is None or result.isr == 1.0


@given(ATTEMPTS, MOTIONS)
def test_an_effect_is_no_error_and_credit_needs_an_effect(
    attempts: tuple[AttemptRecord, ...], motions: tuple[JointMotion, ...]
) -> None:
    run = run_of(attempts, motions)
    for effects in effects_by_attempt(run).values():
        assert effects.credited <= effects.opened <= effects.moved
    opening = sum(a.operation is Operation.OPEN for a in attempts)
    assert class_attempts(SPEC, run) + errors(run) <= len(attempts)
    assert class_attempts(SPEC, run) <= opening


@given(ATTEMPTS, MOTIONS)
def test_the_body_alone_never_helps(attempts: tuple[AttemptRecord, ...], motions: tuple[JointMotion, ...]) -> None:
    own = tuple(m for m in motions if m.by is not Mover.BODY)
    with_body, without = run_of(attempts, motions), run_of(attempts, own)
    assert achieved_ids(SPEC, with_body) <= achieved_ids(SPEC, without)
    assert class_attempts(SPEC, with_body) <= class_attempts(SPEC, without)


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), max_size=8).map(tuple))
def test_path_length_is_at_least_the_straight_line(points: tuple[tuple[float, float], ...]) -> None:
    straight = planar_length((points[0], points[-1])) if points else 0.0
    assert planar_length(points) >= straight - 1e-9
