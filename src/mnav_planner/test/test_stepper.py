"""Stepping a mind on a body that reports when it is told to."""

from dataclasses import dataclass, field

from mnav_core.geometry import SE2
from mnav_core.motion import MotionReport, MotionStatus
from mnav_core.requests import (
    Capture,
    GoToPose,
    Mind,
    MotionRequest,
    Note,
    Observation,
    Observe,
    Stop,
    TaskOutcome,
    TaskResult,
    Turn,
    Wait,
    WaitReason,
)
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import DetectionFrame
from mnav_planner.stepper import MindStepper


@dataclass
class ScriptedBody:
    """A body whose clock and reports the test sets."""

    robot: RobotDescription = field(default_factory=lambda: find_robot("cobot_magic"))
    time_s: float = 0.0
    started: list[MotionRequest] = field(default_factory=list)
    reports: dict[int, MotionReport] = field(default_factory=dict)
    stops: int = 0

    def now_s(self) -> float:
        return self.time_s

    def start(self, request: MotionRequest) -> int:
        self.started.append(request)
        return len(self.started)

    def stop(self) -> int:
        self.stops += 1
        return -self.stops

    def report(self, motion_id: int) -> MotionReport | None:
        return self.reports.get(motion_id)

    def begin_capture(self) -> int:
        return 0

    def capture(self, capture_id: int) -> Capture | MotionReport | None:
        return None

    def observe(self) -> Observation:
        return Observation(self.time_s, SE2(0.0, 0.0), 0.0, None)

    def drain_detections(self) -> tuple[DetectionFrame, ...]:
        return ()


def test_a_motion_is_waited_for_and_the_result_stops_the_body() -> None:
    def mind() -> Mind:
        handle = yield GoToPose(1.0, 0.0)
        ended = yield Wait(motion_id=handle.motion_id, until_s=100.0)
        assert ended.reason is WaitReason.MOTION and ended.report.status is MotionStatus.REACHED
        return TaskResult(TaskOutcome.ACHIEVED)

    body = ScriptedBody()
    stepper = MindStepper(mind(), body)
    assert stepper.poll() is None and stepper.poll() is None
    assert body.started == [GoToPose(1.0, 0.0)] and body.stops == 0
    body.reports[1] = MotionReport(1, MotionStatus.REACHED)
    assert stepper.poll() == TaskResult(TaskOutcome.ACHIEVED)
    assert body.stops == 1


def test_a_wait_ends_at_its_time_and_not_before() -> None:
    seen = []

    def mind() -> Mind:
        handle = yield Turn(1.0)
        ended = yield Wait(motion_id=handle.motion_id, until_s=2.0)
        seen.append(ended.reason)
        yield Stop()
        return TaskResult(TaskOutcome.BLOCKED)

    body = ScriptedBody()
    stepper = MindStepper(mind(), body)
    body.time_s = 1.999
    assert stepper.poll() is None
    body.time_s = 2.0
    assert stepper.poll() is not None and seen == [WaitReason.TIME]


def test_a_capture_that_never_comes_is_given_up() -> None:
    def mind() -> Mind:
        observation = yield Observe(capture=True)
        return TaskResult(TaskOutcome.BLOCKED, "none" if observation.capture is None else "some")

    body = ScriptedBody()
    stepper = MindStepper(mind(), body)
    assert stepper.poll() is None
    body.time_s = 60.0
    assert stepper.poll() == TaskResult(TaskOutcome.BLOCKED, "none")


def test_a_mind_that_lets_no_time_pass_is_lost_and_the_body_stopped() -> None:
    def mind() -> Mind:
        while True:
            yield Note("still here")

    body = ScriptedBody()
    result = MindStepper(mind(), body).poll()
    assert result is not None and result.outcome is TaskOutcome.LOST and body.stops == 1


def test_ending_from_outside_closes_the_mind_once() -> None:
    closed = []

    def mind() -> Mind:
        try:
            yield Wait(until_s=1e9)
        finally:
            closed.append(True)
        return TaskResult(TaskOutcome.ACHIEVED)

    body = ScriptedBody()
    stepper = MindStepper(mind(), body)
    stepper.poll()
    assert stepper.end(TaskOutcome.TIMED_OUT, "budget").outcome is TaskOutcome.TIMED_OUT
    assert stepper.end(TaskOutcome.CANCELLED, "again").outcome is TaskOutcome.TIMED_OUT
    assert closed == [True] and body.stops == 1 and stepper.poll().outcome is TaskOutcome.TIMED_OUT
