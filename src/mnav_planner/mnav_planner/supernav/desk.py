"""Where calls from outside wait for the robot's mind: bounded, first come first served, a newer motion supersedes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from mnav_planner.supernav.calls import Call
from mnav_planner.supernav.catalogue import Effect
from mnav_planner.supernav.replies import ToolReply, failed
from mnav_planner.supernav.session import ToolSession
from mnav_planner.supernav.statuses import FailureCode, ToolFailure

MAX_WAITING = 16
MAX_WAITING_A_SESSION = 4


class Interruption(Enum):
    """Why a call ends before its tool does."""

    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    TIMED_OUT = "timed out"
    CLOSING = "closing"


@dataclass(eq=False)
class Ticket:
    """A call on its way. `on_done` runs in the robot's thread, once, after `reply` is set."""

    session: ToolSession
    call: Call
    on_done: Callable[[], None] = lambda: None
    reply: ToolReply | None = None
    interruption: Interruption | None = None
    finished: threading.Event = field(default_factory=threading.Event)

    @property
    def moves(self) -> bool:
        """Whether the call moves the robot."""
        return self.call.tool.effect is Effect.MOTION

    def interrupt(self, why: Interruption) -> None:
        """Ask for an early end; the first reason stays. The robot's thread stops the robot within one control tick."""
        if self.interruption is None:
            self.interruption = why


class Desk:
    """Hands calls of many sessions to one robot's mind. Safe to use from any thread.

    `on_change` is called, by whatever thread changes it, when a call came or was cancelled, and when it closes.
    """

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self.on_change = on_change
        self._changed = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._active: Ticket | None = None
        self._closing = False

    @property
    def closing(self) -> bool:
        """Whether no more calls are taken."""
        return self._closing

    @property
    def has_work(self) -> bool:
        """Whether a call waits or is being carried out."""
        with self._changed:
            return self._active is not None or bool(self._waiting)

    @property
    def is_interrupting(self) -> bool:
        """Whether the call that is being carried out has to end early: its robot must not be driven on for it."""
        active = self._active
        return active is not None and active.interruption is not None

    @property
    def active_session(self) -> str | None:
        """The session whose call is being carried out."""
        active = self._active
        return None if active is None else active.session.session_id

    def submit(self, ticket: Ticket) -> ToolFailure | None:
        """Queue a call; a motion ends the same session's motion that runs. A failure says that there is no room."""
        with self._changed:
            if self._closing:
                name = ticket.session.robot_name
                return ToolFailure(FailureCode.ROBOT_UNAVAILABLE, f"robot {name!r} is shutting down")
            own = sum(waiting.session is ticket.session for waiting in self._waiting)
            if own >= MAX_WAITING_A_SESSION or len(self._waiting) >= MAX_WAITING:
                message = f"{own} calls of this session and {len(self._waiting)} in all are waiting"
                allowed = f"allowed are {MAX_WAITING_A_SESSION} and {MAX_WAITING}"
                return ToolFailure(FailureCode.TOO_MANY_CALLS, f"{message}, {allowed}")
            active = self._active
            ends_motion = ticket.moves or ticket.call.tool.effect is Effect.CLOSE
            if active is not None and active.moves and ends_motion and active.session is ticket.session:
                active.interrupt(Interruption.SUPERSEDED)
            self._waiting.append(ticket)
            self._changed.notify_all()
        self.on_change()
        return None

    def cancel(self, ticket: Ticket, why: Interruption = Interruption.CANCELLED) -> None:
        """End a call early; one that still waits is answered at once."""
        with self._changed:
            ticket.interrupt(why)
            still_waiting = ticket in self._waiting
            if still_waiting:
                self._waiting.remove(ticket)
            self._changed.notify_all()
        self.on_change()
        if still_waiting:
            self._answer(ticket, interrupted_reply(ticket))

    def take(self) -> Ticket | None:
        """The next call, which is then being carried out until `finish`; None where none waits."""
        with self._changed:
            if self._waiting:
                self._active = self._waiting.popleft()
                return self._active
            return None

    def finish(self, ticket: Ticket, reply: ToolReply) -> None:
        """Answer the call that was being carried out."""
        with self._changed:
            if self._active is ticket:
                self._active = None
        self._answer(ticket, reply)

    def wait_for_work(self, timeout_s: float) -> bool:
        """Wait, at most `timeout_s`, until a call is there or the desk closes; whether a call is there."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or bool(self._waiting) or self._active is not None, timeout_s)
            return bool(self._waiting) or self._active is not None

    def close(self) -> None:
        """Take no more calls; those that wait are answered, the one being carried out is ended."""
        with self._changed:
            self._closing = True
            left = list(self._waiting)
            self._waiting.clear()
            if self._active is not None:
                self._active.interrupt(Interruption.CLOSING)
            self._changed.notify_all()
        self.on_change()
        for ticket in left:
            ticket.interrupt(Interruption.CLOSING)
            self._answer(ticket, interrupted_reply(ticket))

    @staticmethod
    def _answer(ticket: Ticket, reply: ToolReply) -> None:
        ticket.reply = reply
        ticket.finished.set()
        ticket.on_done()


def interrupted_reply(ticket: Ticket) -> ToolReply:
    """What an interrupted call answers."""
    name = ticket.call.tool.name.value
    if ticket.interruption is Interruption.SUPERSEDED:
        diagnostics = "a newer motion of this session took over; its reply has the new images"
        return ToolReply(name, {"status": "superseded", "diagnostics": diagnostics})
    if ticket.interruption is Interruption.TIMED_OUT:
        return failed(name, ToolFailure(FailureCode.CALL_TIMED_OUT, f"{name}: no end within the time of a call"))
    if ticket.interruption is Interruption.CLOSING:
        return failed(name, ToolFailure(FailureCode.ROBOT_UNAVAILABLE, f"{name}: the robot's service is shutting down"))
    return failed(name, ToolFailure(FailureCode.CANCELLED, f"{name}: cancelled by the caller"))
