"""The part of the in-process body that opens and closes: one attempt at a time, as records to and from the world."""

from __future__ import annotations

import math

from mnav_core.geometry import SE2
from mnav_core.interaction import InteractionCause, InteractionEnd, InteractionGoal, InteractionStatus
from mnav_core.motion import MotionReport, RobotCommand, report_of_interaction
from mnav_core.requests import GoToPoint, Interact
from mnav_executor_geo.goals import locate_point
from mnav_executor_geo.inputs import NavigatorInputs
from mnav_executor_geo.paths import NoPath
from mnav_executor_geo.settings import ExecutorSettings


def goal_of(motion_id: int, request: Interact, inputs: NavigatorInputs) -> InteractionGoal | MotionReport:
    """The goal of a request, its point found in the newest capture where none is given, or why it is none."""
    point = request.point
    if point is None:
        asked = GoToPoint(request.image_ref, request.view, request.u, request.v)
        found = locate_point(asked, inputs, ExecutorSettings())
        if isinstance(found, NoPath):
            end = rejected(motion_id, InteractionCause.BAD_GOAL, found.reason)
            return MotionReport(
                motion_id, found.status, found.reason, end_pose=inputs.pose, end_s=inputs.now_s, interaction=end
            )
        point = (found[0].x, found[0].y, found[0].z)
    if not all(math.isfinite(value) for value in (*point, request.fraction)) or not 0.0 < request.fraction <= 1.0:
        reason = f"point {point}, fraction {request.fraction}: allowed: finite, above 0 to 1"
        end = rejected(motion_id, InteractionCause.BAD_GOAL, reason)
        return report_of_interaction(end, inputs.pose, inputs.now_s)
    return InteractionGoal(
        motion_id, request.operation, point, request.view, request.fraction, request.entity_id, request.category
    )


def rejected(motion_id: int, cause: InteractionCause, reason: str) -> InteractionEnd:
    """An attempt that never began."""
    return InteractionEnd(motion_id, InteractionStatus.REJECTED, cause, reason)


class Interacting:
    """Holds the attempt that runs; `command` adds what the world must know to a tick's command."""

    def __init__(self) -> None:
        self._to_begin: InteractionGoal | None = None
        self._to_release = False
        self._active_id: int | None = None

    @property
    def active_id(self) -> int | None:
        """The attempt that runs."""
        return self._active_id

    def begin(self, goal: InteractionGoal) -> None:
        """Ask the world with the next command."""
        self._to_begin, self._active_id = goal, goal.attempt_id

    def let_go(self, pose: SE2, now_s: float, reason: str) -> MotionReport | None:
        """End the attempt that runs; its report, None when none runs."""
        if self._active_id is None:
            return None
        end = InteractionEnd(self._active_id, InteractionStatus.STALLED, InteractionCause.CANCELLED, reason)
        if self._to_begin is None:
            self._to_release = True
        self._to_begin, self._active_id = None, None
        return report_of_interaction(end, pose, now_s)

    def ended(self, ends: tuple[InteractionEnd, ...], pose: SE2, now_s: float) -> MotionReport | None:
        """The report of the attempt that runs once the world says that it ended."""
        for end in ends:
            if end.attempt_id == self._active_id:
                self._active_id = None
                return report_of_interaction(end, pose, now_s)
        return None

    def command(self, command: RobotCommand) -> RobotCommand:
        """A tick's command with what is to begin or to be let go of."""
        asked = RobotCommand(command.velocity, command.camera_pitch, self._to_begin, self._to_release)
        self._to_begin, self._to_release = None, False
        return asked
