"""The `interact` action of one simulated robot: goals to the world with the next command, ends back as results."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from mnav_core.interaction import InteractionCause, InteractionEnd, InteractionGoal, InteractionStatus
from mnav_core.messages.interaction import interaction_goal_of, to_interact_result
from mnav_core.motion import RobotCommand
from mnav_core.nodes.deferred_actions import DeferredActionServer, GoalEnd
from mnav_interfaces.action import Interact


class InteractionPort:
    """One attempt at a time: a newer goal supersedes. Goals come in the node's thread, commands go in the simulation's;
    `arrived` guards what both touch, and results are sent from the node's thread through its mailbox.
    """

    def __init__(self, node: Any, prefix: str, arrived: threading.Condition) -> None:
        self._node = node
        self._arrived = arrived
        self._next_id = 1
        self._to_begin: InteractionGoal | None = None
        self._to_release = False
        self._handles: dict[int, Any] = {}
        self._server = DeferredActionServer(node, Interact, f"{prefix}interact", self._on_goal, self._on_cancel)

    def command(self, command: RobotCommand) -> RobotCommand:
        """A tick's command with what is to begin or to be let go of. Call it under `arrived`."""
        asked = replace(command, interact=self._to_begin, release=self._to_release)
        self._to_begin, self._to_release = None, False
        return asked

    def ended(self, ends: tuple[InteractionEnd, ...]) -> None:
        """Send the results of attempts that the world says ended; from the simulation's thread."""
        for end in ends:
            self._node.mailbox.post(lambda end=end: self._finish(end))

    def _on_goal(self, handle: Any) -> None:
        attempt_id, self._next_id = self._next_id, self._next_id + 1
        self._handles[attempt_id] = handle
        try:
            goal = interaction_goal_of(handle.request, attempt_id)
        except ValueError as error:
            rejected = InteractionStatus.REJECTED
            self._finish(InteractionEnd(attempt_id, rejected, InteractionCause.BAD_GOAL, str(error)))
            return
        with self._arrived:
            waiting, self._to_begin = self._to_begin, goal
        if waiting is not None:
            self._finish(_cancelled(waiting.attempt_id, "superseded before it began"))

    def _on_cancel(self, handle: Any) -> None:
        asked = next((i for i, known in self._handles.items() if known == handle), None)
        with self._arrived:
            waiting = self._to_begin is not None and self._to_begin.attempt_id == asked
            if waiting:
                self._to_begin = None
            elif asked is not None and asked == max(self._handles):
                self._to_release = True
        if waiting and asked is not None:
            self._finish(_cancelled(asked, "cancelled before it began"))

    def _finish(self, end: InteractionEnd) -> None:
        handle = self._handles.pop(end.attempt_id, None)
        if handle is None:
            return
        if end.status is InteractionStatus.COMPLETED:
            how = GoalEnd.SUCCEEDED
        else:
            how = GoalEnd.CANCELED if end.cause is InteractionCause.CANCELLED else GoalEnd.ABORTED
        self._server.finish(handle, how, to_interact_result(end))


def _cancelled(attempt_id: int, reason: str) -> InteractionEnd:
    return InteractionEnd(attempt_id, InteractionStatus.REJECTED, InteractionCause.CANCELLED, reason)
