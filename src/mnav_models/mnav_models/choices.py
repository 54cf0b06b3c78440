"""Schemas whose allowed values are known only when the request is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, create_model

from mnav_core.chat import ToolArguments
from mnav_core.errors import UsageError

MAX_CHOICES = 256


def with_choices(schema: type[ToolArguments], field: str, candidates: Sequence[str]) -> type[ToolArguments]:
    """`schema` with `field` restricted to the ids that exist now, so that a made-up id is a schema violation.

    Raises UsageError for an unknown field, for no candidates, or for more than MAX_CHOICES.
    """
    if field not in schema.model_fields:
        raise UsageError(f"{schema.__name__}: no field {field!r}; there are {sorted(schema.model_fields)}")
    if not 1 <= len(candidates) <= MAX_CHOICES:
        raise UsageError(f"{schema.__name__}.{field}: {len(candidates)} candidates, 1 to {MAX_CHOICES} are allowed")
    description = schema.model_fields[field].description
    allowed: Any = Literal[tuple(dict.fromkeys(candidates))]
    restricted: Any = (allowed, Field(description=description))
    return create_model(schema.__name__, __base__=schema, __doc__=schema.__doc__, **{field: restricted})
