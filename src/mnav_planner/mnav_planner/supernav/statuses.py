"""What a tool can answer: typed statuses of a motion, and failures with a code and a remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from mnav_core.motion import MotionGroup, MotionReport, MotionStatus


class NavStatus(Enum):
    """How a motion asked for by a tool ended; the names of the released interface where it had one."""

    REACHED = "reached_visual_point"
    EN_ROUTE = "en_route_visual_point"
    BLOCKED = "navigation_blocked"
    SELF_CHECK = "self_check_required"
    NO_DEPTH = "no_depth_near_anchor"
    NO_STANDOFF = "no_reachable_point_near_anchor"
    START_BLOCKED = "start_not_free"
    TIMED_OUT = "timeout"
    SUPERSEDED = "superseded"
    STOPPED = "stopped"
    ESTOP = "emergency_stop"
    UNSUPPORTED = "unsupported"
    PREVIEW = "preview_ready"
    NO_CANDIDATE = "no_candidate"


class HopStatus(Enum):
    """How a bounded hop of `local_navigate` ended, in the released tool's words."""

    REACHED = "reached"
    NEEDS_AGENT = "needs_agent"
    TIMEOUT = "timeout"
    BLOCKED = "blocked"


class TurnStatus(Enum):
    """How a turn or a tilt ended."""

    COMPLETED = "completed"
    BLOCKED = "blocked"
    STOPPED = "stopped"
    TIMED_OUT = "timeout"
    ESTOP = "emergency_stop"
    UNSUPPORTED = "unsupported"


class FailureCode(Enum):
    """Why a call was not carried out."""

    UNKNOWN_TOOL = "unknown_tool"
    TOOL_NOT_ALLOWED = "tool_not_allowed"
    INVALID_ARGUMENTS = "invalid_arguments"
    POINT_OUT_OF_RANGE = "point_out_of_range"
    INVALID_VIEW = "invalid_view"
    INVALID_IMAGE_REF = "invalid_image_ref"
    STALE_IMAGE_REF = "stale_image_ref"
    SESSION_REQUIRED = "session_required"
    UNKNOWN_SESSION = "unknown_session"
    SESSION_CLOSED = "session_closed"
    UNKNOWN_ROBOT = "unknown_robot"
    MOTION_LEASE_HELD = "motion_lease_held"
    TOO_MANY_CALLS = "too_many_calls"
    TOO_MANY_SESSIONS = "too_many_sessions"
    CALL_TIMED_OUT = "call_timed_out"
    CANCELLED = "cancelled"
    RUN_TIME_SPENT = "run_time_spent"
    CAPTURE_FAILED = "capture_failed"
    GOAL_OUT_OF_RANGE = "goal_out_of_range"
    UNKNOWN_CANDIDATE = "unknown_candidate"
    ROBOT_UNAVAILABLE = "robot_unavailable"


REMEDIES: Mapping[FailureCode, str] = MappingProxyType(
    {
        FailureCode.UNKNOWN_TOOL: "call one of the listed tools",
        FailureCode.TOOL_NOT_ALLOWED: "call one of the listed tools; this session may not use the others",
        FailureCode.INVALID_ARGUMENTS: "call again with arguments that the tool's input schema allows",
        FailureCode.POINT_OUT_OF_RANGE: "give point as [x, y], each from 0 (left, top) to 1 (right, bottom)",
        FailureCode.INVALID_VIEW: "use a view of the newest images",
        FailureCode.INVALID_IMAGE_REF: "use an image_ref exactly as the newest reply gave it",
        FailureCode.STALE_IMAGE_REF: "choose a point again on an image of the newest reply",
        FailureCode.SESSION_REQUIRED: "call init_scene first, or pass the session_id that it returned",
        FailureCode.UNKNOWN_SESSION: "call init_scene to open a session",
        FailureCode.SESSION_CLOSED: "the session has ended; call init_scene only for a new task",
        FailureCode.UNKNOWN_ROBOT: "use one of the robots that are served",
        FailureCode.MOTION_LEASE_HELD: "wait until the holder closes its session; looking is still possible",
        FailureCode.TOO_MANY_CALLS: "wait for the calls that are under way",
        FailureCode.TOO_MANY_SESSIONS: "close a session first",
        FailureCode.CALL_TIMED_OUT: "the robot has stopped; ask localnav_status, then go on",
        FailureCode.CANCELLED: "the robot has stopped; go on or close the session",
        FailureCode.RUN_TIME_SPENT: "call close_session",
        FailureCode.CAPTURE_FAILED: "call panorama again",
        FailureCode.GOAL_OUT_OF_RANGE: "use an index that nav_goals with action status lists",
        FailureCode.UNKNOWN_CANDIDATE: "ask for a new preview and confirm one of its candidates",
        FailureCode.ROBOT_UNAVAILABLE: "check that the robot's system is running, then call init_scene again",
    }
)


@dataclass(frozen=True)
class ToolFailure:
    """Why a call failed; `message` names the thing, its value and what is allowed."""

    code: FailureCode
    message: str

    @property
    def remedy(self) -> str:
        """What the caller can do about it."""
        return REMEDIES[self.code]


