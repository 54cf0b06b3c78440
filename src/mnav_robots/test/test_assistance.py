"""Asking a person: parked first, one answer, refusal and silence are outcomes."""

from __future__ import annotations

import json

import pytest

from mnav_core.geometry import SE2
from mnav_core.interaction import InteractionCause, InteractionGoal, InteractionStatus, Operation
from mnav_core.motion import STOP, Velocity
from mnav_robots.assistance import Announcement, Assistance, AssistanceLimits, read_answer

HERE = SE2(1.0, 1.0, 0.0)
ROLLING = Velocity(0.3, 0.0, 0.0)


def goal(number: int = 1, x: float = 2.0) -> InteractionGoal:
    return InteractionGoal(number, Operation.OPEN, (x, 1.0, 0.9), "front", 1.0, "door_1", "door")


def asked(limits: AssistanceLimits | None = None) -> tuple[Assistance, Announcement]:
    assistance = Assistance(limits or AssistanceLimits())
    assert assistance.begin(goal(), 10.0) is None
    told = assistance.step(10.1, HERE, STOP).announce
    assert told is not None
    return assistance, told


def test_nobody_is_asked_before_the_base_rests() -> None:
    assistance = Assistance(AssistanceLimits(settle_s=3.0))
    assistance.begin(goal(), 0.0)
    assert assistance.step(1.0, HERE, ROLLING).announce is None
    assert assistance.answer(None, True) is None, "nothing is asked yet"
    end = assistance.step(3.1, HERE, ROLLING).end
    assert end is not None and (end.status, end.cause) == (InteractionStatus.REJECTED, InteractionCause.NOT_AT_REST)


def test_a_person_is_told_what_and_where() -> None:
    _, told = asked()
    said = json.loads(told.as_json(True))
    assert "open the door: 1.0 m ahead, 0.9 m high" in said["text"]
    assert (said["number"], said["operation"], said["point"], said["picture"]) == (1, "open", [2.0, 1.0, 0.9], True)


def test_done_completes_and_says_nothing_of_the_part() -> None:
    assistance, _ = asked()
    end = assistance.answer(1, True)
    assert end is not None and (end.status, end.cause) == (InteractionStatus.COMPLETED, InteractionCause.NONE)
    assert assistance.asked is None and assistance.answer(1, True) is None, "one answer a request"


def test_refusal_silence_and_being_moved_are_outcomes() -> None:
    refused = asked()[0].answer(None, False)
    assert refused is not None
    assert (refused.status, refused.cause) == (InteractionStatus.REJECTED, InteractionCause.DECLINED)
    waiting, _ = asked(AssistanceLimits(answer_s=20.0))
    assert waiting.step(30.0, HERE, STOP).end is None
    silent = waiting.step(30.2, HERE, STOP).end
    assert silent is not None
    assert (silent.status, silent.cause) == (InteractionStatus.STALLED, InteractionCause.TIMED_OUT)
    moved = asked()[0].step(11.0, SE2(1.2, 1.0, 0.0), ROLLING).end
    assert moved is not None
    assert (moved.status, moved.cause) == (InteractionStatus.STALLED, InteractionCause.NOT_AT_REST)


def test_out_of_reach_is_rejected_and_a_newer_goal_supersedes() -> None:
    far = Assistance(AssistanceLimits())
    far.begin(goal(x=4.0), 0.0)
    end = far.step(0.1, HERE, STOP).end
    assert end is not None and end.cause is InteractionCause.TOO_FAR
    assistance, _ = asked()
    old = assistance.begin(goal(2), 12.0)
    assert old is not None and (old.attempt_id, old.cause) == (1, InteractionCause.CANCELLED)
    assistance.step(12.1, HERE, STOP)
    assert assistance.answer(1, True) is None, "the answer to the old request"
    assert assistance.asked == 2


@pytest.mark.parametrize(
    ("text", "answer"),
    [("done", (None, True)), (" No 12\n", (12, False)), ("yes 3", (3, True)), ("done 3 4", None), ("", None),
     ("maybe", None), ("done -1", None), ("no ²", None)],
)  # fmt: skip
def test_answers(text: str, answer: tuple[int | None, bool] | None) -> None:
    assert read_answer(text) == answer
