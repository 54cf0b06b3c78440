"""Association over time, rooms, relations, attempts, and a restart in between."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.interaction import Operation
from mnav_core.sensing import ArticulationState
from mnav_graph.candidates import CandidateRequest, make_candidates
from mnav_graph.graph import InteractionGraph
from mnav_graph.records import Acknowledgement, EdgeKind, Eligibility, EntityState, ExpectedEffect, Verdict
from mnav_graph.relations import ROBOT, exposes, mediated_weight
from mnav_graph.settings import GraphSettings
from mnav_graph.state import from_json, to_json
from mnav_graph.testing.flat import flat_maps, frame_of, two_rooms
from mnav_perception.articulation.records import StateEvidence

A, E = ArticulationState, EntityState
DOOR = ("d1", "door", (4.1, 2.0, 1.0))
FRIDGE = ("f1", "fridge", (2.0, 3.6, 0.9))
EGG = ("e1", "egg", (2.0, 3.6, 0.8))
SIZES = {"door": (0.9, 2.0, 0.1), "fridge": (0.6, 1.8, 0.6)}
AT = SE2(2.0, 2.0, 0.0)


def withheld(frame_things: list[tuple[str, str, tuple[float, float, float]]]) -> list:  # type: ignore[type-arg]
    return [("", category, at) for _, category, at in frame_things]


def flat(state: ArticulationState = A.CLOSED) -> InteractionGraph:
    graph = InteractionGraph()
    graph.observe(frame_of([DOOR, FRIDGE], 1.0, AT, {"door": state, "fridge": state}, SIZES))
    graph.set_rooms(two_rooms(), 1.0)
    graph.set_robot(AT, 1.0)
    return graph


def test_an_entity_persists_and_absence_is_no_evidence() -> None:
    graph = flat()
    before = dict(graph.entities)
    graph.observe(frame_of([], 2.0, AT))
    assert graph.entities == before and graph.in_view == frozenset()


@given(st.permutations(range(4)), st.booleans())
@settings(max_examples=20, deadline=None)
def test_drawers_side_by_side_keep_apart_with_ids_withheld(order: list[int], nudged: bool) -> None:
    places = [(3.0, 1.0 + 0.4 * column, 0.3 + 0.22 * row) for column in (0, 1) for row in (0, 1)]
    graph = InteractionGraph()
    size = {"drawer": (0.4, 0.2, 0.45)}
    first = graph.observe(frame_of([("", "drawer", at) for at in places], 1.0, sizes=size))
    shift = 0.03 if nudged else 0.0
    again = [("", "drawer", (places[k][0] + shift, places[k][1] + shift, places[k][2])) for k in order]
    second = graph.observe(frame_of(again, 2.0, sizes=size))
    assert len(graph.entities) == 4 and second.new == ()
    assert [second.ids[n] for n in range(4)] == [first.ids[k] for k in order]


def test_one_unseen_drawer_beside_a_known_one_is_new() -> None:
    graph = InteractionGraph()
    size = {"drawer": (0.4, 0.2, 0.45)}
    graph.observe(frame_of([("", "drawer", (3.0, 1.0, 0.3))], 1.0, sizes=size))
    assert graph.observe(frame_of([("", "drawer", (3.0, 1.0, 0.52))], 2.0, sizes=size)).new
    assert graph.observe(frame_of([("", "drawer", (3.0, 1.4, 0.3))], 3.0, sizes=size)).new


def test_an_id_decides_where_it_is_trusted_and_not_where_it_is_not() -> None:
    for trusted, count in ((True, 1), (False, 2)):
        graph = InteractionGraph(GraphSettings(trust_ids=trusted))
        graph.observe(frame_of([("x", "egg", (1.0, 0.0, 0.8))], 1.0))
        graph.observe(frame_of([("x", "egg", (3.0, 0.0, 0.8))], 2.0))
        assert len(graph.entities) == count
    graph = InteractionGraph()
    graph.observe(frame_of([("x", "egg", (1.0, 0.0, 0.8)), ("y", "egg", (1.05, 0.0, 0.8))], 1.0))
    assert len(graph.entities) == 2


def test_what_was_acted_on_is_found_again_where_it_moved_to() -> None:
    for acted, count in ((True, 1), (False, 2)):
        graph = InteractionGraph()
        size = {"drawer": (0.4, 0.2, 0.45)}
        graph.observe(frame_of([("", "drawer", (2.0, 2.0, 0.5))], 1.0, sizes=size, states={"drawer": A.CLOSED}))
        graph.set_robot(SE2(1.0, 2.0), 1.0)
        if acted:
            candidates = make_candidates(graph, flat_maps(), (), 2.0)
            number = graph.begin_attempt(next(c for c in candidates if c.operation), 2.0).number
            graph.end_attempt(number, Acknowledgement.COMPLETED, 3.0)
        graph.observe(frame_of([("", "drawer", (1.65, 2.0, 0.5))], 4.0, sizes=size))
        assert len(graph.entities) == count


def test_equation_2() -> None:
    assert mediated_weight(3.0, E.OPEN) == 3.0
    assert mediated_weight(3.0, E.CLOSED) == mediated_weight(3.0, E.UNCERTAIN) == math.inf
    assert [exposes(s, v) for s in E for v in (True, False)] == [True, False, False, False, False, False]


def test_a_doors_state_weighs_the_rooms_it_joins() -> None:
    graph = flat()
    (door,) = (e for e in graph.edges() if e.kind is EdgeKind.CONNECTIVITY)
    assert (door.source, door.target, door.via, door.weight) == ("room_0", "room_1", "door_0", math.inf)
    assert graph.room_distances("room_0") == {"room_0": 0.0}
    graph.observe(frame_of([DOOR], 200.0, AT, {"door": A.OPEN}, SIZES))
    # From (2, 2) through (4.1, 2) to (6.2, 2).
    assert graph.room_distances("room_0")["room_1"] == pytest.approx(4.2)


def test_an_opening_in_the_map_beside_a_door_is_that_doors() -> None:
    graph = flat()
    graph.set_rooms(two_rooms(joined=True), 2.0)
    assert [p.channel for p in graph.passages] == ["door_0"]
    assert all(e.weight == math.inf for e in graph.edges() if e.kind is EdgeKind.CONNECTIVITY)


def test_rooms_keep_their_ids_when_the_map_grows_and_labels_change() -> None:
    graph = flat()
    before = {name: room.centroid for name, room in graph.rooms.items()}
    graph.set_rooms(two_rooms(shift=20, swap=True), 5.0)
    assert {name: room.centroid for name, room in graph.rooms.items()} == before
    assert graph.robot is not None and graph.robot.room == "room_0"
    assert graph.rooms["room_0"].visited_s == 1.0 and graph.rooms["room_1"].visited_s is None


def test_an_open_container_reveals_what_is_seen_in_it_and_only_while_it_is_seen() -> None:
    graph = flat(A.OPEN)
    graph.observe(frame_of([FRIDGE, EGG], 2.0, AT, {"fridge": A.OPEN}, SIZES))
    inside = [(e.kind, e.source) for e in graph.edges() if e.target == "egg_0"]
    assert (EdgeKind.CONTAINMENT, "fridge_0") in inside and (EdgeKind.VISIBILITY, "fridge_0") in inside
    graph.observe(frame_of([], 3.0, AT))
    inside = [(e.kind, e.source) for e in graph.edges() if e.target == "egg_0"]
    assert (EdgeKind.CONTAINMENT, "fridge_0") in inside
    assert not any(kind is EdgeKind.VISIBILITY for kind, _ in inside)


def test_nothing_is_in_a_closed_container_and_nothing_on_top_is_in_it() -> None:
    graph = flat(A.CLOSED)
    graph.observe(frame_of([FRIDGE, EGG], 2.0, AT, {"fridge": A.CLOSED}, SIZES))
    assert graph.entities["egg_0"].inside == ""
    graph = flat(A.OPEN)
    graph.observe(frame_of([FRIDGE, ("e1", "egg", (2.0, 3.6, 1.85))], 2.0, AT, {"fridge": A.OPEN}, SIZES))
    assert graph.entities["egg_0"].inside == ""


def test_candidates_say_effect_route_viewpoint_and_why() -> None:
    graph = flat()
    graph.observe(frame_of([EGG, DOOR], 2.0, AT, {"door": A.CLOSED}, SIZES))
    made = {c.id: c for c in make_candidates(graph, flat_maps(), (), 3.0, CandidateRequest(frozenset({"egg"})))}
    door, fridge = made["open:door_0"], made["open:fridge_0"]
    assert door.effect is ExpectedEffect.ENABLE_TRAVERSAL and fridge.effect is ExpectedEffect.REVEAL_CONTENTS
    assert door.is_eligible and door.leads_to == ("room_1",)
    assert door.viewpoint is not None and door.viewpoint.x < 4.0
    assert 0.8 <= math.hypot(door.viewpoint.x - 4.1, door.viewpoint.y - 2.0) <= 1.55
    assert abs(door.viewpoint.bearing_to(4.1, 2.0)) < 0.01
    assert door.route_cost_m == pytest.approx(math.hypot(door.viewpoint.x - 2.0, door.viewpoint.y - 2.0), rel=0.15)
    assert made["navigate:egg_0"].effect is ExpectedEffect.REACH_TARGET
    assert made["navigate:room_1"].eligibility is Eligibility.NO_ROUTE
    opened = make_candidates(graph, flat_maps(door_open=True), (), 3.0)
    assert next(c for c in opened if c.id == "navigate:room_1").is_eligible


@pytest.mark.parametrize(
    ("state", "now_s", "at", "expected"),
    [
        (A.OPEN, 2.0, AT, Eligibility.STATE_ALREADY),
        (A.CLOSED, 2.0, AT, Eligibility.ELIGIBLE),
        (A.CLOSED, 1000.0, AT, Eligibility.EVIDENCE_STALE),
        (A.UNKNOWN, 2.0, SE2(0.5, 2.0), Eligibility.STATE_UNRELIABLE),
        (A.UNKNOWN, 2.0, AT, Eligibility.ELIGIBLE),
    ],
)
def test_eligibility(state: ArticulationState, now_s: float, at: SE2, expected: Eligibility) -> None:
    graph = InteractionGraph()
    graph.observe(frame_of([DOOR], 1.0, at, {"door": state}, SIZES))
    graph.set_robot(AT, 1.0)
    made = {c.id: c for c in make_candidates(graph, flat_maps(), (), now_s)}
    assert made["open:door_0"].eligibility is expected
    again = expected in (Eligibility.EVIDENCE_STALE, Eligibility.STATE_UNRELIABLE)
    assert ("look:door_0" in made) == again


def test_failures_discourage_repetition_and_a_verified_effect_forgives() -> None:
    graph = flat()

    def judged(now_s: float) -> Eligibility:
        return next(c for c in make_candidates(graph, flat_maps(), (), now_s) if c.id == "open:door_0").eligibility

    def attempt(start_s: float, evidence: tuple[StateEvidence, ...] = ()) -> Verdict:
        candidate = next(c for c in make_candidates(graph, flat_maps(), (), start_s) if c.id == "open:door_0")
        number = graph.begin_attempt(candidate, start_s).number
        assert judged(start_s) is Eligibility.ATTEMPT_PENDING
        return graph.end_attempt(number, Acknowledgement.FAILED, start_s + 1.0, evidence).verdict

    assert attempt(10.0) is Verdict.NO_CHANGE
    assert judged(12.0) is Eligibility.TRIED_RECENTLY
    assert judged(72.0) is Eligibility.ELIGIBLE
    attempt(80.0)
    attempt(300.0)
    assert judged(590.0) is Eligibility.TRIED_TOO_OFTEN
    assert attempt(591.0, (StateEvidence(A.OPEN, 0.9, 592.0),)) is Verdict.VERIFIED
    assert graph.entities["door_0"].state.state is E.OPEN
    assert graph.failures("open:door_0", "door_0") == (0, None)


def test_a_pending_attempt_keeps_the_state_for_the_verifier() -> None:
    graph = flat()
    candidate = next(c for c in make_candidates(graph, flat_maps(), (), 2.0) if c.id == "open:fridge_0")
    number = graph.begin_attempt(candidate, 2.0).number
    graph.observe(frame_of([FRIDGE], 3.0, AT, {"fridge": A.OPEN}, SIZES))
    assert graph.entities["fridge_0"].state.state is E.CLOSED
    with pytest.raises(ValueError, match="pending"):
        graph.begin_attempt(candidate, 3.0)
    ended = graph.end_attempt(number, Acknowledgement.TIMED_OUT, 4.0, [StateEvidence(A.OPEN, 0.8, 3.0)])
    assert ended.verdict is Verdict.VERIFIED and ended.before.state is E.CLOSED
    with pytest.raises(ValueError, match="ended"):
        graph.end_attempt(number, Acknowledgement.COMPLETED, 5.0)


def test_a_restart_in_the_middle_of_an_attempt_goes_on_equally() -> None:
    graph = flat()
    candidate = next(c for c in make_candidates(graph, flat_maps(), (), 2.0) if c.operation is Operation.OPEN)
    number = graph.begin_attempt(candidate, 2.0).number
    restored = InteractionGraph.of_state(from_json(to_json(graph.state())))
    assert restored.state() == graph.state() and restored.edges() == graph.edges()
    for one in (graph, restored):
        one.observe(frame_of([("", "door", (4.1, 2.1, 1.0)), EGG, FRIDGE], 3.0, AT, {"fridge": A.OPEN}, SIZES))
        one.end_attempt(number, Acknowledgement.COMPLETED, 4.0, [StateEvidence(A.OPEN, 0.9, 4.0)])
        one.set_rooms(two_rooms(shift=4, joined=True), 5.0)
        one.set_robot(SE2(3.0, 2.0), 5.0)
    assert to_json(restored.state()) == to_json(graph.state())
    assert make_candidates(restored, flat_maps(), (), 6.0) == make_candidates(graph, flat_maps(), (), 6.0)


def test_a_broken_file_is_refused_by_field() -> None:
    text = to_json(flat().state())
    with pytest.raises(UsageError, match=r"kind = doorway"):
        from_json(text.replace('"kind": "channel"', '"kind": "doorway"'))
    with pytest.raises(UsageError, match="format = 9"):
        from_json(text.replace('"format": 1', '"format": 9'))


def test_the_robot_is_in_its_room() -> None:
    edges = flat().edges()
    assert any(e.kind is EdgeKind.CONTAINMENT and (e.source, e.target) == ("room_0", ROBOT) for e in edges)
