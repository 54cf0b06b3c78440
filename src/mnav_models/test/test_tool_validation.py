"""Calls as models write them: parallel, twice, unknown, without ids, in the wrong type."""

from __future__ import annotations

import pytest
from pydantic import Field

from mnav_core.chat import Fallback, ModelFault, ToolArguments
from mnav_core.errors import UsageError
from mnav_models.choices import with_choices
from mnav_models.testing.scripted_tools import LOOK, TURN, LookArguments, Side, TurnArguments
from mnav_models.tool_validation import RawCall, parse_arguments, validate_calls

GOOD = '{"angle_deg": 10.0}'


class Approach(ToolArguments):
    """Which candidate to go to."""

    candidate: str = Field(description="its id")


def test_parallel_calls_keep_their_order() -> None:
    verdict = validate_calls([RawCall("a", "turn", GOOD), RawCall("b", "look", "{}")], [TURN, LOOK], 2)
    assert [call.name for call in verdict.calls] == ["turn", "look"]
    assert verdict.faults == () and verdict.fallbacks == ()


def test_extra_calls_are_dropped_and_counted_even_if_they_are_wrong() -> None:
    verdict = validate_calls([RawCall("a", "turn", GOOD), RawCall("b", "fly", "no")], [TURN], 1)
    assert [call.call_id for call in verdict.calls] == ["a"]
    assert verdict.fallbacks == (Fallback.EXTRA_CALL_DROPPED,)


def test_same_call_twice_is_one_call() -> None:
    again = RawCall("b", "turn", '{ "angle_deg":10.0 }')
    verdict = validate_calls([RawCall("a", "turn", GOOD), again], [TURN], 4)
    assert len(verdict.calls) == 1 and verdict.fallbacks == (Fallback.DUPLICATE_CALL_DROPPED,)


def test_missing_and_repeated_ids_are_replaced() -> None:
    raw = [RawCall("", "turn", GOOD), RawCall("x", "look", "{}"), RawCall("x", "look", '{"steps": 2}')]
    verdict = validate_calls(raw, [TURN, LOOK], 4)
    ids = [call.call_id for call in verdict.calls]
    assert len(set(ids)) == 3 and all(ids) and ids[1] == "x"
    assert verdict.fallbacks == (Fallback.CALL_ID_ASSIGNED, Fallback.CALL_ID_ASSIGNED)


def test_one_wrong_call_refuses_all() -> None:
    verdict = validate_calls([RawCall("a", "turn", GOOD), RawCall("b", "fly", "{}")], [TURN], 2)
    assert verdict.calls == () and verdict.faults == (ModelFault.UNKNOWN_TOOL,)
    assert verdict.problems == ("call 2 ('fly'): no such tool; there are ['turn']",)


@pytest.mark.parametrize(
    ("text", "schema", "fault"),
    [
        ('{"angle_deg": "10"}', TurnArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"angle_deg": true}', TurnArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"angle_deg": null}', TurnArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"angle_deg": 180.0001}', TurnArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"angle_deg": 10, "speed": 1}', TurnArguments, ModelFault.SCHEMA_VIOLATION),
        ("{}", TurnArguments, ModelFault.SCHEMA_VIOLATION),
        ("", TurnArguments, ModelFault.SCHEMA_VIOLATION),
        ("[10]", TurnArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"angle_deg": NaN}', TurnArguments, ModelFault.INVALID_JSON),
        ('{"angle_deg": 1, "angle_deg": 2}', TurnArguments, ModelFault.INVALID_JSON),
        ("left, please", TurnArguments, ModelFault.INVALID_JSON),
        ('{"steps": 2.0}', LookArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"steps": "2"}', LookArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"side": "up"}', LookArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"flags": [1]}', LookArguments, ModelFault.SCHEMA_VIOLATION),
        ('{"steps": 1' + "0" * 5_000 + "}", LookArguments, ModelFault.INVALID_JSON),
    ],
)
def test_refused(text: str, schema: type[ToolArguments], fault: ModelFault) -> None:
    parsed = parse_arguments(text, schema)
    assert parsed.arguments is None and parsed.fault is fault and parsed.problem


@pytest.mark.parametrize(
    ("text", "schema", "value", "repaired"),
    [
        ('{"angle_deg": 10}', TurnArguments, TurnArguments(angle_deg=10.0), False),
        ('{"angle_deg": -180.0}', TurnArguments, TurnArguments(angle_deg=-180.0), False),
        ("", LookArguments, LookArguments(), False),
        ('{"side": "right", "flags": [true]}', LookArguments, LookArguments(side=Side.RIGHT, flags=[True]), False),
        ('"{\\"angle_deg\\": 10}"', TurnArguments, TurnArguments(angle_deg=10.0), True),
        ('```json\n{"angle_deg": 10}\n```', TurnArguments, TurnArguments(angle_deg=10.0), True),
        ("{'angle_deg': 10,}", TurnArguments, TurnArguments(angle_deg=10.0), True),
    ],
)
def test_accepted(text: str, schema: type[ToolArguments], value: ToolArguments, repaired: bool) -> None:
    parsed = parse_arguments(text, schema)
    assert (parsed.arguments, parsed.repaired) == (value, repaired)


def test_cut_text_is_not_repaired() -> None:
    text = '{"side": "right"'
    assert parse_arguments(text, LookArguments, complete=True).arguments == LookArguments(side=Side.RIGHT)
    parsed = parse_arguments(text, LookArguments, complete=False)
    assert parsed.arguments is None and parsed.fault is ModelFault.CUT_OUTPUT


def test_unknown_ids_are_schema_violations() -> None:
    schema = with_choices(Approach, "candidate", ["c1", "c2", "c1"])
    assert schema.model_json_schema()["properties"]["candidate"]["enum"] == ["c1", "c2"]
    assert parse_arguments('{"candidate": "c2"}', schema).arguments is not None
    parsed = parse_arguments('{"candidate": "c9"}', schema)
    assert parsed.fault is ModelFault.SCHEMA_VIOLATION and "'c1' or 'c2'" in parsed.problem


@pytest.mark.parametrize(("field", "candidates"), [("nothing", ["a"]), ("candidate", []), ("candidate", ["a"] * 300)])
def test_choices_are_checked(field: str, candidates: list[str]) -> None:
    with pytest.raises(UsageError):
        with_choices(Approach, field, candidates)
