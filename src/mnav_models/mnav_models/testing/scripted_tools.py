"""The tool that scripted answers call, and a request for it."""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from mnav_core.chat import ChatRequest, ToolArguments, ToolSchema, ToolUse, user_message


class TurnArguments(ToolArguments):
    """By how much to turn."""

    angle_deg: float = Field(ge=-180.0, le=180.0)


class Side(Enum):
    """A side of the robot."""

    LEFT = "left"
    RIGHT = "right"


class LookArguments(ToolArguments):
    """Arguments of every kind that a tool may want."""

    side: Side = Side.LEFT
    steps: int = Field(default=1, ge=1, le=10)
    note: str = Field(default="", max_length=20)
    point: tuple[float, float] | None = None
    flags: list[bool] = Field(default=[], max_length=3)


TURN = ToolSchema("turn", "Turn in place.", TurnArguments)
LOOK = ToolSchema("look", "Look around.", LookArguments)


def turn_request(text: str = "Turn left a little.", max_calls: int = 1) -> ChatRequest:
    """A request that needs a call of `turn` or `look`."""
    return ChatRequest((user_message(text),), (TURN, LOOK), ToolUse.REQUIRED, max_calls=max_calls)
