"""JSON files of one pydantic record: written indented, refused with one line that names file, field and value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mnav_core.errors import UsageError

Record = TypeVar("Record", bound=BaseModel)
SHOWN_CHARACTERS = 60


def write_record(file: Path, record: BaseModel) -> None:
    """Write a record; folders are made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record.model_dump(mode="json"), indent=1) + "\n")


def read_record(file: Path, model: type[Record], what: str) -> Record:
    """Read a record; `what` names the kind of file. Raises UsageError naming file, field, value and what is allowed."""
    try:
        data = json.loads(file.read_text())
    except OSError as error:
        raise UsageError(f"{what} {file}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{what} {file}: not JSON: {error}") from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "file"
        shown = repr(first["input"])
        shown = shown if len(shown) <= SHOWN_CHARACTERS else shown[: SHOWN_CHARACTERS - 3] + "..."
        raise UsageError(f"{what} {file}: {field} = {shown}: {first['msg']}") from error
