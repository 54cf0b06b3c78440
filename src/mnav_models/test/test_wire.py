"""Requests as they leave, and text that stands in for tool calls."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from mnav_core.chat import (
    ChatMessage,
    ChatRequest,
    Fallback,
    ImagePart,
    Role,
    TextPart,
    ToolCall,
    ToolUse,
    system_message,
    tool_message,
    user_message,
)
from mnav_core.errors import UsageError
from mnav_models.endpoint import Capabilities, TokenLimitField
from mnav_models.structured_text import calls_in_text
from mnav_models.testing.scripted_tools import LOOK, TURN, TurnArguments
from mnav_models.wire import encode_request

CALLS = (ToolCall("a", "turn", TurnArguments(angle_deg=1.0)), ToolCall("b", "turn", TurnArguments(angle_deg=2.0)))
PICTURE = ImagePart(b"\xff\xd8jpeg", "front/1", "front view", 4, 3)
HISTORY = (
    system_message("Drive."),
    user_message("Goals", PICTURE),
    ChatMessage(Role.ASSISTANT, (TextPart("Turning."),), CALLS),
    tool_message(CALLS[0], "done", PICTURE),
    tool_message(CALLS[1], "done too"),
    user_message("Go on."),
)


def encoded(can: Capabilities, **request: Any) -> dict[str, Any]:
    return encode_request(ChatRequest(HISTORY, (TURN, LOOK), **request), "m", can).parameters


def test_images_of_tool_messages_follow_all_answers() -> None:
    messages = encoded(Capabilities())["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [message.get("tool_call_id") for message in messages[3:5]] == ["a", "b"]
    last = messages[5]["content"]
    assert last[0] == {"type": "text", "text": "front view"}
    assert last[1]["image_url"]["url"] == "data:image/jpeg;base64," + base64.b64encode(PICTURE.jpeg).decode()
    assert last[2] == {"type": "text", "text": "Go on."}
    assert json.loads(messages[2]["tool_calls"][1]["function"]["arguments"]) == {"angle_deg": 2.0}


def test_roles_alternate_for_templates_that_insist() -> None:
    request = ChatRequest((user_message("one"), user_message("two"), user_message(PICTURE)))
    messages = encode_request(request, "m", Capabilities()).parameters["messages"]
    assert len(messages) == 1 and [part["type"] for part in messages[0]["content"]] == ["text", "text", "image_url"]


def test_tools_as_text() -> None:
    result = encode_request(ChatRequest(HISTORY, (TURN, LOOK), ToolUse.REQUIRED), "m", Capabilities(tools=False))
    messages = result.parameters["messages"]
    assert result.fallbacks == (Fallback.TOOLS_SENT_AS_TEXT,)
    assert "tools" not in result.parameters and "tool_calls" not in json.dumps(messages)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "You must call a tool" in messages[0]["content"] and '"maximum": 180.0' in messages[0]["content"]
    assert '{"tool": "turn", "arguments": {"angle_deg": 2.0}}' in messages[2]["content"]
    assert messages[3]["content"][0]["text"] == "Result of turn:"


def test_blind_models_are_told() -> None:
    result = encode_request(ChatRequest(HISTORY), "m", Capabilities(images=False))
    assert result.fallbacks == (Fallback.IMAGES_WITHHELD,)
    assert "image_url" not in json.dumps(result.parameters)
    assert "[image front view not shown" in result.parameters["messages"][1]["content"]


def test_parameters_follow_capabilities() -> None:
    full = encoded(Capabilities(), tool_use=ToolUse.REQUIRED, seed=7)
    assert (full["max_tokens"], full["temperature"], full["seed"], full["tool_choice"]) == (1024, 0.0, 7, "required")
    can = Capabilities(
        sampling=False, required_tool_choice=False, token_limit_field=TokenLimitField.MAX_COMPLETION_TOKENS
    )
    bare = encoded(can, tool_use=ToolUse.REQUIRED, seed=7)
    assert bare["max_completion_tokens"] == 1024 and bare["tool_choice"] == "auto"
    assert not {"max_tokens", "temperature", "seed"} & set(bare)


def test_answers_ask_for_a_schema_or_say_it() -> None:
    request = ChatRequest((user_message("?"),), answer=TurnArguments)
    schema = encode_request(request, "m", Capabilities()).parameters["response_format"]["json_schema"]
    assert schema["schema"]["properties"]["angle_deg"]["minimum"] == -180.0
    told = encode_request(request, "m", Capabilities(json_schema=False)).parameters
    assert "response_format" not in told and "JSON schema" in told["messages"][0]["content"]


@pytest.mark.parametrize("tools", [True, False])
def test_size_is_known_before_sending(tools: bool) -> None:
    image = ImagePart(b"x" * 50_000, "i", "i", 4, 3)
    result = encode_request(ChatRequest((*HISTORY, user_message(image)), (TURN,)), "m", Capabilities(tools=tools))
    assert result.approximate_bytes == pytest.approx(len(json.dumps(result.parameters)), rel=0.05)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"tool": "turn", "arguments": {"angle_deg": 1}}', ["turn"]),
        ('```json\n{"name": "turn", "parameters": {"angle_deg": 1}}\n```', ["turn"]),
        ('I will.\n{"tool": "turn", "arguments": {}}\n{"tool": "look"}', ["turn", "look"]),
        ('<tool_call>{"name": "turn", "arguments": "{}"}</tool_call>', ["turn"]),
        ('<tool_call>{"name": "turn", "arguments": {}}', ["turn"]),
        ("{'tool': 'turn', 'arguments': {}}", ["turn"]),
        ('{"tool": "turn", "arguments": {"note": "}{"}}', ["turn"]),
        ('{"colour": "red"}', []),
        ("turn left {please}", []),
        ("{" * 5_000, []),
    ],
)
def test_calls_in_text(text: str, names: list[str]) -> None:
    assert [call.name for call in calls_in_text(text)] == names


def test_cut_call_in_text_is_none() -> None:
    assert calls_in_text('{"tool": "turn", "arguments": {"angle_deg": 1}', complete=False) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": ()},
        {"messages": HISTORY, "tools": (TURN, TURN)},
        {"messages": HISTORY, "tools": (TURN,), "answer": TurnArguments},
        {"messages": HISTORY, "tool_use": ToolUse.REQUIRED},
        {"messages": HISTORY, "max_calls": 0},
        {"messages": HISTORY, "max_output_tokens": 0},
    ],
)
def test_requests_that_nobody_can_serve(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="chat request"):
        ChatRequest(**wrong)
