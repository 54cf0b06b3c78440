"""What candidates are worth: connectivity and observability gained, less what it costs (MultINav, section 4.2)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mnav_core.requests import Request
from mnav_core.sensing import ArticulationState
from mnav_graph.records import Acknowledgement
from mnav_perception.exploration.travel import travel_cost
from mnav_planner.agents.multinav.beyond import normal_of, unlocked_share
from mnav_planner.agents.multinav.builtin_choice import BuiltinChooser, GreedyChooser
from mnav_planner.agents.multinav.prospects import container_shares, prospects_of, softmax
from mnav_planner.agents.multinav.records import Choice, ChoiceCounts, Chooser, ReasonCode, Situation
from mnav_planner.agents.multinav.settings import MultiNavSettings
from mnav_planner.testing.toy_situation import AT, EGGS, NamedPrior, toy_frontier, toy_graph, toy_maps, toy_situation

SETTINGS = MultiNavSettings()


def chosen(chooser: Chooser, situation: Situation) -> Choice | None:
    """The choice of a chooser that asks nobody."""
    asking = chooser.choose(situation, ChoiceCounts())
    requests: list[Request] = []
    try:
        while True:
            requests.append(asking.send(None))
    except StopIteration as end:
        assert not requests
        choice = end.value
        assert choice is None or isinstance(choice, Choice)
        return choice


def test_a_door_is_worth_what_it_would_connect() -> None:
    door = toy_graph().entities["door_0"]
    for maps, least, most in ((toy_maps(), 0.9, 1.0), (toy_maps(behind_unknown=False), 0.0, 0.1)):
        share = unlocked_share(door, maps, travel_cost(maps.costmap, AT))
        assert least <= share <= most
    joined = toy_maps(behind_unknown=False, door_open=True)
    assert unlocked_share(door, joined, travel_cost(joined.costmap, AT)) == 0.0, "both sides can be reached already"
    assert normal_of(door) == pytest.approx((-1.0, 0.0)), "towards where it was seen from"


def test_the_nearest_large_frontier_comes_before_a_door_and_a_far_one_after() -> None:
    chooser = BuiltinChooser(NamedPrior({}), replace(SETTINGS, hidden_share=0.0))
    near = chosen(chooser, toy_situation(frontiers=(toy_frontier(2.0),)))
    far = chosen(chooser, toy_situation(frontiers=(toy_frontier(60.0),)))
    assert near is not None and near.ranked_ids[0] == "explore:geometric:9:9"
    assert near.reason is ReasonCode.EXPLORE_TARGET_ROOM
    assert far is not None and far.ranked_ids[0] == "open:door_0" and far.reason is ReasonCode.UNLOCK_ROUTE


def test_the_plausible_container_comes_first_and_at_most_three_are_ranked() -> None:
    maps = toy_maps(behind_unknown=False, door_open=True)
    choice = chosen(BuiltinChooser(EGGS, SETTINGS), toy_situation(maps=maps))
    assert choice is not None and choice.ranked_ids[0] == "open:fridge_0" and len(choice.ranked_ids) <= 3
    assert choice.reason is ReasonCode.REVEAL_TARGET_CONTAINER


def test_nothing_worth_doing_is_no_choice() -> None:
    maps = toy_maps(behind_unknown=False, door_open=True)
    everything_open = toy_situation(graph=toy_graph(ArticulationState.OPEN), maps=maps)
    assert chosen(BuiltinChooser(EGGS, SETTINGS), everything_open) is None


def test_alike_containers_share_what_their_class_holds() -> None:
    graph = toy_graph()
    shares = container_shares(graph, "egg", EGGS)
    classes = softmax([0.4, 0.0, 0.1, 0.0, 0.0, 0.0])
    assert shares["fridge_0"] == pytest.approx(classes[0], rel=0.01)
    assert shares["drawer_0"] == pytest.approx(classes[2], rel=0.01)
    assert sum(classes) == pytest.approx(1.0)


def test_what_failed_is_worth_half() -> None:
    graph = toy_graph()
    before = {p.candidate.id: p.gain for p in prospects_of(toy_situation(graph), EGGS, SETTINGS)}
    fridge = next(c for c in toy_situation(graph).candidates if c.id == "open:fridge_0")
    number = graph.begin_attempt(fridge, 2.0).number
    graph.end_attempt(number, Acknowledgement.STALLED, 3.0)
    assert not any(c.id == "open:fridge_0" for c in toy_situation(graph, now_s=4.0).candidates), "not at once again"
    later = {p.candidate.id: p.gain for p in prospects_of(toy_situation(graph, now_s=100.0), EGGS, SETTINGS)}
    assert later["open:fridge_0"] == pytest.approx(before["open:fridge_0"] / 2.0)


def test_greedy_takes_the_nearest_whatever_it_changes() -> None:
    situation = toy_situation(maps=toy_maps(behind_unknown=False, door_open=True))
    nearest = min(situation.candidates, key=lambda c: (c.route_cost_m, c.id))
    choice = chosen(GreedyChooser(SETTINGS), situation)
    assert choice is not None and choice.ranked_ids[0] == nearest.id


def test_without_relations_a_door_between_known_rooms_is_still_worth_opening() -> None:
    maps = toy_maps(behind_unknown=False, door_open=True)
    situation = toy_situation(maps=maps)
    gains = {
        relations: {p.candidate.id: p.gain for p in prospects_of(situation, EGGS, SETTINGS, relations)}
        for relations in (True, False)
    }
    assert gains[True]["open:door_0"] == 0.0 and gains[False]["open:door_0"] > 0.05
