"""Tool calls and typed answers over plain text, for models that have neither."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from mnav_core.chat import ToolArguments, ToolSchema, ToolUse, json_schema
from mnav_models import strict_json
from mnav_models.tool_validation import RawCall

TAGGED = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
NAME_KEYS = ("tool", "name", "function")
ARGUMENT_KEYS = ("arguments", "parameters", "args")
MAX_OBJECTS = 16


def tool_instructions(tools: Sequence[ToolSchema], tool_use: ToolUse, max_calls: int) -> str:
    """What the system prompt must say so that calls can be read from the text."""
    listing = "\n".join(
        f"- {tool.name}: {tool.description} Arguments as JSON schema: {json.dumps(tool.parameters)}" for tool in tools
    )
    must = (
        "You must call a tool." if tool_use is ToolUse.REQUIRED else "Call a tool when it helps, else answer in words."
    )
    many = "exactly one JSON object" if max_calls == 1 else f"one to {max_calls} JSON objects, one a line,"
    form = '{"tool": NAME, "arguments": {...}}'
    return f"{must} To call, answer with {many} and nothing else: {form}.\nTools:\n{listing}"


def answer_instructions(schema: type[ToolArguments]) -> str:
    """What the system prompt must say so that a typed answer can be read from the text."""
    schema_text = json.dumps(json_schema(schema))
    return f"Answer with exactly one JSON object and nothing else, of this JSON schema: {schema_text}"


def calls_in_text(text: str, complete: bool = True) -> tuple[RawCall, ...]:
    """The calls that a text holds:

    tagged, fenced or bare objects with a tool's name and its arguments; () where there are none.
    """
    tagged = TAGGED.findall(text)
    sources = tagged or outer_objects(text)
    calls = (_call(source, complete) for source in sources[:MAX_OBJECTS])
    return tuple(call for call in calls if call is not None)


def outer_objects(text: str) -> list[str]:
    """The outermost {...} of a text in order; one that is never closed reaches to the end."""
    found: list[str] = []
    start = -1
    depth = 0
    in_string = escaped = False
    for at, char in enumerate(text):
        if depth and in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif depth and char == '"':
            in_string = True
        elif char == "{":
            start = at if depth == 0 else start
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                found.append(text[start : at + 1])
    if depth:
        found.append(text[start:])
    return found


def _call(source: str, complete: bool) -> RawCall | None:
    mended = False
    try:
        value = strict_json.loads(source.strip())
    except strict_json.JsonError:
        if not complete:
            return None
        try:
            value, mended = strict_json.repaired(source), True
        except strict_json.JsonError:
            return None
    if not isinstance(value, dict):
        return None
    name = next((value[key] for key in NAME_KEYS if isinstance(value.get(key), str)), None)
    if not isinstance(name, str):
        return None
    arguments = next((value[key] for key in ARGUMENT_KEYS if key in value), {})
    return RawCall("", name, arguments if isinstance(arguments, str) else json.dumps(arguments), complete, mended)
