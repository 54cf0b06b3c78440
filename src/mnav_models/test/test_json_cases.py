"""Every case of JSONTestSuite as tool arguments: a valid call, one repair, or a refusal.

Nothing raises, nothing leaves its bounds.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from mnav_core.chat import ChatTurn, Fallback, ToolArguments, ToolCall, TurnOutcome
from mnav_models import strict_json
from mnav_models.endpoint import parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.testing.behaviours import Behaviour, call_deltas, calls, events
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.scripted_tools import LookArguments, Side, TurnArguments, turn_request
from mnav_models.tool_validation import parse_arguments

DATA = Path(__file__).parent / "data"
CASES = [case for name in ("parsing.json", "transform.json") for case in json.loads((DATA / name).read_text("utf-8"))]
# JSON, and yet refused: a value given twice is not one value, and a number beyond a double or half a character is none.
REFUSED_THOUGH_VALID = {
    "y_object_duplicated_key.json",
    "y_object_duplicated_key_and_value.json",
}
CALL_S = 0.5


def argument_texts(case: str, draw: random.Random) -> list[str]:
    """The case itself, the case as the value of a field, and both cut somewhere."""
    texts = [case]
    texts += [f'{{"angle_deg": {case}}}', f'{{"side": "left", "flags": {case}, "steps": 2}}', f'{{"point": {case}}}']
    return [*texts, *(text[: draw.randrange(len(text))] for text in texts if text)]


def assert_in_bounds(arguments: ToolArguments) -> None:
    """By hand, not by the validator that made them."""
    if isinstance(arguments, TurnArguments):
        assert type(arguments.angle_deg) is float and -180.0 <= arguments.angle_deg <= 180.0
        return
    assert isinstance(arguments, LookArguments)
    assert isinstance(arguments.side, Side)
    assert type(arguments.steps) is int and 1 <= arguments.steps <= 10
    assert type(arguments.note) is str and len(arguments.note) <= 20
    assert len(arguments.flags) <= 3 and all(type(flag) is bool for flag in arguments.flags)
    if arguments.point is not None:
        assert len(arguments.point) == 2
        assert all(type(value) is float and abs(value) < float("inf") for value in arguments.point)
    arguments.note.encode("utf-8")


def assert_well_ended(turn: ChatTurn) -> None:
    assert turn.outcome in (TurnOutcome.TOOL_CALLS, TurnOutcome.INVALID_OUTPUT), turn.reason
    assert bool(turn.tool_calls) == (turn.outcome is TurnOutcome.TOOL_CALLS)
    assert turn.fallbacks.count(Fallback.REASKED) <= 1
    for call in turn.tool_calls:
        assert_in_bounds(call.arguments)


@pytest.mark.parametrize("kind", sorted({case["name"][0] for case in CASES}))
def test_cases_as_arguments(kind: str) -> None:
    for case in CASES:
        if case["name"][0] == kind:
            check_as_arguments(case)


def check_as_arguments(case: dict[str, str]) -> None:
    draw = random.Random(case["name"])
    for text in argument_texts(case["input"], draw):
        for schema in (TurnArguments, LookArguments):
            for complete in (True, False):
                start = time.monotonic()
                parsed = parse_arguments(text, schema, complete)
                assert time.monotonic() - start < CALL_S, case["name"]
                if parsed.arguments is None:
                    assert parsed.fault is not None and parsed.problem, case["name"]
                else:
                    assert_in_bounds(parsed.arguments)
                    assert complete or not parsed.repaired


def accepted(text: str) -> bool:
    try:
        strict_json.loads(text)
    except strict_json.JsonError:
        return False
    return True


def test_strict_reader_agrees_with_the_suite() -> None:
    refused = {case["name"] for case in CASES if case["name"][0] == "y" and not accepted(case["input"])}
    assert refused == REFUSED_THOUGH_VALID
    # The suite's files are bytes: where decoding put a replacement character, the text tests something else.
    invalid = [case for case in CASES if case["name"].startswith("n_") and "\ufffd" not in case["input"]]
    assert len(invalid) > 170
    assert [case["name"] for case in invalid if accepted(case["input"])] == []


def scripted(text: str, draw: random.Random, streamed: bool) -> Behaviour:
    """A call with these arguments, streamed in pieces of any size over transport chunks of any size."""
    if not streamed:
        return calls(("call_1", "look", text))
    pieces = []
    rest = text
    while rest:
        size = draw.randrange(1, 12)
        pieces.append(rest[:size])
        rest = rest[size:]
    return events(call_deltas("call_1", "look", pieces), cut_every=draw.randrange(50, 400))


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "in_pieces"])
def test_all_cases_over_http(streamed: bool) -> None:
    draw = random.Random(streamed)
    texts = [text for case in CASES for text in draw.sample(argument_texts(case["input"], draw), 1)]
    texts = [text for text in texts if len(text) < 20_000]
    assert len(texts) > 300
    outcomes = []
    with FaultServer([b for t in texts for b in [scripted(t, draw, streamed)] * 2], keep_bodies=False) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"), stream=streamed)
        served = 0
        for text in texts:
            # A call that was good at once leaves the second copy for nobody.
            server.skip_to(served)
            turn = model.ask(turn_request(), 5.0)
            assert_well_ended(turn)
            expected = parse_arguments(text, LookArguments)
            if expected.arguments is not None:
                assert turn.tool_calls == (ToolCall("call_1", "look", expected.arguments),)
                assert (Fallback.REPAIRED_JSON in turn.fallbacks) == expected.repaired
            outcomes.append(turn.outcome)
            served += 2
        model.close()
    assert len(set(outcomes)) == 2
