"""Strict reading, and a repair that never makes up a value."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnav_models import strict_json
from mnav_models.strict_json import Ending, JsonError, JsonValueError

SCALARS = st.none() | st.booleans() | st.integers(-10_000, 10_000) | st.floats(-1e6, 1e6) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
OBJECTS = st.dictionaries(st.text(min_size=1, max_size=6), VALUES, min_size=1, max_size=4)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[Infinity]",
        "[-Infinity]",
        "[1e999]",
        '{"a": 1, "a": 2}',
        '["\\ud800"]',
        "",
        "[1,]",
        "{'a': 1}",
        "\ufeff{}",
        "[" * 65 + "]" * 65,
        "[" * 100_000,
        '{"a":' * 50_000,
        "1" * 70_000,
        "[" + "9" * 5_000 + "]",
    ],
    ids=lambda text: text[:12],
)
def test_refused(text: str) -> None:
    with pytest.raises(JsonError):
        strict_json.loads(text)


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_what_json_writes_is_read_back(value: Any) -> None:
    assert strict_json.loads(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Sure! {"a": 1}', {"a": 1}),
        ("{'a': 'b'}", {"a": "b"}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": "b"', {"a": "b"}),
        ('{"a": [1, 2]', {"a": [1, 2]}),
        ('{"a": True}', {"a": True}),
        ("{a: 1}", {"a": 1}),
    ],
)
def test_repaired(text: str, value: Any) -> None:
    assert strict_json.repaired(text) == value


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '```\n{"a": 1, "a": 2}\n```', '{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}']
)
def test_value_that_is_none_is_not_repaired(text: str) -> None:
    with pytest.raises(JsonValueError):
        strict_json.repaired(text)


@pytest.mark.parametrize(
    "text", ['{"a": 1', '{"a": 12.', '{"a": "b', '{"a": tr', '{"a":', "no object here", "[" * 500, ""]
)
def test_beyond_repair(text: str) -> None:
    with pytest.raises(JsonError):
        strict_json.repaired(text)


@given(OBJECTS, st.data())
@settings(max_examples=300, deadline=None)
def test_repair_of_a_cut_text_never_alters_a_value(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    try:
        mended = strict_json.repaired(cut)
    except JsonError:
        return
    assert is_part_of(mended, value)


def is_part_of(part: Any, whole: Any) -> bool:
    """Whether `part` is `whole` with trailing members missing."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_part_of(item, whole[key]) for key, item in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(is_part_of(a, b) for a, b in zip(part, whole, strict=False))
    return bool(part == whole)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', Ending.CLOSED),
        ('{"a": "}"', Ending.UNCLOSED_AFTER_VALUE),
        ('{"a": 1', Ending.UNCLOSED_IN_VALUE),
        ('{"a": "x', Ending.UNCLOSED_IN_VALUE),
        ('{"a": "x\\"', Ending.UNCLOSED_IN_VALUE),
        ('{"a": "b", "c"', Ending.UNCLOSED_IN_VALUE),
        ('["a", "b"', Ending.UNCLOSED_AFTER_VALUE),
    ],
)
def test_ending(text: str, expected: Ending) -> None:
    assert strict_json.ending(text) is expected


@pytest.mark.parametrize(
    "text", ['{"a": ' + "[{" * 120, "{" + "'a:" * 5_000, '{"a": "' + '\\"' * 20_000, "{" + "}," * 20_000]
)
def test_repair_takes_bounded_time(text: str) -> None:
    start = time.monotonic()
    with contextlib.suppress(JsonError):
        strict_json.repaired(text)
    assert time.monotonic() - start < 2.0
