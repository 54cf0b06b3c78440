"""Action servers whose goals are finished from a control loop instead of a callback that waits."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle


class GoalEnd(Enum):
    """How a goal ends."""

    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    CANCELED = "canceled"


class DeferredActionServer(ActionServer):
    """Accepts every goal, hands it to `on_goal`, and sends its result when `finish` is called.

    Awaiting in an execute callback would keep rclpy's executor polling, and waiting in one would take a thread a goal.
    `on_cancel` is told of a cancel request; the goal goes on until it is finished.
    """

    def __init__(
        self,
        node: Any,
        action_type: Any,
        name: str,
        on_goal: Callable[[ServerGoalHandle], None],
        on_cancel: Callable[[ServerGoalHandle], None],
        accept: Callable[[Any], bool] = lambda _request: True,
    ) -> None:
        self.action_name = name
        self._on_goal = on_goal
        self._on_cancel = on_cancel
        self._accept = accept
        super().__init__(
            node,
            action_type,
            name,
            execute_callback=self._never,
            goal_callback=lambda request: GoalResponse.ACCEPT if self._accept(request) else GoalResponse.REJECT,
            handle_accepted_callback=self._accepted,
            cancel_callback=self._cancelled,
        )

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Callable[..., Any] | None) -> None:
        """Called by rclpy when a goal starts executing; it is left running unless a callback ends it."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)

    def finish(self, goal_handle: ServerGoalHandle, end: GoalEnd, result: Any) -> None:
        """End a goal and send its result. A goal that was asked to cancel and did something else is aborted."""

        def conclude(handle: ServerGoalHandle) -> Any:
            if end is GoalEnd.SUCCEEDED:
                handle.succeed()
            elif end is GoalEnd.CANCELED and handle.is_cancel_requested:
                handle.canceled()
            else:
                handle.abort()
            return result

        super().notify_execute(goal_handle, conclude)

    def _accepted(self, goal_handle: ServerGoalHandle) -> None:
        goal_handle.execute()
        self._on_goal(goal_handle)

    def _cancelled(self, goal_handle: ServerGoalHandle) -> CancelResponse:
        self._on_cancel(goal_handle)
        return CancelResponse.ACCEPT

    @staticmethod
    def _never(goal_handle: ServerGoalHandle) -> Any:
        raise RuntimeError("goals of this server are finished, never executed")
