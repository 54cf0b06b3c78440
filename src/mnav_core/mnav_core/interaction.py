"""Opening and closing: what is asked of a robot, and what it says came of it. Never a joint's position."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

# A part can be worked on within this planar distance from the base (MultINav: interaction_max_distance), metres.
REACH_M = 1.75


class Operation(Enum):
    """What to do to a part."""

    OPEN = "open"
    CLOSE = "close"


class InteractionStatus(Enum):
    """How an interaction ended; the value is the number used in messages."""

    COMPLETED = 0
    STALLED = 1
    REJECTED = 2


class InteractionCause(Enum):
    """Why an interaction stalled or was rejected; NONE when it completed."""

    NONE = ""
    BAD_GOAL = "bad_goal"
    UNSUPPORTED = "unsupported"
    NOT_AT_REST = "not_at_rest"
    TOO_FAR = "too_far"
    NOT_IN_VIEW = "not_in_view"
    NO_PART = "no_part"
    IN_SWEEP = "in_sweep"
    HITS_ROBOT = "hits_robot"
    OBSTRUCTED = "obstructed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    DECLINED = "declined"


@dataclass(frozen=True)
class InteractionGoal:
    """Work on the part that `point` (x, y, z in `map`, metres) lies on, as seen in `view` ("": any view) now.

    `fraction` of the part's travel is what `open` reaches for, above 0 to 1. `entity_id` and `category` are what the
    asker believes it acts on: for the log alone.
    """

    attempt_id: int
    operation: Operation
    point: tuple[float, float, float]
    view: str = ""
    fraction: float = 1.0
    entity_id: str = ""
    category: str = ""


@dataclass(frozen=True)
class InteractionEnd:
    """What came of an attempt. `reason` is for people and is never parsed."""

    attempt_id: int
    status: InteractionStatus
    cause: InteractionCause = InteractionCause.NONE
    reason: str = ""