_STATUSES: Mapping[MotionStatus, NavStatus] = MappingProxyType(
    {
        MotionStatus.REACHED: NavStatus.REACHED,
        MotionStatus.EN_ROUTE: NavStatus.EN_ROUTE,
        MotionStatus.BLOCKED_NO_PROGRESS: NavStatus.BLOCKED,
        MotionStatus.BLOCKED_NO_PATH: NavStatus.BLOCKED,
        MotionStatus.BLOCKED_STALE_INPUT: NavStatus.BLOCKED,
        MotionStatus.REFUSED_NO_DEPTH: NavStatus.NO_DEPTH,
        MotionStatus.REFUSED_NO_STANDOFF: NavStatus.NO_STANDOFF,
        MotionStatus.REFUSED_START_LETHAL: NavStatus.START_BLOCKED,
        MotionStatus.UNSUPPORTED: NavStatus.UNSUPPORTED,
        MotionStatus.CANCELLED: NavStatus.STOPPED,
        MotionStatus.SUPERSEDED: NavStatus.SUPERSEDED,
        MotionStatus.TIMED_OUT: NavStatus.TIMED_OUT,
        MotionStatus.ESTOP: NavStatus.ESTOP,
    }
)

# Refusals that are the caller's mistake: errors, where a scene that offers no way is a status.
_CALLERS_MISTAKES: Mapping[MotionStatus, FailureCode] = MappingProxyType(
    {
        MotionStatus.REFUSED_UNKNOWN_IMAGE: FailureCode.INVALID_IMAGE_REF,
        MotionStatus.REFUSED_STALE_IMAGE: FailureCode.STALE_IMAGE_REF,
        MotionStatus.REFUSED_OUT_OF_RANGE: FailureCode.POINT_OUT_OF_RANGE,
        MotionStatus.REFUSED_BUSY: FailureCode.MOTION_LEASE_HELD,
    }
)

# The executor's own reasons may name places of the map, so that the model gets these lines instead.
DIAGNOSTICS: Mapping[MotionStatus, str] = MappingProxyType(
    {
        MotionStatus.REACHED: "the robot stands at the chosen place",
        MotionStatus.EN_ROUTE: "the motion goes on",
        MotionStatus.BLOCKED_NO_PROGRESS: "the robot could not get on although it tried again; choose another point",
        MotionStatus.BLOCKED_NO_PATH: "no free way leads there as far as the sensors know; choose another point",
        MotionStatus.BLOCKED_STALE_INPUT: "sensor data stopped coming, so the robot stopped",
        MotionStatus.REFUSED_NO_DEPTH: "nothing with a known distance lies at the point; choose a point on a surface",
        MotionStatus.REFUSED_NO_STANDOFF: "no free place to stand was found near the point; choose another one",
        MotionStatus.REFUSED_START_LETHAL: "the robot touches something; turn, or choose a point on the free side",
        MotionStatus.REFUSED_UNKNOWN_IMAGE: "the image is not known",
        MotionStatus.REFUSED_STALE_IMAGE: "the image is not of the newest reply",
        MotionStatus.REFUSED_OUT_OF_RANGE: "the point or the angle is out of range",
        MotionStatus.REFUSED_BUSY: "somebody else moves the robot",
        MotionStatus.UNSUPPORTED: "this robot cannot do that",
        MotionStatus.CANCELLED: "the motion was stopped",
        MotionStatus.SUPERSEDED: "a newer motion took over",
        MotionStatus.TIMED_OUT: "the motion took too long and was stopped",
        MotionStatus.ESTOP: "the operator's emergency stop is active",
    }
)


def motion_failure(report: MotionReport) -> ToolFailure | None:
    """The failure that a refused motion is, None where it has a status of its own."""
    code = _CALLERS_MISTAKES.get(report.status)
    if code is None:
        return None
    detail = f": {report.reason}" if report.status is MotionStatus.REFUSED_BUSY and report.reason else ""
    return ToolFailure(code, DIAGNOSTICS[report.status] + detail)


def nav_status(report: MotionReport, least_motion_m: float) -> NavStatus:
    """The status of a motion. A place reached with next to no motion asks the model to check what it chose."""
    if report.status is MotionStatus.REACHED and report.travelled_m < least_motion_m:
        return NavStatus.SELF_CHECK
    return _STATUSES[report.status]


def hop_status(report: MotionReport) -> HopStatus:
    """The status of a bounded hop: what the learned executor's caller acts on."""
    if report.status is MotionStatus.REACHED:
        return HopStatus.REACHED
    if report.status is MotionStatus.TIMED_OUT:
        return HopStatus.TIMEOUT
    return HopStatus.BLOCKED if report.status.group is MotionGroup.BLOCKED else HopStatus.NEEDS_AGENT


def turn_status(report: MotionReport) -> TurnStatus:
    """The status of a turn or a tilt."""
    return {
        MotionStatus.REACHED: TurnStatus.COMPLETED,
        MotionStatus.CANCELLED: TurnStatus.STOPPED,
        MotionStatus.SUPERSEDED: TurnStatus.STOPPED,
        MotionStatus.TIMED_OUT: TurnStatus.TIMED_OUT,
        MotionStatus.ESTOP: TurnStatus.ESTOP,
        MotionStatus.UNSUPPORTED: TurnStatus.UNSUPPORTED,
    }.get(report.status, TurnStatus.BLOCKED)
