"""JSON as RFC 8259 has it, from text that nobody vouches for:

bounded, without NaN, without duplicate keys; and one repair.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from enum import Enum

import json_repair

MAX_CHARS = 65_536
MAX_DEPTH = 64
# What a third-party parser of hostile text may raise; anything else is a bug of ours and shall be seen.
REPAIR_ERRORS = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
FENCE = re.compile(r"^\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


class JsonError(ValueError):
    """The text is not acceptable JSON; the message says what is wrong in one line."""


class JsonValueError(JsonError):
    """JSON in form, but a value in it is none: given twice, not finite, half a character. Not to be repaired."""


class Ending(Enum):
    """How a text ends, as far as its brackets and strings say."""

    CLOSED = "closed"
    UNCLOSED_AFTER_VALUE = "unclosed_after_value"
    UNCLOSED_IN_VALUE = "unclosed_in_value"


def loads(text: str) -> JsonValue:
    """The value of a JSON text.

    Raises JsonError for anything but strict JSON within MAX_CHARS and MAX_DEPTH, or for a key given twice.
    """
    if len(text) > MAX_CHARS:
        raise JsonError(f"{len(text)} characters, at most {MAX_CHARS} are allowed")
    if nesting_depth(text) > MAX_DEPTH:
        raise JsonError(f"nested deeper than {MAX_DEPTH}")
    try:
        return _decoded(text)
    except JsonError:
        raise
    except json.JSONDecodeError as error:
        raise JsonError(f"{error.msg} at character {error.pos}") from error
    except (ValueError, RecursionError) as error:
        raise JsonValueError(str(error).splitlines()[0]) from error


def _decoded(text: str) -> JsonValue:
    value: JsonValue = json.loads(
        text, parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=_unique_keys
    )
    # A lone surrogate cannot be sent to anybody as UTF-8.
    text.encode("utf-8")
    _check_strings(value)
    return value


def _refuse_constant(name: str) -> float:
    raise JsonValueError(f"{name} is not JSON")


def _finite_float(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise JsonValueError(f"number {literal[:24]} is out of range")
    return value


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise JsonValueError(f"a key is given twice among {sorted({key for key, _ in pairs})}")
    return result


def _check_strings(value: JsonValue) -> None:
    """Raise UnicodeEncodeError (a ValueError) for a string that has no UTF-8 form."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, list):
        for item in value:
            _check_strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            key.encode("utf-8")
            _check_strings(item)


@dataclass(frozen=True)
class _Outline:
    """What brackets and strings say about a text."""

    deepest: int
    missing: str
    in_string: bool
    after_key: bool


def _outline(text: str) -> _Outline:
    stack: list[str] = []
    deepest = 0
    in_string = escaped = False
    # The last character outside strings, with `"` standing for a value's string and `k` for a key's.
    last = ""
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
            continue
        if char.isspace():
            continue
        if char == '"':
            in_string = True
            last = "k" if stack and stack[-1] == "{" and last in "{," else '"'
            continue
        last = char
        if char in "[{":
            stack.append(char)
            deepest = max(deepest, len(stack))
        elif char in "]}" and stack:
            stack.pop()
    missing = "".join("}" if bracket == "{" else "]" for bracket in reversed(stack))
    return _Outline(deepest, missing, in_string, last == "k")


def nesting_depth(text: str) -> int:
    """Greatest number of brackets open at once, brackets inside strings left out."""
    return _outline(text).deepest


def ending(text: str) -> Ending:
    """Whether a text that starts with a bracket was cut, and whether it was cut inside a value or before one.

    A number at the end counts as inside: `1` may have been going to be `12`.
    """
    outline = _outline(text)
    if outline.in_string:
        return Ending.UNCLOSED_IN_VALUE
    if not outline.missing:
        return Ending.CLOSED
    whole = text.rstrip()[-1:] in ('"', "]", "}") and not outline.after_key
    return Ending.UNCLOSED_AFTER_VALUE if whole else Ending.UNCLOSED_IN_VALUE


def repaired(text: str) -> JsonValue:
    """The value after one repair: fences and prose around it, single quotes, trailing commas, a forgotten closing
    bracket.

    Raises JsonError where a repair would have to guess a value: a text cut inside one, or one with nothing to repair.
    """
    fenced = FENCE.match(text)
    body = (fenced.group(1) if fenced else text).strip().lstrip("\ufeff")
    if len(body) > MAX_CHARS or nesting_depth(body) > MAX_DEPTH or body.count("[") + body.count("{") > 4 * MAX_DEPTH:
        raise JsonError("too large or too deep to repair")
    start = min((at for at in (body.find("{"), body.find("[")) if at >= 0), default=-1)
    if start < 0:
        raise JsonError("holds no object")
    if ending(body[start:]) is Ending.UNCLOSED_IN_VALUE:
        raise JsonError("cut inside a value")
    # Brackets that are merely missing are added here: that leaves every value as it was written.
    try:
        return loads(body[start:] + _outline(body[start:]).missing)
    except JsonValueError:
        raise
    except JsonError:
        return _mended(body, start)


def _mended(body: str, start: int) -> JsonValue:
    try:
        mended = json_repair.repair_json(body, skip_json_loads=True, ensure_ascii=False)
    except REPAIR_ERRORS as error:
        raise JsonError("beyond repair") from error
    value = loads(mended)
    if not isinstance(value, dict if body[start] == "{" else list):
        raise JsonError("beyond repair")
    return value
