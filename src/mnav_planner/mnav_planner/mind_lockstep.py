"""The mind's stage of a tick in lockstep: poll until nothing more can be done without letting time pass."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from mnav_core.lockstep import TickInputs
from mnav_core.nodes import qos
from mnav_interfaces.msg import TickDone
from mnav_planner.ros_body import RosBody

MAX_ROUNDS = 256


class _Phase(Enum):
    IDLE = 0
    AWAIT_RESULTS = 1
    AWAIT_ACKNOWLEDGEMENTS = 2
    AWAIT_ANSWER = 3


class MindLockstep:
    """Polls when every result and capture of the tick is here; if that asked something of the executor, waits until it
    is acknowledged, asks the executor what has ended, and polls again; else says `tick_done`.
    """

    def __init__(self, node: Any, body: RosBody, poll: Callable[[], None]) -> None:
        self._node = node
        self._body = body
        self._poll = poll
        self._phase = _Phase.IDLE
        self._tick = 0
        self._round = 0
        self._results = 0
        self._captures = 0

    def open(self) -> None:
        """Listen to the executor, and speak."""
        self._node.create_subscription(TickDone, "tick_done", self._on_done, qos.lockstep_qos())
        self._done = self._node.create_publisher(TickDone, "tick_done", qos.lockstep_qos())

    def begin(self, inputs: TickInputs) -> None:
        """Everything of a tick is in the body."""
        self._tick, self._round = inputs.tick, 0
        self._results = inputs.values[TickDone.STAGE_EXECUTOR].count
        self._captures = inputs.values[TickDone.STAGE_MAPPER].count
        self._phase = _Phase.AWAIT_RESULTS
        self.advance()

    def advance(self) -> None:
        """Go on as far as what has come allows; call it whenever the body changed."""
        body = self._body
        if self._phase is _Phase.AWAIT_RESULTS:
            if body.results < self._results or body.captures_held < self._captures:
                return
            before = body.operations
            self._poll()
            if body.operations == before:
                self._phase = _Phase.IDLE
                self._say(TickDone.STAGE_MIND, body.captures_asked)
                return
            self._phase = _Phase.AWAIT_ACKNOWLEDGEMENTS
        if self._phase is _Phase.AWAIT_ACKNOWLEDGEMENTS and body.is_idle:
            self._round += 1
            if self._round > MAX_ROUNDS:
                raise RuntimeError(f"tick {self._tick}: over {MAX_ROUNDS} rounds of requests")
            self._phase = _Phase.AWAIT_ANSWER
            self._say(TickDone.STAGE_REQUESTS, 0)

    def _on_done(self, message: TickDone) -> None:
        if (
            self._phase is _Phase.AWAIT_ANSWER
            and message.stage == TickDone.STAGE_EXECUTOR
            and (message.tick, message.round) == (self._tick, self._round)
        ):
            self._results = message.count
            self._phase = _Phase.AWAIT_RESULTS
            self.advance()

    def _say(self, stage: str, count: int) -> None:
        self._done.publish(TickDone(stage=stage, tick=self._tick, round=self._round, count=count))
