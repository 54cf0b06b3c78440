"""From the calls that a model wrote to calls that may be acted on: whole, known, typed, in bounds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from mnav_core.chat import Fallback, ModelFault, ToolArguments, ToolCall, ToolSchema
from mnav_models import strict_json

MAX_PROBLEMS = 4


@dataclass(frozen=True)
class RawCall:
    """A call as the model wrote it; `complete` is False where the output was cut, `repaired` where it was already
    mended once."""

    call_id: str
    name: str
    arguments: str
    complete: bool = True
    repaired: bool = False


@dataclass(frozen=True)
class ParsedArguments:
    """Arguments or the problem with them, and whether they had to be repaired."""

    arguments: ToolArguments | None
    repaired: bool = False
    fault: ModelFault | None = None
    problem: str = ""


@dataclass(frozen=True)
class CallVerdict:
    """The calls if all are valid, else the problems, worded for the model."""

    calls: tuple[ToolCall, ...] = ()
    faults: tuple[ModelFault, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    problems: tuple[str, ...] = ()


def parse_arguments(text: str, schema: type[ToolArguments], complete: bool = True) -> ParsedArguments:
    """Validate a JSON text against a schema, with at most one repair; a cut text is never repaired."""
    try:
        value = strict_json.loads(text) if text.strip() else {}
        repaired = False
    except strict_json.JsonValueError as error:
        return ParsedArguments(None, False, ModelFault.INVALID_JSON, str(error))
    except strict_json.JsonError as error:
        if not complete:
            return ParsedArguments(None, False, ModelFault.CUT_OUTPUT, f"the output was cut: {error}")
        try:
            value, repaired = strict_json.repaired(text), True
        except strict_json.JsonError as repair_error:
            return ParsedArguments(None, False, ModelFault.INVALID_JSON, f"not JSON: {error}; {repair_error}")
    if isinstance(value, str):
        # Some models encode their arguments twice.
        try:
            value, repaired = strict_json.loads(value), True
        except strict_json.JsonError as error:
            return ParsedArguments(None, False, ModelFault.INVALID_JSON, f"a string, not an object: {error}")
    if not isinstance(value, dict):
        return ParsedArguments(None, repaired, ModelFault.SCHEMA_VIOLATION, "not a JSON object")
    try:
        # Through JSON again, because only there strict validation knows enumerations and tuples.
        arguments = schema.model_validate_json(json.dumps(value, allow_nan=False), strict=True)
    except ValidationError as error:
        return ParsedArguments(None, repaired, ModelFault.SCHEMA_VIOLATION, _worded(error))
    except ValueError as error:
        # An integer of more digits than the interpreter converts.
        return ParsedArguments(None, repaired, ModelFault.SCHEMA_VIOLATION, str(error).splitlines()[0])
    return ParsedArguments(arguments, repaired)


def _worded(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_context=False, include_input=False)
    parts = [f"{'.'.join(map(str, detail['loc'])) or 'arguments'}: {detail['msg']}" for detail in details]
    return "; ".join(parts[:MAX_PROBLEMS])


def validate_calls(raw_calls: Sequence[RawCall], tools: Sequence[ToolSchema], max_calls: int) -> CallVerdict:
    """All calls valid, or none: duplicates and calls beyond `max_calls` are dropped first and counted."""
    schemas = {tool.name: tool for tool in tools}
    fallbacks: list[Fallback] = []
    kept: list[RawCall] = []
    seen: set[tuple[str, str]] = set()
    for call in raw_calls:
        identity = (call.name, _canonical(call.arguments))
        if identity in seen:
            fallbacks.append(Fallback.DUPLICATE_CALL_DROPPED)
        elif len(kept) == max_calls:
            fallbacks.append(Fallback.EXTRA_CALL_DROPPED)
        else:
            seen.add(identity)
            kept.append(call)
    calls: list[ToolCall] = []
    faults: list[ModelFault] = []
    problems: list[str] = []
    used_ids: set[str] = set()
    for number, call in enumerate(kept):
        checked = _checked(call, schemas)
        if checked.repaired or call.repaired:
            fallbacks.append(Fallback.REPAIRED_JSON)
        if checked.fault is not None:
            faults.append(checked.fault)
        if checked.arguments is None:
            problems.append(f"call {number + 1} ({call.name[:64]!r}): {checked.problem}")
            continue
        call_id = call.call_id
        if not call_id or call_id in used_ids:
            call_id = _free_id(number, used_ids)
            fallbacks.append(Fallback.CALL_ID_ASSIGNED)
        used_ids.add(call_id)
        calls.append(ToolCall(call_id, call.name, checked.arguments))
    return CallVerdict(() if problems else tuple(calls), tuple(faults), tuple(fallbacks), tuple(problems))


def _checked(call: RawCall, schemas: Mapping[str, ToolSchema]) -> ParsedArguments:
    if call.name not in schemas:
        return ParsedArguments(None, False, ModelFault.UNKNOWN_TOOL, f"no such tool; there are {sorted(schemas)}")
    return parse_arguments(call.arguments, schemas[call.name].arguments, call.complete)


def _canonical(text: str) -> str:
    try:
        return json.dumps(strict_json.loads(text), sort_keys=True)
    except ValueError:
        return text


def _free_id(number: int, used: set[str]) -> str:
    return next(name for extra in range(len(used) + 1) if (name := f"call_{number + extra}") not in used)
