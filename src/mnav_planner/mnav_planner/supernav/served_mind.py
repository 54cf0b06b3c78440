"""The mind whose next request comes from outside: it carries out calls that wait at a desk, and can be interrupted."""

from __future__ import annotations

from collections.abc import Generator

from mnav_core.geometry import SE2
from mnav_core.requests import (
    Mind,
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
from mnav_planner.supernav.desk import Desk, Interruption, Ticket, interrupted_reply
from mnav_planner.supernav.execution import carry_out
from mnav_planner.supernav.replies import ToolReply

SLICE_S = 0.1
IDLE_S = 1e-3


def served_mind(desk: Desk) -> Mind:
    """Carry out calls until the desk closes."""
    while not desk.closing:
        ticket = desk.take()
        if ticket is None:
            now = yield Observe()
            assert isinstance(now, Observation)
            yield Wait(until_s=now.stamp_s + IDLE_S)
            continue
        reply = yield from _carried_out(ticket)
        desk.finish(ticket, reply)
    return TaskResult(TaskOutcome.CANCELLED, "the service was closed")


def _carried_out(ticket: Ticket) -> Generator[Request, Reply, ToolReply]:
    """The tool's own requests, with every wait cut into slices so that an interruption stops the robot at once."""
    steps = carry_out(ticket.session, ticket.call)
    now = yield Observe()
    assert isinstance(now, Observation)
    deadline_s = now.stamp_s + ticket.session.policy.call_s
    watch = _Watch(ticket, deadline_s)
    reply: Reply = None
    started = False
    while True:
        try:
            request = steps.send(reply) if started else next(steps)
        except StopIteration as done:
            answer: ToolReply = done.value
            return answer
        started = True
        if isinstance(request, Wait) and request.motion_id is not None:
            reply = yield from watch.wait(request)
        else:
            reply = yield request
        if ticket.interruption is not None:
            steps.close()
            yield Stop()
            now = yield Observe()
            assert isinstance(now, Observation)
            watch.measure(now)
            watch.end_hop(ticket.interruption)
            return interrupted_reply(ticket)


class _Watch:
    """Waits for a motion in slices, measures it on the way, and ends it when it is asked to."""

    def __init__(self, ticket: Ticket, deadline_s: float) -> None:
        self._ticket = ticket
        self._session = ticket.session
        self._deadline_s = deadline_s
        self._last: SE2 | None = None

    def wait(self, request: Wait) -> Generator[Request, Reply, WaitResult]:
        """As `request`, but no longer than until an interruption or the call's deadline."""
        stopped = False
        while True:
            now = yield Observe()
            assert isinstance(now, Observation)
            self.measure(now)
            until_s = now.stamp_s + SLICE_S
            if request.until_s is not None:
                until_s = min(until_s, request.until_s)
            if self._session.stop_asked and not stopped:
                stopped = True
                self._session.stop_asked = False
                yield Stop()
            result = yield Wait(request.motion_id, request.events, until_s)
            assert isinstance(result, WaitResult)
            self._session.remember(now.detections + result.detections)
            self._session.now_s = result.stamp_s
            over = request.until_s is not None and result.stamp_s >= request.until_s
            if result.reason is not WaitReason.TIME or over:
                return result
            if result.stamp_s >= self._deadline_s:
                self._ticket.interrupt(Interruption.TIMED_OUT)
            if self._ticket.interruption is not None:
                return result

    def end_hop(self, why: Interruption) -> None:
        """Note in the session how its motion ended."""
        hop = self._session.hop
        if hop is not None and hop.ended_s is None:
            hop.ended_s, hop.status = self._session.now_s, why.value

    def measure(self, now: Observation) -> None:
        """Add the way since the last call to the hop that runs."""
        hop = self._session.hop
        if hop is not None and self._last is not None and hop.ended_s is None:
            hop.travelled_m += self._last.distance_to(now.pose.x, now.pose.y)
        self._last = now.pose
        self._session.now_s = now.stamp_s
