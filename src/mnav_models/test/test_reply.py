"""Bodies and streams as servers really write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mnav_core.chat import ChatRequest, Fallback, FinishReason, ModelFault, ToolUse, TurnOutcome, user_message
from mnav_models.judgement import judge
from mnav_models.reply import MalformedReply, Reply, read_body, read_events
from mnav_models.testing.behaviours import completion
from mnav_models.testing.scripted_tools import LOOK, TURN, TurnArguments, turn_request
from mnav_models.tool_validation import RawCall

OPTIONAL = ChatRequest((user_message("Go."),), (TURN, LOOK), ToolUse.AUTO)


def streamed(*deltas: dict[str, Any], finish: str | None = "tool_calls") -> Reply:
    events = [{"choices": [{"delta": delta}]} for delta in deltas]
    events.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    return read_events([b": comment\n", *(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)])


def piece(call_id: str | None, name: str | None, arguments: Any, index: int | None = 0) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize("index", [0, None], ids=["all_numbered_zero", "no_numbers"])
def test_new_id_starts_a_new_call_whatever_the_number(index: int | None) -> None:
    reply = streamed(
        piece("a", "turn", '{"angle_', index),
        piece(None, None, 'deg": 1}', index),
        piece("b", "look", "{}", index),
    )
    assert reply.calls == (RawCall("a", "turn", '{"angle_deg": 1}'), RawCall("b", "look", "{}"))


def test_numbered_calls_may_interleave() -> None:
    reply = streamed(
        piece("a", "turn", '{"angle_deg"', 0),
        piece("b", "look", "{", 1),
        piece(None, None, ": 2}", 0),
        piece(None, None, "}", 1),
    )
    assert [call.arguments for call in reply.calls] == ['{"angle_deg": 2}', "{}"]


def test_name_repeated_in_every_piece_is_one_name_and_a_split_one_too() -> None:
    assert streamed(piece("a", "turn", "{", 0), piece("a", "turn", "}", 0)).calls == (RawCall("a", "turn", "{}"),)
    assert streamed(piece("a", "tu", "", 0), piece(None, "rn", "{}", 0)).calls == (RawCall("a", "turn", "{}"),)


def test_arguments_may_come_as_an_object() -> None:
    body = completion()
    body["choices"][0]["message"]["tool_calls"] = piece("a", "turn", {"angle_deg": 5})["tool_calls"]
    assert read_body(json.dumps(body).encode()).calls == (RawCall("a", "turn", '{"angle_deg": 5}'),)


def test_content_may_come_in_parts() -> None:
    body = completion()
    body["choices"][0]["message"]["content"] = [{"type": "text", "text": "Go "}, {"type": "other"}, {"text": "on"}]
    assert read_body(json.dumps(body).encode()).text == "Go on"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("eos", FinishReason.STOP),
        ("", FinishReason.MISSING),
        ("odd", FinishReason.UNKNOWN),
    ],
)
def test_finish_reasons(raw: str, reason: FinishReason) -> None:
    body = completion("x")
    body["choices"][0]["finish_reason"] = raw
    reply = read_body(json.dumps(body).encode())
    assert reply.finish_reason is reason
    judged = judge(reply, ChatRequest((user_message("?"),)), tools_as_text=False)
    assert judged.outcome is TurnOutcome.TEXT
    assert (ModelFault.UNKNOWN_FINISH_REASON in judged.faults) == (reason is FinishReason.UNKNOWN)


def test_only_the_last_call_of_a_cut_output_counts_as_cut() -> None:
    reply = streamed(piece("a", "turn", "{}", 0), piece("b", "turn", "{", 1), finish="length")
    assert [call.complete for call in reply.calls] == [True, False]


def test_cut_text_is_text_that_says_so() -> None:
    judged = judge(
        Reply("It is in the", (), FinishReason.LENGTH, complete=False), ChatRequest((user_message("?"),)), False
    )
    assert judged.outcome is TurnOutcome.TEXT and judged.faults == (ModelFault.CUT_OUTPUT,)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"\xff", b"[" * 200_000, b"NaN"]
)
def test_other_bodies_are_malformed(body: bytes) -> None:
    with pytest.raises(MalformedReply):
        read_body(body)


def test_calls_without_end_are_malformed() -> None:
    with pytest.raises(MalformedReply, match="more than 32"):
        streamed(*(piece(f"c{number}", "turn", "{}", number) for number in range(40)))


def said(text: str, request: ChatRequest, tools_as_text: bool = False) -> Any:
    return judge(Reply(text, (), FinishReason.STOP), request, tools_as_text)


def test_call_written_as_text_is_read_and_counted() -> None:
    judged = said('I turn. {"tool": "turn", "arguments": {"angle_deg": 5}}', turn_request())
    assert judged.outcome is TurnOutcome.TOOL_CALLS and judged.fallbacks == (Fallback.CALL_READ_FROM_TEXT,)
    assert judged.tool_calls[0].arguments == TurnArguments(angle_deg=5.0)


def test_json_that_names_no_tool_is_what_the_model_says() -> None:
    judged = said('The label reads {"name": "Ada", "arguments": {}}.', OPTIONAL)
    assert judged.outcome is TurnOutcome.TEXT and judged.faults == ()


def test_unknown_tool_in_text_is_told_where_text_is_for_calls() -> None:
    judged = said('{"tool": "fly", "arguments": {}}', turn_request(), tools_as_text=True)
    assert judged.outcome is TurnOutcome.INVALID_OUTPUT and judged.faults == (ModelFault.UNKNOWN_TOOL,)


def test_prose_is_an_answer_where_tools_are_optional() -> None:
    assert said("It is behind you.", OPTIONAL).outcome is TurnOutcome.TEXT


def test_calls_that_nobody_offered_are_told() -> None:
    judged = judge(
        Reply("", (RawCall("a", "turn", "{}"),), FinishReason.TOOL_CALLS), ChatRequest((user_message("?"),)), False
    )
    assert judged.outcome is TurnOutcome.INVALID_OUTPUT and judged.faults == (ModelFault.UNKNOWN_TOOL,)
