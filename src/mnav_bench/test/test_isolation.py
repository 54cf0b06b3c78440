"""A mind in a process of its own."""

import os
from collections.abc import Generator
from typing import Any

import pytest

from mnav_bench.isolation import isolated
from mnav_core.requests import GoToPose, Mind, MotionHandle, Note, TaskOutcome, TaskResult


def counting_mind(pid_of_parent: int) -> Mind:
    """Sends two requests and answers with what it was told."""
    handle = yield GoToPose(1.0, 2.0)
    yield Note("elsewhere" if os.getpid() != pid_of_parent else "here")
    return TaskResult(TaskOutcome.ACHIEVED, f"motion {handle.motion_id}")


def raising_mind() -> Mind:
    """Fails after its first request."""
    yield Note("before")
    raise RuntimeError("out of ideas")


def dying_mind() -> Mind:
    """Takes its process with it."""
    yield Note("before")
    os._exit(7)


def thinking_mind() -> Mind:
    """Never comes to an end."""
    yield Note("before")
    while True:
        pass


def played(mind: Generator[Any, Any, TaskResult], replies: list[Any]) -> tuple[list[Any], TaskResult]:
    requests = [next(mind)]
    for reply in replies:
        try:
            requests.append(mind.send(reply))
        except StopIteration as stop:
            return requests, stop.value
    raise AssertionError("the mind did not end")


def test_requests_and_replies_cross_the_process_boundary() -> None:
    requests, result = played(isolated(counting_mind, os.getpid()), [MotionHandle(41), None])
    assert requests == [GoToPose(1.0, 2.0), Note("elsewhere")]
    assert result == TaskResult(TaskOutcome.ACHIEVED, "motion 41")


@pytest.mark.parametrize(("mind", "said"), [(raising_mind, "RuntimeError: out of ideas"), (dying_mind, "process died")])
def test_a_mind_that_fails_ends_as_lost(mind: Any, said: str) -> None:
    _, result = played(isolated(mind), [None])
    assert result.outcome is TaskOutcome.LOST and said in result.reason


def test_a_mind_that_never_answers_ends_as_lost() -> None:
    _, result = played(isolated(thinking_mind, timeout_s=3.0), [None])
    assert result.outcome is TaskOutcome.LOST and "3 s" in result.reason
