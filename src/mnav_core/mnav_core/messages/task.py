"""Tasks: goals and outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from mnav_core.requests import TaskGoal, TaskOutcome, TaskResult
from mnav_interfaces.action import NavigateTask
from mnav_interfaces.msg import TaskGoal as TaskGoalMessage

OUTCOMES: Mapping[TaskOutcome, int] = MappingProxyType(
    {
        TaskOutcome.ACHIEVED: NavigateTask.Result.ACHIEVED,
        TaskOutcome.BLOCKED: NavigateTask.Result.BLOCKED,
        TaskOutcome.TIMED_OUT: NavigateTask.Result.TIMED_OUT,
        TaskOutcome.CANCELLED: NavigateTask.Result.CANCELLED,
        TaskOutcome.LOST: NavigateTask.Result.LOST,
    }
)


def to_task_goal(goal: TaskGoal) -> TaskGoalMessage:
    """Message of a goal."""
    return TaskGoalMessage(id=goal.id, kind=TaskGoalMessage.KIND_CATEGORY, text=goal.category)


def task_goals_of(messages: Sequence[TaskGoalMessage]) -> tuple[TaskGoal, ...]:
    """Records of goals. Raises ValueError for none, a kind that is not served, or a goal without text."""
    if not messages:
        raise ValueError("goals: none, allowed: at least one")
    for goal in messages:
        if goal.kind != TaskGoalMessage.KIND_CATEGORY:
            raise ValueError(f"goal {goal.id!r}: kind = {goal.kind!r}, allowed: {TaskGoalMessage.KIND_CATEGORY!r}")
        if not goal.text.strip():
            raise ValueError(f"goal {goal.id!r}: text is empty, allowed: the name of a category")
    return tuple(TaskGoal(goal.id, goal.text, goal.text) for goal in messages)


def to_task_result(result: TaskResult) -> NavigateTask.Result:
    """Result message."""
    return NavigateTask.Result(outcome=OUTCOMES[result.outcome], reason=result.reason, answer=result.answer)


def task_result_of(message: NavigateTask.Result) -> TaskResult:
    """Record of a result. Raises ValueError for an outcome that does not exist."""
    for outcome, value in OUTCOMES.items():
        if value == message.outcome:
            return TaskResult(outcome, message.reason, message.answer)
    raise ValueError(f"task outcome {message.outcome}, allowed: {sorted(OUTCOMES.values())}")
