"""Velocities, motion statuses and reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mnav_core.geometry import SE2
from mnav_core.interaction import InteractionCause, InteractionEnd, InteractionGoal, InteractionStatus


class MotionGroup(Enum):
    """What a motion status means to whoever asked."""

    REACHED = "reached"
    EN_ROUTE = "en route"
    BLOCKED = "blocked"
    REFUSED = "refused"
    ENDED = "ended"


class MotionStatus(Enum):
    """How a motion stands or ended; the value is the number used in messages."""

    EN_ROUTE = 0
    REACHED = 1
    BLOCKED_NO_PROGRESS = 10
    BLOCKED_NO_PATH = 11
    BLOCKED_STALE_INPUT = 12
    REFUSED_UNKNOWN_IMAGE = 20
    REFUSED_STALE_IMAGE = 21
    REFUSED_OUT_OF_RANGE = 22
    REFUSED_NO_DEPTH = 23
    REFUSED_NO_STANDOFF = 24
    REFUSED_START_LETHAL = 25
    REFUSED_BUSY = 26
    UNSUPPORTED = 27
    CANCELLED = 30
    SUPERSEDED = 31
    TIMED_OUT = 32
    ESTOP = 33

    @property
    def group(self) -> MotionGroup:
        """The group that this status belongs to."""
        if self is MotionStatus.REACHED:
            return MotionGroup.REACHED
        if self is MotionStatus.EN_ROUTE:
            return MotionGroup.EN_ROUTE
        if self.value < 20:
            return MotionGroup.BLOCKED
        return MotionGroup.REFUSED if self.value < 30 else MotionGroup.ENDED

    @property
    def is_terminal(self) -> bool:
        """Whether the motion is over."""
        return self is not MotionStatus.EN_ROUTE


@dataclass(frozen=True)
class Velocity:
    """Commanded or measured base velocity in the base frame: m/s, m/s, rad/s."""

    vx: float = 0.0
    vy: float = 0.0
    wz: float = 0.0

    @property
    def is_rest(self) -> bool:
        """Within the definition of rest: |v| < 0.02 m/s and |w| < 0.05 rad/s."""
        return (self.vx**2 + self.vy**2) ** 0.5 < 0.02 and abs(self.wz) < 0.05


STOP = Velocity()


@dataclass(frozen=True)
class RobotCommand:
    """What drives one robot for one tick: base velocity and the pitch of a tilting head (rad, positive looks down).

    `interact` begins an attempt to open or close; `release` lets go of the part of the attempt that runs.
    """

    velocity: Velocity = STOP
    camera_pitch: float = 0.0
    interact: InteractionGoal | None = None
    release: bool = False


@dataclass(frozen=True)
class MotionReport:
    """The result of a motion. `reason` is for people and is never parsed.

    `interaction` says how an interaction ended, and is there for nothing else.
    """

    motion_id: int
    status: MotionStatus
    reason: str = ""
    planned_m: float = 0.0
    travelled_m: float = 0.0
    distance_to_target_m: float | None = None
    end_pose: SE2 | None = None
    end_s: float = 0.0
    capture_ref: str | None = None
    interaction: InteractionEnd | None = None


_OF_CAUSE = {
    InteractionCause.BAD_GOAL: MotionStatus.REFUSED_OUT_OF_RANGE,
    InteractionCause.UNSUPPORTED: MotionStatus.UNSUPPORTED,
    InteractionCause.NOT_AT_REST: MotionStatus.REFUSED_BUSY,
    InteractionCause.TOO_FAR: MotionStatus.REFUSED_OUT_OF_RANGE,
    InteractionCause.NOT_IN_VIEW: MotionStatus.REFUSED_NO_DEPTH,
    InteractionCause.NO_PART: MotionStatus.REFUSED_NO_DEPTH,
    InteractionCause.TIMED_OUT: MotionStatus.TIMED_OUT,
    InteractionCause.CANCELLED: MotionStatus.CANCELLED,
}


def report_of_interaction(end: InteractionEnd, end_pose: SE2 | None, end_s: float) -> MotionReport:
    """The report of an interaction as of any motion: completed is reached, stalled is blocked, rejected is refused."""
    if end.status is InteractionStatus.COMPLETED:
        status = MotionStatus.REACHED
    else:
        status = _OF_CAUSE.get(end.cause, MotionStatus.BLOCKED_NO_PROGRESS)
    return MotionReport(end.attempt_id, status, end.reason, end_pose=end_pose, end_s=end_s, interaction=end)
