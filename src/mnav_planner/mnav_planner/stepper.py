"""Advances one mind on one body as far as it can go without waiting."""

from __future__ import annotations

from collections.abc import Callable

from mnav_core.motion import MotionReport
from mnav_core.requests import (
    AskModel,
    EventKind,
    Mind,
    MotionHandle,
    Note,
    Observation,
    Observe,
    Reply,
    Request,
    Stop,
    TaskOutcome,
    TaskResult,
    Wait,
    WaitReason,
    WaitResult,
)
from mnav_core.seams import Body
from mnav_planner.asking import ModelAsker

MAX_REQUESTS_A_POLL = 256
CAPTURE_TIMEOUT_S = 60.0


class MindStepper:
    """Runs a mind by polling: `poll()` after every tick or event; nothing in it sleeps.

    A mind that makes more than 256 requests without letting time pass is ended as LOST: it would hang its robot.
    """

    def __init__(
        self,
        mind: Mind,
        body: Body,
        on_note: Callable[[float, str], None] = lambda _stamp, _text: None,
        asker: ModelAsker | None = None,
    ) -> None:
        self._mind = mind
        self._body = body
        self._on_note = on_note
        self._asker = asker or ModelAsker(None)
        self._pending: Request | None = None
        self._capture_id = 0
        self._capture_deadline_s = 0.0
        self._started = False
        self.result: TaskResult | None = None

    def poll(self) -> TaskResult | None:
        """Let the mind go on; its result once it has ended, else None."""
        for _ in range(MAX_REQUESTS_A_POLL):
            if self.result is not None:
                return self.result
            if self._pending is None:
                self._advance(None)
                continue
            done, reply = self._answer(self._pending)
            if not done:
                return None
            self._advance(reply)
        return self._finish(TaskResult(TaskOutcome.LOST, f"{MAX_REQUESTS_A_POLL} requests without letting time pass"))

    def end(self, outcome: TaskOutcome, reason: str) -> TaskResult:
        """End the mind from outside (budget, cancel); the body is commanded to rest."""
        return self.result or self._finish(TaskResult(outcome, reason))

    def _finish(self, result: TaskResult) -> TaskResult:
        self._mind.close()
        self._asker.cancel()
        self._body.stop()
        self.result = result
        return result

    def _advance(self, reply: Reply) -> None:
        try:
            self._pending = self._mind.send(reply if self._started else None)
            self._started = True
        except StopIteration as stop:
            self.result = stop.value
            self._asker.cancel()
            self._body.stop()
            return
        if isinstance(self._pending, Observe) and self._pending.capture:
            self._capture_id = self._body.begin_capture()
            self._capture_deadline_s = self._body.now_s() + CAPTURE_TIMEOUT_S
        elif isinstance(self._pending, AskModel):
            self._asker.begin(self._pending, self._body.now_s())

    def _answer(self, request: Request) -> tuple[bool, Reply]:
        if isinstance(request, Wait):
            result = self._wait(request)
            return result is not None, result
        if isinstance(request, Observe):
            return self._observe(request)
        if isinstance(request, Note):
            self._on_note(self._body.now_s(), request.text)
            return True, None
        if isinstance(request, AskModel):
            turn = self._asker.poll(self._body.now_s())
            return turn is not None, turn
        if isinstance(request, Stop):
            return True, MotionHandle(self._body.stop())
        return True, MotionHandle(self._body.start(request))

    def _observe(self, request: Observe) -> tuple[bool, Observation | None]:
        capture = None
        if request.capture:
            taken = self._body.capture(self._capture_id)
            if taken is None and self._body.now_s() < self._capture_deadline_s:
                return False, None
            capture = None if isinstance(taken, MotionReport) else taken
        seen = self._body.observe()
        observation = Observation(
            seen.stamp_s, seen.pose, seen.camera_pitch, seen.maps, self._body.drain_detections(), capture
        )
        return True, observation

    def _wait(self, wait: Wait) -> WaitResult | None:
        now_s = self._body.now_s()
        if wait.motion_id is not None and (report := self._body.report(wait.motion_id)) is not None:
            return WaitResult(WaitReason.MOTION, now_s, report, self._body.drain_detections())
        if EventKind.DETECTION in wait.events:
            frames = self._body.drain_detections()
            if any(frame.detections for frame in frames):
                return WaitResult(WaitReason.EVENT, now_s, None, frames)
        if wait.until_s is not None and now_s >= wait.until_s:
            return WaitResult(WaitReason.TIME, now_s, None, self._body.drain_detections())
        return None
