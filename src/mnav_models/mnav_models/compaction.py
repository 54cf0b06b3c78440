"""Old exchanges in one line each, and long texts shortened where they say so."""

from __future__ import annotations

from collections.abc import Sequence

from mnav_core.chat import ChatMessage, ImagePart, Role, TextPart

LINE_CHARS = 160
SUPERSEDED = "[image {label} ({image_id}) is no longer attached]"


def shortened(text: str, limit: int) -> str:
    """`text`, or its beginning and how much is missing, at most `limit` (>= 60) characters."""
    if len(text) <= limit:
        return text
    note = f" … ({len(text)} characters, shortened)"
    return text[: limit - len(note)] + note


def without_media(message: ChatMessage) -> ChatMessage:
    """The message with each image replaced by a line that names it."""
    parts = tuple(
        TextPart(SUPERSEDED.format(label=part.label, image_id=part.image_id)) if isinstance(part, ImagePart) else part
        for part in message.parts
    )
    return ChatMessage(message.role, parts, message.tool_calls, message.call_id, message.tool_name)


def with_shortened_text(message: ChatMessage, limit: int) -> ChatMessage:
    """The message with each text part at most `limit` characters."""
    parts = tuple(
        TextPart(shortened(part.text, limit)) if isinstance(part, TextPart) else part for part in message.parts
    )
    return ChatMessage(message.role, parts, message.tool_calls, message.call_id, message.tool_name)


def text_length(message: ChatMessage) -> int:
    """Characters of text and of tool calls."""
    calls = sum(len(call.name) + len(call.arguments.model_dump_json()) for call in message.tool_calls)
    return calls + sum(len(part.text) for part in message.parts if isinstance(part, TextPart))


def exchange_line(number: int, messages: Sequence[ChatMessage]) -> str:
    """One line about an exchange: what was called or said, and how what came back begins."""
    done: list[str] = []
    returned: list[str] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            done.extend(f"{call.name}({call.arguments.model_dump_json()})" for call in message.tool_calls)
            done.extend([" ".join(message.text.split())] if message.text and not message.tool_calls else [])
        else:
            returned.append(" ".join(part.text for part in message.parts if isinstance(part, TextPart)))
    line = f"turn {number}: {', '.join(done) or 'observed'} -> {' '.join(' '.join(returned).split())}"
    return shortened(line, LINE_CHARS)
