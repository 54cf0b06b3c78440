"""What a caller may fill in, tool by tool: typed and bounded, nothing coerced, nothing unknown accepted."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from pydantic import Field

from mnav_core.chat import ToolArguments
from mnav_core.requests import PointIntent

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Point = Annotated[
    tuple[Unit, Unit],
    Field(description="[x, y] in the image, each from 0 (left, top) to 1 (right, bottom)"),
]
ImageRef = Annotated[str, Field(min_length=1, max_length=128, description="image_ref of an image of the newest reply")]
Degrees = Annotated[int, Field(ge=10, le=180, multiple_of=10, description="a multiple of 10")]
Category = Annotated[str, Field(min_length=1, max_length=64)]
Phrase = Annotated[str, Field(min_length=1, max_length=200)]


class View(Enum):
    """A directional image, relative to the robot's heading when it was taken."""

    FRONT = "front"
    RIGHT = "right"
    BACK = "back"
    LEFT = "left"


class TurnDirection(Enum):
    """Which way to turn in place."""

    LEFT = "left"
    RIGHT = "right"


class LookDirection(Enum):
    """Which way to tilt the head."""

    UP = "up"
    DOWN = "down"


class GoalAction(Enum):
    """What to do with the goal records."""

    STATUS = "status"
    MARK = "mark"


class ClaimedOutcome(Enum):
    """How the caller judges the task."""

    ACHIEVED = "achieved"
    BLOCKED = "blocked"


class NoArguments(ToolArguments):
    """Nothing to fill in."""


class InitScene(ToolArguments):
    """Open the session."""

    robot: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None, description="which robot, needed only where several are served"
    )


class Detections(ToolArguments):
    """Everything, or only what is of the given categories."""

    categories: Annotated[tuple[Category, ...], Field(min_length=1, max_length=16)] | None = Field(
        default=None, description="only these; without it everything, the newest first where that is too much"
    )


class Turn(ToolArguments):
    """Turn in place."""

    direction: TurnDirection
    degrees: Degrees = 10


class Look(ToolArguments):
    """Tilt the head from where it is."""

    direction: LookDirection
    degrees: Annotated[int, Field(ge=10, le=90, multiple_of=10, description="a multiple of 10")] = 10


class PointNavigate(ToolArguments):
    """Drive to what the point shows. Give image_ref or view; without either the front image is meant."""

    point: Point
    view: View | None = Field(default=None, description="which of the newest images the point lies in")
    image_ref: ImageRef | None = None
    intent: PointIntent = Field(
        default=PointIntent.APPROACH,
        description="approach: stop in front of it; pass_through: drive onto that floor; inspect: stop further off",
    )


class FrontPointNavigate(ToolArguments):
    """Drive to what the point of the newest front image shows."""

    point: Point
    intent: PointIntent = Field(
        default=PointIntent.APPROACH,
        description="approach: stop in front of it; pass_through: drive onto that floor; inspect: stop further off",
    )


class LocalNavigate(ToolArguments):
    """One bounded hop towards what the point shows."""

    point: Point
    view: View | None = Field(default=None, description="which of the newest images the point lies in")
    image_ref: ImageRef | None = None
    max_seconds: Annotated[float, Field(ge=1.0, le=120.0)] = Field(
        default=60.0, description="robot seconds after which the hop ends"
    )


class FrontLocalNavigate(ToolArguments):
    """One bounded hop towards what the point of the newest front image shows."""

    point: Point
    max_seconds: Annotated[float, Field(ge=1.0, le=120.0)] = Field(
        default=60.0, description="robot seconds after which the hop ends"
    )


class NavGoals(ToolArguments):
    """List the goals, or mark one as found (it stays marked)."""

    action: GoalAction = GoalAction.STATUS
    target_index: Annotated[int, Field(ge=1, le=64)] | None = Field(default=None, description="1 is the first goal")


class CloseSession(ToolArguments):
    """End the task with your own judgement of it."""

    outcome: ClaimedOutcome
    reason: Annotated[str, Field(max_length=600)] = ""


class NavigateToPose(ToolArguments):
    """Drive to a pose of the map: metres and radians."""

    x: Annotated[float, Field(ge=-1000.0, le=1000.0)]
    y: Annotated[float, Field(ge=-1000.0, le=1000.0)]
    yaw: Annotated[float, Field(ge=-3.15, le=3.15)] | None = None


class GroundPreview(ToolArguments):
    """Name something visible in one image; it is located and driven to, after a confirmation where one is needed."""

    phrase: Phrase | None = Field(default=None, description="the visible thing, in a few words")
    view: View = View.FRONT
    max_candidates: Annotated[int, Field(ge=1, le=4)] = 4
    confirm_token: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None, description="token of the preview whose candidate is confirmed"
    )
    candidate_id: Annotated[int, Field(ge=1, le=4)] | None = Field(
        default=None, description="number of the confirmed candidate on the overlay"
    )
    intent: PointIntent = PointIntent.APPROACH


class ReadSkill(ToolArguments):
    """Read guidance: a skill by its name, or one of its references by path."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    reference: Annotated[str, Field(min_length=1, max_length=64)] | None = None


class NoteEvidence(ToolArguments):
    """Keep a finding for the rest of the task under a short key; the same key replaces it."""

    key: Annotated[str, Field(min_length=1, max_length=48)]
    text: Annotated[str, Field(min_length=1, max_length=400)]
