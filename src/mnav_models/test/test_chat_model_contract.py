"""What every chat model keeps to, whether it asks an endpoint, records one, or replays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mnav_core.chat import ChatModel, ChatRequest, ToolArguments, TurnOutcome, user_message
from mnav_core.errors import UsageError
from mnav_models.endpoint import Capabilities, parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.replay import open_replay, record
from mnav_models.testing.behaviours import calls, failure, says
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.scripted_tools import LookArguments, Side, TurnArguments, turn_request


class Verdict(ToolArguments):
    """Yes or no."""

    lit: bool


TEXT_REQUEST = ChatRequest((user_message("Where is the kitchen?"),))
ANSWER_REQUEST = ChatRequest((user_message("Is the light on?"),), answer=Verdict)
SCRIPT = (
    (TEXT_REQUEST, says("Ahead.")),
    (turn_request(), calls(("call_1", "turn", '{"angle_deg": -90}'))),
    (
        turn_request(max_calls=2),
        calls(
            ("a", "turn", '{"angle_deg": 1.5}'), ("b", "look", '{"side": "right", "steps": 3, "point": [0.5, 0.25]}')
        ),
    ),
    (ANSWER_REQUEST, says('{"lit": true}')),
    (TEXT_REQUEST, failure(401)),
)
Opener = Callable[[], ChatModel]


@pytest.fixture(params=["endpoint", "stream_setting", "text_tools", "recording", "replay"])
def open_scripted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens a model that answers SCRIPT in order."""
    with ExitStack() as stack:

        def opened() -> ChatModel:
            behaviours = [behaviour for _, behaviour in SCRIPT]
            if request.param == "text_tools":
                behaviours[1] = says('Turning. {"tool": "turn", "arguments": {"angle_deg": -90}}')
                behaviours[2] = says(
                    '<tool_call>{"name": "turn", "arguments": {"angle_deg": 1.5}}</tool_call>\n<tool_call>'
                    '{"name": "look", "arguments": {"side": "right", "steps": 3, "point": [0.5, 0.25]}}</tool_call>'
                )
            server = stack.enter_context(FaultServer(behaviours))
            can = Capabilities(tools=request.param != "text_tools", json_schema=request.param != "text_tools")
            endpoint = parse_endpoint(f"{server.url}#scripted")
            model = open_endpoint(endpoint, can, stream=request.param == "stream_setting")
            stack.callback(model.close)
            if request.param not in ("recording", "replay"):
                return model
            recording = record(model, tmp_path / "turns.jsonl")
            if request.param == "recording":
                stack.callback(recording.close)
                return recording
            for asked, _ in SCRIPT:
                recording.ask(asked, 5.0)
            recording.close()
            return open_replay(tmp_path / "turns.jsonl")

        yield opened


def test_turns_come_back_validated(open_scripted: Opener) -> None:
    model = open_scripted()
    text, one, two, answer, refused = (model.ask(request, 5.0) for request, _ in SCRIPT)
    assert (text.outcome, text.text) == (TurnOutcome.TEXT, "Ahead.")
    assert one.outcome is TurnOutcome.TOOL_CALLS
    assert [(call.name, call.arguments) for call in one.tool_calls] == [("turn", TurnArguments(angle_deg=-90.0))]
    assert [call.arguments for call in two.tool_calls] == [
        TurnArguments(angle_deg=1.5),
        LookArguments(side=Side.RIGHT, steps=3, point=(0.5, 0.25)),
    ]
    assert len({call.call_id for call in two.tool_calls}) == 2
    assert (answer.outcome, answer.answer) == (TurnOutcome.ANSWER, Verdict(lit=True))
    assert refused.outcome is TurnOutcome.UNAUTHORIZED and refused.reason
    assert text.usage.prompt_tokens == 10 and text.usage.completion_tokens == 5


def test_turns_are_counted(open_scripted: Opener) -> None:
    model = open_scripted()
    for request, _ in SCRIPT:
        model.ask(request, 5.0)
    assert model.tally().outcomes == {
        TurnOutcome.TEXT: 1,
        TurnOutcome.TOOL_CALLS: 2,
        TurnOutcome.ANSWER: 1,
        TurnOutcome.UNAUTHORIZED: 1,
    }


def test_cancelled_before_it_starts(open_scripted: Opener) -> None:
    model = open_scripted()
    cancel = threading.Event()
    cancel.set()
    assert model.ask(TEXT_REQUEST, 5.0, cancel).outcome is TurnOutcome.CANCELLED
    assert model.ask(TEXT_REQUEST, 5.0).text == "Ahead."


@pytest.mark.parametrize("deadline_s", [0.0, -1.0, float("nan")])
def test_deadline_must_be_positive(open_scripted: Opener, deadline_s: float) -> None:
    with pytest.raises(UsageError, match=r"deadline.*> 0"):
        open_scripted().ask(TEXT_REQUEST, deadline_s)


def test_closed_for_good(open_scripted: Opener) -> None:
    model = open_scripted()
    model.close()
    model.close()
    with pytest.raises(UsageError, match="closed"):
        model.ask(TEXT_REQUEST, 5.0)


def test_name_says_which_model(open_scripted: Opener) -> None:
    assert "#scripted" in open_scripted().name
