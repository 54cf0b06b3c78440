"""Suite `navtoobj`: MolmoSpaces' success rule, SPL, and why an episode failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from mnav_core.motion import MotionGroup, MotionReport
from mnav_core.requests import TaskOutcome
from mnav_core.seams import Truth


class Failure(Enum):
    """What an unsuccessful episode is attributed to."""

    NEVER_SEEN = "never_seen"
    SEEN_NOT_REACHED = "seen_not_reached"
    EXECUTOR = "executor"
    VERIFICATION = "verification"
    BUDGET = "budget"
    CRASH = "crash"


@dataclass(frozen=True)
class Verdict:
    """Success at stop, with what it was decided on."""

    success: bool
    nearest_id: str
    distance_m: float
    visible_pixels: int
    stopped: bool


def judge(
    truth: Truth, robot: str, view: str, target_ids: Sequence[str], distance_m: float, outcome: TaskOutcome
) -> Verdict:
    """MolmoSpaces' rule, at stop.

    The planar distance from the base to the nearest candidate is strictly below `distance_m`, and more than zero pixels
    of that candidate are in the success camera. Running out of budget is no stop.
    """
    pose = truth.robot_pose(robot)
    by_distance = sorted((pose.distance_to(*truth.object_position(i)[:2]), i) for i in target_ids)
    distance, nearest = by_distance[0]
    stopped = outcome in (TaskOutcome.ACHIEVED, TaskOutcome.BLOCKED)
    pixels = truth.visible_pixels(robot, view, nearest)
    return Verdict(stopped and distance < distance_m and pixels > 0, nearest, distance, pixels, stopped)


def spl(success: bool, reference_m: float, path_m: float) -> float:
    """Success weighted by path length; 1 for a success whose reference and path are both zero."""
    if not success:
        return 0.0
    longest = max(reference_m, path_m)
    return 1.0 if longest == 0.0 else reference_m / longest


def attribute(
    verdict: Verdict, outcome: TaskOutcome, target_seen: bool, reports: Sequence[MotionReport]
) -> Failure | None:
    """Why the episode failed; None when it did not."""
    if verdict.success:
        return None
    if outcome is TaskOutcome.LOST:
        return Failure.CRASH
    if outcome is TaskOutcome.ACHIEVED:
        return Failure.VERIFICATION
    if outcome is TaskOutcome.TIMED_OUT:
        return Failure.BUDGET
    if not target_seen:
        return Failure.NEVER_SEEN
    if any(r.status.group in (MotionGroup.BLOCKED, MotionGroup.REFUSED) for r in reports[-3:]):
        return Failure.EXECUTOR
    return Failure.SEEN_NOT_REACHED
