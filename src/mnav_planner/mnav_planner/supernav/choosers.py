"""What a chooser is, and what it decides."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from mnav_core.requests import Reply, Request
from mnav_planner.supernav.replies import ToolReply


class Origin(Enum):
    """Who decided a call."""

    BUILTIN = "builtin"
    MODEL = "model"
    FALLBACK = "fallback"


@dataclass(frozen=True)
class Decision:
    """The next call; with `pause` there is none yet, and the loop goes on after one control tick."""

    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = Origin.BUILTIN
    pause: bool = False


@dataclass
class LoopCounts:
    """What the loop spent and what went wrong on the way."""

    turns: int = 0
    model_turns: int = 0
    tokens: int = 0
    fallbacks: int = 0
    empty_turns: int = 0
    repeats: int = 0
    refusals: int = 0
    unusable_turns: int = 0
    skill_reads: int = 0
    notes: int = 0
    largest_request_bytes: int = 0

    def as_fields(self) -> dict[str, int]:
        """The counts by name."""
        return {name: int(getattr(self, name)) for name in self.__dataclass_fields__}


class Chooser(Protocol):
    """Decides the calls of a session one by one."""

    def choose(self, reply: ToolReply, counts: LoopCounts) -> Generator[Request, Reply, Decision]:
        """The next call after `reply`; may ask a model, and so yields requests like a mind."""
        ...
