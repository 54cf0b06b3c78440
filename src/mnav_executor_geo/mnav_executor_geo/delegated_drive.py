"""A drive that another navigation stack plans and follows; this executor keeps the lease, the stop and the report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, MotionStatus, Velocity
from mnav_core.nav2_codes import NAV2_CODES
from mnav_core.robot import RobotDescription
from mnav_executor_geo.driving import DriveGoal, GoalChooser
from mnav_executor_geo.inputs import NavigatorInputs, TaskStep
from mnav_executor_geo.looking import head_of
from mnav_executor_geo.paths import NoPath

# How long, in robot time, an answer to a goal may take, and how old a velocity may be that is passed on.
ANSWER_S = 3.0
VELOCITY_S = 0.3


@dataclass(frozen=True)
class DriveOutcome:
    """How the other stack ended a goal."""

    status: MotionStatus
    reason: str = ""


class DriveServer(Protocol):
    """The other stack. One goal at a time; a newer `send` replaces it."""

    def send(self, goal: SE2) -> None:
        """Begin to drive to a pose of `map`."""
        ...

    def cancel(self) -> None:
        """Drive no further."""
        ...

    @property
    def is_accepted(self) -> bool:
        """Whether the goal that was sent is being driven to."""
        ...

    @property
    def outcome(self) -> DriveOutcome | None:
        """How it ended, None while it runs."""
        ...

    @property
    def remaining_m(self) -> float | None:
        """What is left of the path, None as long as nobody said."""
        ...

    def velocity(self, now_s: float, age_s: float) -> Velocity | None:
        """What the stack wants of the base, None when it said nothing within `age_s`."""
        ...


def status_of_nav2(code: int) -> MotionStatus:
    """Status of an error code of Nav2's servers: 1xx is of the controller, 2xx of the planner."""
    for status, known in NAV2_CODES.items():
        if known == code:
            return status
    return MotionStatus.BLOCKED_NO_PATH if 200 <= code < 300 else MotionStatus.BLOCKED_NO_PROGRESS


class DelegatedDrive:
    """One drive by a `DriveServer`, whose velocities it passes on."""

    needs_odometry = True
    needs_map = False

    def __init__(
        self, choose: GoalChooser, target: tuple[float, float], robot: RobotDescription, server: DriveServer
    ) -> None:
        self._choose = choose
        self._target = target
        self._vx_max = robot.limits.vx_max
        head = head_of(robot)
        self._pitch = None if head is None else head.drive_rad
        self._server = server
        self._sent_s: float | None = None
        self.planned_m = 0.0

    def begin(self, now_s: float, pose: SE2, costmap: GridMap) -> NoPath | None:
        """Choose the goal and send it; why that is impossible, else None."""
        goal = self._choose(costmap, pose)
        if isinstance(goal, NoPath):
            return goal
        self._send(now_s, pose, goal)
        return None

    def step(self, inputs: NavigatorInputs) -> TaskStep:
        """One tick."""
        if self._sent_s is None:
            if inputs.costmap is None:
                return TaskStep(camera_pitch=self._pitch)
            refused = self.begin(inputs.now_s, inputs.pose, inputs.costmap)
            if refused is not None:
                return TaskStep(status=refused.status, reason=refused.reason)
        assert self._sent_s is not None
        ended = self._server.outcome
        if ended is not None:
            return TaskStep(status=ended.status, reason=ended.reason, camera_pitch=self._pitch)
        if not self._server.is_accepted:
            if inputs.now_s - self._sent_s > ANSWER_S:
                reason = f"the navigation server did not take the goal within {ANSWER_S:g} s"
                return TaskStep(status=MotionStatus.UNSUPPORTED, reason=reason)
            return TaskStep(camera_pitch=self._pitch)
        if self.planned_m == 0.0:
            self.planned_m = self._server.remaining_m or 0.0
        return TaskStep(self._server.velocity(inputs.now_s, VELOCITY_S) or STOP, camera_pitch=self._pitch)

    def end(self) -> None:
        """The motion is over, however it ended."""
        if self._sent_s is not None and self._server.outcome is None:
            self._server.cancel()

    def pause(self) -> None:
        """The base was commanded to rest; the stack is not told, and finds it out by itself."""

    def distance_to_target(self, inputs: NavigatorInputs) -> float | None:
        """Metres from the base to the target."""
        return inputs.pose.distance_to(*self._target)

    def expected_s(self) -> float:
        """Duration of what is left at full speed."""
        return (self._server.remaining_m or 0.0) / self._vx_max

    def _send(self, now_s: float, pose: SE2, goal: DriveGoal) -> None:
        """Where the heading is free, the one in which the goal is seen from here."""
        yaw = math.atan2(goal.y - pose.y, goal.x - pose.x) if goal.yaw is None else goal.yaw
        self._sent_s = now_s
        self._server.send(SE2(goal.x, goal.y, yaw))
