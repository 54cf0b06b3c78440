"""Error codes of nav2_msgs results, to and from our statuses."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mnav_core.motion import MotionStatus

# Codes that Nav2's planner and controller servers use for the same thing; the others have a range of their own.
NAV2_CODES: Mapping[MotionStatus, int] = MappingProxyType(
    {
        MotionStatus.REACHED: 0,
        MotionStatus.BLOCKED_NO_PROGRESS: 105,
        MotionStatus.BLOCKED_NO_PATH: 208,
        MotionStatus.REFUSED_START_LETHAL: 205,
        MotionStatus.REFUSED_OUT_OF_RANGE: 204,
        MotionStatus.TIMED_OUT: 107,
    }
)
OWN_CODES = 9100


def to_error_code(status: MotionStatus) -> int:
    """Error code of a nav2_msgs result: 0 reached, Nav2's own where it has one, else 9100 + status."""
    return NAV2_CODES.get(status, OWN_CODES + status.value)


def status_of_error_code(code: int) -> MotionStatus:
    """Status of a nav2_msgs error code; a code that we do not know is a lack of progress."""
    for status, known in NAV2_CODES.items():
        if known == code:
            return status
    try:
        return MotionStatus(code - OWN_CODES)
    except ValueError:
        return MotionStatus.BLOCKED_NO_PROGRESS
