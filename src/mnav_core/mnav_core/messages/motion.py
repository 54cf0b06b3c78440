"""Motion statuses, results and paths."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nav_msgs.msg import Path

from mnav_core import frames
from mnav_core.geometry import SE2
from mnav_core.messages.poses import se2_of_pose2d, to_pose2d, to_pose_stamped
from mnav_core.messages.sensing import header
from mnav_core.messages.stamps import to_seconds, to_time
from mnav_core.motion import MotionReport, MotionStatus
from mnav_interfaces.msg import MotionResult
from mnav_interfaces.msg import MotionStatus as MotionStatusMessage


def to_status(status: MotionStatus) -> MotionStatusMessage:
    """Status message."""
    return MotionStatusMessage(value=status.value)


def to_motion_result(report: MotionReport) -> MotionResult:
    """Result message of a report."""
    distance = report.distance_to_target_m
    return MotionResult(
        status=to_status(report.status),
        reason=report.reason,
        planned_m=float(report.planned_m),
        travelled_m=float(report.travelled_m),
        distance_to_target_m=math.nan if distance is None else float(distance),
        end_pose=to_pose2d(report.end_pose or SE2(math.nan, math.nan, math.nan)),
        end_stamp=to_time(max(0.0, report.end_s)),
        capture_ref=report.capture_ref or "",
    )


def report_of(message: MotionResult, motion_id: int) -> MotionReport:
    """Report of a result message. Raises ValueError for a status that does not exist."""
    distance, pose = message.distance_to_target_m, se2_of_pose2d(message.end_pose)
    return MotionReport(
        motion_id,
        MotionStatus(message.status.value),
        message.reason,
        message.planned_m,
        message.travelled_m,
        None if math.isnan(distance) else distance,
        None if math.isnan(pose.x) else pose,
        to_seconds(message.end_stamp),
        message.capture_ref or None,
    )


def to_path(poses: list[SE2], stamp_s: float) -> Path:
    """Path message in `map`."""
    return Path(header=header(frames.MAP, stamp_s), poses=[to_pose_stamped(p, stamp_s) for p in poses])


@dataclass(frozen=True)
class MotionOptions:
    """What our servers read from `behavior_tree` of a nav2_msgs goal, e.g. "holder:patrol tolerance:0.25"."""

    holder: str
    tolerance_m: float | None = None

    def encode(self) -> str:
        """The text."""
        tolerance = "" if self.tolerance_m is None else f" tolerance:{self.tolerance_m!r}"
        return f"holder:{self.holder}{tolerance}"

    @classmethod
    def decode(cls, text: str, default_holder: str) -> MotionOptions:
        """Options of a text; other words of it are left alone. Raises ValueError for a bad tolerance or holder."""
        found = {"holder": default_holder, "tolerance": ""}
        for word in text.split():
            key, colon, value = word.partition(":")
            if colon and key in found:
                found[key] = value
        if not found["holder"]:
            raise ValueError(f"behavior_tree {text!r}: holder is empty, allowed: a name without blanks")
        if not found["tolerance"]:
            return cls(found["holder"])
        try:
            tolerance_m = float(found["tolerance"])
        except ValueError:
            tolerance_m = math.nan
        if not 0.0 < tolerance_m < math.inf:
            raise ValueError(f"behavior_tree {text!r}: tolerance = {found['tolerance']!r}, allowed: metres above 0")
        return cls(found["holder"], tolerance_m)
