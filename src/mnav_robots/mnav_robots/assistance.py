"""A person opens and closes for a robot that has no arm: who is asked, what counts as an answer, how it ends."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from mnav_core.geometry import SE2
from mnav_core.interaction import (
    REACH_M,
    InteractionCause,
    InteractionEnd,
    InteractionGoal,
    InteractionStatus,
    Operation,
)
from mnav_core.motion import Velocity

# Words of an answer, beside the number of what is answered.
YES = frozenset({"done", "yes", "y", "ok"})
NO = frozenset({"no", "n", "refuse", "cannot"})


@dataclass(frozen=True)
class AssistanceLimits:
    """How long a person has, how long the base may take to come to rest, how far it may be moved while it waits."""

    answer_s: float = 35.0
    settle_s: float = 3.0
    moved_m: float = 0.15


@dataclass(frozen=True)
class Announcement:
    """What a person is told: `text` in words, `number` to answer with."""

    number: int
    goal: InteractionGoal
    text: str

    def as_json(self, with_picture: bool) -> str:
        """One JSON object; it says whether a picture went before it."""
        goal = self.goal
        told: dict[str, Any] = {
            "number": self.number,
            "picture": with_picture,
            "text": self.text,
            "operation": goal.operation.value,
            "category": goal.category,
            "entity": goal.entity_id,
            "fraction": goal.fraction,
            "point": [round(v, 3) for v in goal.point],
        }
        return json.dumps(told)


@dataclass(frozen=True)
class Step:
    """What a step brought: something to announce, or the end of an attempt."""

    announce: Announcement | None = None
    end: InteractionEnd | None = None


class Assistance:
    """One request at a time; a newer goal supersedes. Time and poses are passed in.

    The base must rest before anybody is asked, and stay where it is while a person works beside it.
    """

    def __init__(self, limits: AssistanceLimits) -> None:
        self._limits = limits
        self._goal: InteractionGoal | None = None
        self._since_s = 0.0
        self._parked: SE2 | None = None

    @property
    def asked(self) -> int | None:
        """The number that a person may answer now."""
        return self._goal.attempt_id if self._goal is not None and self._parked is not None else None

    def begin(self, goal: InteractionGoal, now_s: float) -> InteractionEnd | None:
        """Take a goal over; the end of the one that it supersedes."""
        ended = self.cancel("superseded by a newer goal")
        self._goal, self._since_s, self._parked = goal, now_s, None
        return ended

    def cancel(self, reason: str) -> InteractionEnd | None:
        """Let go of what is asked."""
        if self._goal is None:
            return None
        return self._ended(InteractionStatus.REJECTED, InteractionCause.CANCELLED, reason)

    def answer(self, number: int | None, done: bool) -> InteractionEnd | None:
        """A person's answer to a number, None for whatever is asked now; None when nothing of that number is asked.

        Done is an acknowledgement and no more: whether the part has moved is for the robot to see.
        """
        if self.asked is None or number not in (None, self.asked):
            return None
        if done:
            return self._ended(InteractionStatus.COMPLETED, InteractionCause.NONE, "a person says that it is done")
        return self._ended(InteractionStatus.REJECTED, InteractionCause.DECLINED, "a person refused")

    def step(self, now_s: float, pose: SE2 | None, velocity: Velocity | None) -> Step:
        """Look at the clock and at the base: `pose` in `map` and its velocity, None where they are not known."""
        if self._goal is None:
            return Step()
        waited = now_s - self._since_s
        if self._parked is None:
            if pose is not None and velocity is not None and velocity.is_rest:
                return self._park(self._goal, pose, now_s)
            if waited <= self._limits.settle_s:
                return Step()
            reason = f"the base does not rest within {self._limits.settle_s:g} s"
            if pose is None or velocity is None:
                reason = f"where the base is was not told within {self._limits.settle_s:g} s"
            return Step(end=self._ended(InteractionStatus.REJECTED, InteractionCause.NOT_AT_REST, reason))
        if pose is not None and pose.distance_to(self._parked.x, self._parked.y) > self._limits.moved_m:
            reason = f"the base was moved over {self._limits.moved_m:g} m while a person was asked"
            return Step(end=self._ended(InteractionStatus.STALLED, InteractionCause.NOT_AT_REST, reason))
        if waited > self._limits.answer_s:
            reason = f"no answer within {self._limits.answer_s:g} s"
            return Step(end=self._ended(InteractionStatus.STALLED, InteractionCause.TIMED_OUT, reason))
        return Step()

    def _park(self, goal: InteractionGoal, pose: SE2, now_s: float) -> Step:
        away = pose.distance_to(goal.point[0], goal.point[1])
        if away > REACH_M:
            reason = f"{away:.2f} m away, allowed: {REACH_M:g} m"
            return Step(end=self._ended(InteractionStatus.REJECTED, InteractionCause.TOO_FAR, reason))
        self._parked, self._since_s = pose, now_s
        return Step(announce=Announcement(goal.attempt_id, goal, _words(goal, pose)))

    def _ended(self, status: InteractionStatus, cause: InteractionCause, reason: str) -> InteractionEnd:
        assert self._goal is not None
        number, self._goal, self._parked = self._goal.attempt_id, None, None
        return InteractionEnd(number, status, cause, reason)


def read_answer(text: str) -> tuple[int | None, bool] | None:
    """Number and whether it is done, of `done`, `no`, `done 3` or `no 3`; None for anything else."""
    words = text.lower().split()
    if not words or len(words) > 2 or words[0] not in YES | NO:
        return None
    if len(words) == 2 and not (words[1].isascii() and words[1].isdigit()):
        return None
    return (int(words[1]) if len(words) == 2 else None), words[0] in YES


def _words(goal: InteractionGoal, pose: SE2) -> str:
    """What is asked for, and where it is as the robot looks."""
    bearing = math.degrees(pose.bearing_to(goal.point[0], goal.point[1]))
    side = "ahead" if abs(bearing) < 20.0 else f"{abs(bearing):.0f} degrees {'left' if bearing > 0 else 'right'}"
    what = goal.category.replace("_", " ") or "marked part"
    share = f" to {100.0 * goal.fraction:.0f} %" if goal.operation is Operation.OPEN and goal.fraction < 1.0 else ""
    away = pose.distance_to(goal.point[0], goal.point[1])
    return (
        f"please {goal.operation.value} the {what}{share}: {away:.1f} m {side}, {goal.point[2]:.1f} m high;"
        f" answer done {goal.attempt_id} or no {goal.attempt_id}"
    )
