"""The chat model as chooser (MultINav, G.3) over real HTTP: ids of the current candidates, or the builtin chooser."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("openai")

from mnav_core.requests import AskModel, Request
from mnav_models.endpoint import Capabilities, Patience, parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.testing.behaviours import Behaviour, failure, says
from mnav_models.testing.fault_server import FaultServer
from mnav_planner.agents.multinav.builtin_choice import BuiltinChooser
from mnav_planner.agents.multinav.model_choice import ModelChooser
from mnav_planner.agents.multinav.moma import MomaChooser, options_of
from mnav_planner.agents.multinav.records import (
    Choice,
    ChoiceCounts,
    Chooser,
    Confidence,
    Origin,
    PastAction,
    ReasonCode,
)
from mnav_planner.agents.multinav.settings import MultiNavSettings
from mnav_planner.testing.toy_situation import EGGS, toy_frontier, toy_situation

QUICK = Patience(attempt_s=2.0, connect_s=1.0, attempts=1, backoff_s=0.01, backoff_max_s=0.02, breaker_cooldown_s=0.05)
SITUATION = toy_situation(
    frontiers=(toy_frontier(),), history=(PastAction(1.0, "explore:geometric:1:1", "not reached"),)
)
BUILTIN = BuiltinChooser(EGGS, MultiNavSettings())


def written(ids: list[str], reason: str = "UNLOCK_ROUTE: a closed door", confidence: str = "high") -> str:
    return json.dumps({"ranked_ids": ids, "reason": reason, "confidence": confidence})


def ask(chooser: Chooser, script: list[Behaviour]) -> tuple[Choice | None, ChoiceCounts, FaultServer]:
    """The choice with a server that answers by a script."""
    counts = ChoiceCounts()
    with FaultServer(script, keep_bodies=True) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"), Capabilities(), QUICK)
        asking = chooser.choose(SITUATION, counts)
        try:
            request: Request = asking.send(None)
            for _ in range(4):
                assert isinstance(request, AskModel)
                request = asking.send(model.ask(request.request, 5.0))
        except StopIteration as end:
            return end.value, counts, server
        finally:
            model.close()
    raise AssertionError("the chooser asks without end")


def test_a_ranking_of_current_ids_is_followed() -> None:
    choice, counts, server = ask(ModelChooser(BUILTIN), [says(written(["open:door_0", "explore:geometric:9:9"]))])
    assert choice is not None and choice.ranked_ids == ("open:door_0", "explore:geometric:9:9")
    assert (choice.origin, choice.confidence) == (Origin.MODEL, Confidence.HIGH)
    assert choice.reason is ReasonCode.UNLOCK_ROUTE
    assert (counts.model_calls, counts.fallbacks) == (1, 0)
    asked = json.dumps(server.seen[0].body)
    for told in ("open:fridge_0", "reveal_contents", "enable_traversal", "not reached", "closed", "egg"):
        assert told in asked


@pytest.mark.parametrize(
    "first",
    [
        written(["open:vault_7"]),
        written([]),
        written(["open:door_0"] * 4),
        written(["open:door_0"], confidence="certain"),
        '{"ranked_ids": "open:door_0"}',
        "I would open the door.",
    ],
)
def test_what_breaks_the_schema_is_asked_once_more(first: str) -> None:
    choice, counts, server = ask(ModelChooser(BUILTIN), [says(first), says(written(["open:door_0"]))])
    assert choice is not None and choice.origin is Origin.MODEL and choice.ranked_ids == ("open:door_0",)
    assert counts.fallbacks == 0 and len(server.seen) == 2


def test_json_with_a_slip_is_repaired() -> None:
    slip = "```json\n" + written(["open:door_0"])[:-1] + ",}\n```"
    choice, _, server = ask(ModelChooser(BUILTIN), [says(slip)])
    assert choice is not None and choice.origin is Origin.MODEL and len(server.seen) == 1


@pytest.mark.parametrize("answer", [says(written(["open:vault_7"])), failure(500), says("no")])
def test_after_one_more_question_the_builtin_chooser_decides_and_is_counted(answer: Behaviour) -> None:
    choice, counts, _ = ask(ModelChooser(BUILTIN), [answer] * 4)
    own, _, _ = ask(ModelChooser(BUILTIN), [says(written(["open:door_0"]))])
    assert choice is not None and choice.origin is Origin.FALLBACK
    assert choice.ranked_ids[0] == "open:fridge_0" and own is not None, "where eggs most likely are, and near"
    assert (counts.model_calls, counts.fallbacks) == (1, 1)


def test_a_reason_in_free_words_gets_the_code_of_what_was_chosen() -> None:
    choice, _, _ = ask(ModelChooser(BUILTIN), [says(written(["open:fridge_0"], "eggs are kept cold", "low"))])
    assert choice is not None and choice.reason is ReasonCode.REVEAL_TARGET_CONTAINER


def moma(action: str, room: str = "", thing: str = "") -> Behaviour:
    return says(json.dumps({"action": action, "room_name": room, "object_name": thing}))


def test_moma_actions_become_candidates() -> None:
    rooms = {o.verb.value: o.room for o in options_of(SITUATION)}
    assert set(rooms) == {"go_to_and_open", "explore"}
    chooser = MomaChooser(EGGS, asks=True)
    opened, _, _ = ask(chooser, [moma("go_to_and_open", rooms["go_to_and_open"], "fridge")])
    explored, _, _ = ask(chooser, [moma("explore", rooms["explore"])])
    done, _, _ = ask(chooser, [moma("done")])
    assert opened is not None and opened.ranked_ids == ("open:fridge_0",)
    assert explored is not None and explored.ranked_ids == ("explore:geometric:9:9",)
    assert done is None


def test_moma_names_that_do_not_exist_fall_back() -> None:
    choice, counts, _ = ask(MomaChooser(EGGS, asks=True), [moma("go_to_and_open", "attic", "safe")])
    assert choice is not None and choice.origin is Origin.FALLBACK and counts.fallbacks == 1
