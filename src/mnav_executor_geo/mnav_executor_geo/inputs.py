"""What a navigator is given and what it answers, one tick at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, MotionReport, MotionStatus, RobotCommand, Velocity
from mnav_core.requests import Capture
from mnav_core.sensing import Odometry

# A stamp this far ahead means that the clock went back.
_AHEAD_S = 0.1


@dataclass(frozen=True, eq=False)
class NavigatorInputs:
    """What is known at robot time `now_s`: base in `odom` and in `map`, head pitch, newest costmap and capture.

    `known_refs` are the captures that can still be read; `map_stamp_s` says when the costmap was last confirmed.
    """

    now_s: float
    odometry: Odometry | None
    pose: SE2
    camera_pitch: float = 0.0
    costmap: GridMap | None = None
    newest_capture: Capture | None = None
    known_refs: Collection[str] = ()
    map_stamp_s: float | None = None


@dataclass(frozen=True)
class NavigatorStep:
    """What to command in this tick, and the motions that ended since the last."""

    command: RobotCommand
    finished: tuple[MotionReport, ...] = ()


@dataclass(frozen=True)
class TaskStep:
    """One tick of a motion: velocity, head pitch where it matters, and the status once it ends."""

    velocity: Velocity = STOP
    status: MotionStatus = MotionStatus.EN_ROUTE
    reason: str = ""
    camera_pitch: float | None = None


def is_fresh(now_s: float, stamp_s: float | None, age_s: float) -> bool:
    """Whether something stamped `stamp_s` may move the robot at `now_s`: received, recent, not of the future."""
    return stamp_s is not None and -_AHEAD_S <= now_s - stamp_s <= age_s
