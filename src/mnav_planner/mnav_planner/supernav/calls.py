"""From what a caller wrote to a call that may be carried out (known, allowed, typed, in bounds), or its failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from mnav_core.chat import ToolArguments
from mnav_planner.supernav.catalogue import Tool, canonical_name
from mnav_planner.supernav.session import ToolSession
from mnav_planner.supernav.statuses import FailureCode, ToolFailure

MAX_PROBLEMS = 4
MAX_NAME = 64


@dataclass(frozen=True)
class Call:
    """A call whose arguments are valid for its tool."""

    tool: Tool
    arguments: ToolArguments


def checked_call(session: ToolSession, name: str, raw: Mapping[str, Any] | None) -> Call | ToolFailure:
    """The call, or why it is none."""
    tool = session.tool(name)
    if tool is None:
        allowed = ", ".join(tool.name.value for tool in session.tools())
        if canonical_name(name) is not None:
            return ToolFailure(FailureCode.TOOL_NOT_ALLOWED, f"tool {name!r} is not allowed here, allowed: {allowed}")
        return ToolFailure(FailureCode.UNKNOWN_TOOL, f"tool {name[:MAX_NAME]!r} does not exist, allowed: {allowed}")
    arguments = checked_arguments(tool, raw or {})
    return arguments if isinstance(arguments, ToolFailure) else Call(tool, arguments)


def checked_arguments(tool: Tool, raw: Mapping[str, Any]) -> ToolArguments | ToolFailure:
    """The arguments, or what is wrong with them, field by field."""
    try:
        # Through JSON, because only there strict validation knows enumerations and tuples.
        return tool.arguments.model_validate_json(json.dumps(raw, allow_nan=False), strict=True)
    except ValidationError as error:
        return _failure(tool, error)
    except (TypeError, ValueError, RecursionError) as error:
        return ToolFailure(FailureCode.INVALID_ARGUMENTS, f"{tool.name.value}: arguments are not JSON: {error}")


def _failure(tool: Tool, error: ValidationError) -> ToolFailure:
    details = error.errors(include_url=False, include_context=False)
    problems = []
    for detail in details[:MAX_PROBLEMS]:
        where = ".".join(map(str, detail["loc"])) or "arguments"
        shown = repr(detail["input"])
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        problems.append(f"{where} = {shown}: {detail['msg']}")
    message = f"{tool.name.value}: {'; '.join(problems)}"
    first = details[0]
    bounds = ("less_than_equal", "greater_than_equal")
    if first["loc"][:1] == ("point",) and first["type"] in bounds:
        return ToolFailure(FailureCode.POINT_OUT_OF_RANGE, message)
    if first["loc"] == ("view",) and first["type"] == "enum":
        return ToolFailure(FailureCode.INVALID_VIEW, message)
    return ToolFailure(FailureCode.INVALID_ARGUMENTS, message)
