"""A request in the words of the OpenAI chat-completions protocol."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mnav_core.chat import ChatMessage, ChatRequest, Fallback, ImagePart, Role, TextPart, ToolCall, ToolUse, json_schema
from mnav_models.endpoint import Capabilities
from mnav_models.structured_text import answer_instructions, tool_instructions

WITHHELD = "[image {label} not shown: this model reads no images]"
EMPTY = "(no text)"


@dataclass(frozen=True)
class EncodedRequest:
    """Keyword arguments for the client, about how many bytes they make, and what had to give way."""

    parameters: dict[str, Any]
    approximate_bytes: int
    fallbacks: tuple[Fallback, ...]


def encode_request(request: ChatRequest, model: str, can: Capabilities) -> EncodedRequest:
    """Encode for an endpoint that can do `can`; images of tool messages move into a user message after them."""
    fallbacks: list[Fallback] = []
    messages = _with_instructions(request, can)
    if not can.images and any(message.images for message in messages):
        messages = [_without_images(message) for message in messages]
        fallbacks.append(Fallback.IMAGES_WITHHELD)
    as_text = bool(request.tools) and not can.tools
    if as_text:
        fallbacks.append(Fallback.TOOLS_SENT_AS_TEXT)
    encoded = _encode_messages(messages, tools_as_text=not can.tools)
    parameters: dict[str, Any] = {
        "model": model,
        "messages": encoded,
        can.token_limit_field.value: request.max_output_tokens,
    }
    if can.sampling and request.temperature is not None:
        parameters["temperature"] = request.temperature
    if can.sampling and request.seed is not None:
        parameters["seed"] = request.seed
    if request.tools and can.tools:
        parameters["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
        required = request.tool_use is ToolUse.REQUIRED and can.required_tool_choice
        parameters["tool_choice"] = "required" if required else "auto"
    if request.answer is not None and can.json_schema:
        schema = {"name": request.answer.__name__, "schema": json_schema(request.answer), "strict": True}
        parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
    return EncodedRequest(parameters, _approximate_bytes(messages, parameters), tuple(fallbacks))


def _with_instructions(request: ChatRequest, can: Capabilities) -> list[ChatMessage]:
    extra = ""
    if request.tools and not can.tools:
        extra = tool_instructions(request.tools, request.tool_use, request.max_calls)
    elif request.answer is not None and not can.json_schema:
        extra = answer_instructions(request.answer)
    messages = list(request.messages)
    if not extra:
        return messages
    if messages[0].role is Role.SYSTEM:
        messages[0] = ChatMessage(Role.SYSTEM, (*messages[0].parts, TextPart(extra)))
        return messages
    return [ChatMessage(Role.SYSTEM, (TextPart(extra),)), *messages]


def _without_images(message: ChatMessage) -> ChatMessage:
    parts = tuple(
        TextPart(WITHHELD.format(label=part.label)) if isinstance(part, ImagePart) else part for part in message.parts
    )
    return ChatMessage(message.role, parts, message.tool_calls, message.call_id, message.tool_name)


def _encode_messages(messages: Sequence[ChatMessage], tools_as_text: bool) -> list[dict[str, Any]]:
    encoded: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for message in messages:
        if message.role is Role.TOOL and not tools_as_text:
            encoded.append({"role": "tool", "tool_call_id": message.call_id, "content": message.text or EMPTY})
            # Few endpoints take images in a tool message, and nothing may stand between the answers of parallel calls.
            waiting.extend(_image_parts(message))
            continue
        if waiting:
            encoded.append({"role": "user", "content": waiting})
            waiting = []
        encoded.append(_encode_as_text(message) if tools_as_text else _encode(message))
    if waiting:
        encoded.append({"role": "user", "content": waiting})
    return _merged(encoded)


def _merged(encoded: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbouring user messages as one: several chat templates insist on alternating roles."""
    merged: list[dict[str, Any]] = []
    for message in encoded:
        if merged and message["role"] == merged[-1]["role"] == "user":
            one, other = merged[-1]["content"], message["content"]
            if isinstance(one, str) and isinstance(other, str):
                merged[-1] = {"role": "user", "content": f"{one}\n{other}"}
            else:
                merged[-1] = {"role": "user", "content": [*_listed(one), *_listed(other)]}
        else:
            merged.append(message)
    return merged


def _listed(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _encode(message: ChatMessage) -> dict[str, Any]:
    if message.role is Role.ASSISTANT:
        encoded: dict[str, Any] = {"role": "assistant", "content": message.text}
        if message.tool_calls:
            encoded["tool_calls"] = [_encode_call(call) for call in message.tool_calls]
        return encoded
    return {"role": message.role.value, "content": _content(message)}


def _encode_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments.model_dump_json()}
    return {"id": call.call_id, "type": "function", "function": function}


def _encode_as_text(message: ChatMessage) -> dict[str, Any]:
    if message.role is Role.ASSISTANT:
        calls = [
            json.dumps({"tool": c.name, "arguments": c.arguments.model_dump(mode="json")}) for c in message.tool_calls
        ]
        return {"role": "assistant", "content": "\n".join([message.text, *calls] if message.text else calls) or EMPTY}
    if message.role is Role.TOOL:
        message = ChatMessage(Role.USER, (TextPart(f"Result of {message.tool_name}:"), *message.parts))
    return {"role": message.role.value, "content": _content(message)}


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text or EMPTY
    content: list[dict[str, Any]] = []
    for part in message.parts:
        content.extend([{"type": "text", "text": part.text}] if isinstance(part, TextPart) else _image(part))
    return content


def _image_parts(message: ChatMessage) -> list[dict[str, Any]]:
    return [item for part in message.images for item in _image(part)]


def _image(part: ImagePart) -> list[dict[str, Any]]:
    url = "data:image/jpeg;base64," + base64.b64encode(part.jpeg).decode("ascii")
    return [{"type": "text", "text": part.label}, {"type": "image_url", "image_url": {"url": url}}]


def _approximate_bytes(messages: Sequence[ChatMessage], parameters: dict[str, Any]) -> int:
    """Within a few per cent of the body's size, without serialising the images again."""
    images = sum(4 * ((len(part.jpeg) + 2) // 3) + 160 for message in messages for part in message.images)
    texts = sum(len(part.text) + 80 for message in messages for part in message.parts if isinstance(part, TextPart))
    schemas = len(json.dumps([parameters.get("tools"), parameters.get("response_format")]))
    return images + texts + schemas
