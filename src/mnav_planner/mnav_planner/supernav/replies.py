"""What a tool hands back: fields, labelled images, or a failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mnav_core.chat import ImagePart
from mnav_planner.supernav.statuses import ToolFailure


@dataclass(frozen=True)
class ToolReply:
    """The answer of one call. `fields` is JSON; `panorama_images` in it describes the images, in order."""

    tool: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    images: tuple[ImagePart, ...] = ()
    failure: ToolFailure | None = None

    def as_json(self) -> dict[str, Any]:
        """One JSON object: the fields, or what failed, under `error`, with its code and remedy."""
        if self.failure is None:
            return {"ok": True, **self.fields}
        error = {"code": self.failure.code.value, "message": self.failure.message, "remedy": self.failure.remedy}
        return {"ok": False, **self.fields, "error": error}

    def text(self) -> str:
        """The JSON as compact text."""
        return json.dumps(self.as_json(), separators=(",", ":"))


def failed(tool: str, failure: ToolFailure) -> ToolReply:
    """The reply of a call that was not carried out."""
    return ToolReply(tool, failure=failure)
