"""What makes two requests the same, and where two differ."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from mnav_core.chat import ChatMessage, ChatRequest, ImagePart, TextPart, json_schema

SHOWN_CHARS = 60


def canonical(request: ChatRequest) -> dict[str, Any]:
    """A request as plain JSON values; images stand as their SHA-256, call ids as their order of appearance."""
    ids: dict[str, str] = {}
    return {
        "messages": [_message(message, ids) for message in request.messages],
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ],
        "tool_use": request.tool_use.value,
        "answer": None if request.answer is None else json_schema(request.answer),
        "max_calls": request.max_calls,
        "max_output_tokens": request.max_output_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
    }


def _message(message: ChatMessage, ids: dict[str, str]) -> dict[str, Any]:
    def stable(call_id: str) -> str:
        return ids.setdefault(call_id, f"id{len(ids)}") if call_id else ""

    return {
        "role": message.role.value,
        "parts": [_part(part) for part in message.parts],
        "tool_calls": [
            {"id": stable(call.call_id), "name": call.name, "arguments": call.arguments.model_dump(mode="json")}
            for call in message.tool_calls
        ],
        "call_id": stable(message.call_id),
        "tool_name": message.tool_name,
    }


def _part(part: TextPart | ImagePart) -> dict[str, str]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    return {"image": hashlib.sha256(part.jpeg).hexdigest(), "image_id": part.image_id, "label": part.label}


def digest(request: ChatRequest) -> str:
    """SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(json.dumps(canonical(request), sort_keys=True).encode()).hexdigest()


def first_difference(recorded: Any, asked: Any, path: str = "request") -> str:
    """Where two canonical values first differ, with both values; "" where they are equal."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for key in sorted({*recorded, *asked}):
            if key not in recorded or key not in asked:
                return f"{path}.{key} is only in the {'recording' if key in recorded else 'request'}"
            if found := first_difference(recorded[key], asked[key], f"{path}.{key}"):
                return found
        return ""
    if isinstance(recorded, list) and isinstance(asked, list):
        for number, (one, other) in enumerate(zip(recorded, asked, strict=False)):
            if found := first_difference(one, other, f"{path}[{number}]"):
                return found
        return "" if len(recorded) == len(asked) else f"{path} has {len(recorded)} items recorded, {len(asked)} asked"
    return "" if recorded == asked else f"{path}: recorded {_shown(recorded)}, asked {_shown(asked)}"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
