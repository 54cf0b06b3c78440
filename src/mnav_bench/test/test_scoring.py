"""The success rule, SPL and attribution, by hand."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnav_bench.scoring import Failure, Verdict, attribute, judge, spl
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, MotionReport, MotionStatus, Velocity
from mnav_core.requests import TaskOutcome


@dataclass(frozen=True)
class FixedTruth:
    """A world that stands still: base at the origin, objects and pixels as told."""

    positions: Mapping[str, tuple[float, float, float]]
    pixels: Mapping[str, int]

    def robot_pose(self, robot: str) -> SE2:
        return SE2(0.0, 0.0, 0.0)

    def robot_velocity(self, robot: str) -> Velocity:
        return STOP

    def object_position(self, object_id: str) -> tuple[float, float, float]:
        return self.positions[object_id]

    def objects_of(self, category: str) -> tuple[str, ...]:
        return tuple(self.positions)

    def visible_pixels(self, robot: str, view: str, object_id: str) -> int:
        return self.pixels[object_id]

    def obstacle_map(self, robot: str, resolution: float = 0.05) -> GridMap:
        raise NotImplementedError


def verdict_of(x: float, pixels: int, outcome: TaskOutcome = TaskOutcome.ACHIEVED) -> Verdict:
    truth = FixedTruth({"mug": (x, 0.0, 0.9)}, {"mug": pixels})
    return judge(truth, "r", "front", ("mug",), 1.5, outcome)


def test_the_distance_is_strictly_below_and_planar() -> None:
    assert verdict_of(1.4999, 1).success
    assert not verdict_of(1.5, 1).success


def test_one_pixel_is_enough_and_none_is_not() -> None:
    assert verdict_of(1.0, 1).success
    assert not verdict_of(1.0, 0).success


def test_running_out_of_budget_is_no_stop_and_giving_up_is_one() -> None:
    assert not verdict_of(1.0, 50, TaskOutcome.TIMED_OUT).success
    assert verdict_of(1.0, 50, TaskOutcome.BLOCKED).success


def test_the_nearest_candidate_is_the_one_that_must_be_seen() -> None:
    truth = FixedTruth({"a": (1.0, 0.0, 0.5), "b": (1.2, 0.0, 0.5)}, {"a": 0, "b": 500})
    verdict = judge(truth, "r", "front", ("b", "a"), 1.5, TaskOutcome.ACHIEVED)
    assert verdict.nearest_id == "a" and not verdict.success


@pytest.mark.parametrize(
    ("success", "reference", "path", "expected"),
    [
        (True, 6.0, 8.0, 0.75),
        (True, 6.0, 5.0, 1.0),
        (False, 6.0, 6.0, 0.0),
        (True, 0.0, 0.0, 1.0),
        (True, 0.0, 2.0, 0.0),
    ],
)
def test_spl_by_hand(success: bool, reference: float, path: float, expected: float) -> None:
    assert spl(success, reference, path) == pytest.approx(expected)


@given(st.booleans(), st.floats(0.0, 100.0), st.floats(0.0, 100.0))
def test_spl_lies_between_zero_and_one(success: bool, reference: float, path: float) -> None:
    assert 0.0 <= spl(success, reference, path) <= 1.0


def blocked() -> MotionReport:
    return MotionReport(1, MotionStatus.BLOCKED_NO_PATH)


@pytest.mark.parametrize(
    ("outcome", "seen", "reports", "expected"),
    [
        (TaskOutcome.LOST, True, (), Failure.CRASH),
        (TaskOutcome.ACHIEVED, True, (), Failure.VERIFICATION),
        (TaskOutcome.TIMED_OUT, False, (), Failure.BUDGET),
        (TaskOutcome.BLOCKED, False, (blocked(),), Failure.NEVER_SEEN),
        (TaskOutcome.BLOCKED, True, (blocked(),), Failure.EXECUTOR),
        (TaskOutcome.BLOCKED, True, (MotionReport(1, MotionStatus.REACHED),), Failure.SEEN_NOT_REACHED),
    ],
)
def test_failures_are_attributed(
    outcome: TaskOutcome, seen: bool, reports: tuple[MotionReport, ...], expected: Failure
) -> None:
    failed = Verdict(False, "mug", 3.0, 0, True)
    assert attribute(failed, outcome, seen, reports) is expected
    assert attribute(Verdict(True, "mug", 1.0, 9, True), outcome, seen, reports) is None
