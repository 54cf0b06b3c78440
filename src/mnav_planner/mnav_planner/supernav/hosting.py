"""Sessions of many callers on many robots: who may move which robot, and how long a silent caller keeps it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mnav_core.robot import RobotDescription
from mnav_planner.supernav.catalogue import Configuration, Effect, Tool
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.goals import goal_records
from mnav_planner.supernav.grounding import DetectionGrounder
from mnav_planner.supernav.session import SessionPolicy, ToolSession
from mnav_planner.supernav.statuses import FailureCode, ToolFailure


@dataclass(frozen=True)
class HostLimits:
    """How many sessions, after how many wall seconds of silence one ends, and after how many it loses the robot."""

    max_sessions: int = 16
    session_idle_s: float = 1800.0
    lease_idle_s: float = 120.0


@dataclass(frozen=True)
class ServedRobot:
    """One robot and the desk at which its mind takes calls."""

    name: str
    robot: RobotDescription
    desk: Desk


@dataclass(frozen=True)
class Caller:
    """Who calls: by which right, and on which connection (empty where the transport has none)."""

    principal: str
    connection: str = ""


@dataclass
class _Entry:
    caller: Caller
    session: ToolSession
    used_s: float


@dataclass
class SessionHost:
    """Opens, finds and ends sessions. Safe to use from any thread."""

    robots: Sequence[ServedRobot]
    goals: Sequence[str] = ()
    ordered: bool = True
    limits: HostLimits = HostLimits()
    clock: Callable[[], float] = time.monotonic
    _entries: dict[str, _Entry] = field(default_factory=dict)
    _holders: dict[str, str] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def open(self, caller: Caller, policy: SessionPolicy, robot: str | None = None) -> ToolSession | ToolFailure:
        """The caller's session on a robot: a new one, or the one that its connection already has."""
        with self._lock:
            self._expire()
            entry = self._of_connection(caller)
            if entry is not None and not entry.session.closed:
                if robot is not None and robot != entry.session.robot_name:
                    return ToolFailure(
                        FailureCode.UNKNOWN_ROBOT, f"robot {robot!r}: this session drives {entry.session.robot_name!r}"
                    )
                return entry.session
            served = self._robot(robot)
            if isinstance(served, ToolFailure):
                return served
            if sum(not entry.session.closed for entry in self._entries.values()) >= self.limits.max_sessions:
                return ToolFailure(FailureCode.TOO_MANY_SESSIONS, f"{self.limits.max_sessions} sessions are open")
            session = ToolSession(
                secrets.token_hex(8),
                served.name,
                served.robot,
                policy,
                goal_records(self.goals, self.ordered),
                grounder=DetectionGrounder() if policy.configuration is Configuration.GROUNDING else None,
            )
            self._entries[session.session_id] = _Entry(caller, session, self.clock())
            return session

    def find(self, caller: Caller, session_id: str | None) -> ToolSession | ToolFailure:
        """The session that a call belongs to: the one it names, its connection's, or the caller's only open one."""
        with self._lock:
            self._expire()
            entry = self._named(caller, session_id) if session_id is not None else self._implied(caller)
            if isinstance(entry, ToolFailure):
                return entry
            entry.used_s = self.clock()
            return entry.session

    def desk_of(self, session: ToolSession) -> Desk:
        """The desk of the session's robot."""
        return next(served.desk for served in self.robots if served.name == session.robot_name)

    def may_move(self, session: ToolSession) -> ToolFailure | None:
        """Give the robot's lease to the session, or say who holds it."""
        with self._lock:
            now_s = self.clock()
            holder = self._holders.get(session.robot_name)
            entry = self._entries.get(holder) if holder is not None else None
            if entry is not None and entry.session is not session and not entry.session.closed:
                busy = self.desk_of(session).active_session == holder
                if busy or now_s - entry.used_s < self.limits.lease_idle_s:
                    name = f"{entry.caller.principal}, session {holder}"
                    message = f"robot {session.robot_name!r} is moved by {name}"
                    return ToolFailure(FailureCode.MOTION_LEASE_HELD, message)
            self._holders[session.robot_name] = session.session_id
            return None

    def holder(self, robot: str) -> str | None:
        """The session that holds the robot's lease."""
        with self._lock:
            return self._holders.get(robot)

    def sessions(self) -> tuple[ToolSession, ...]:
        """All sessions that are kept, oldest first."""
        with self._lock:
            return tuple(entry.session for entry in self._entries.values())

    def close(self) -> None:
        """End every desk."""
        for served in self.robots:
            served.desk.close()

    def _robot(self, name: str | None) -> ServedRobot | ToolFailure:
        by_name: Mapping[str, ServedRobot] = {served.name: served for served in self.robots}
        if name is None and len(by_name) == 1:
            return next(iter(by_name.values()))
        if name is None or name not in by_name:
            shown = "missing" if name is None else repr(name)
            return ToolFailure(FailureCode.UNKNOWN_ROBOT, f"robot is {shown}, allowed: {', '.join(sorted(by_name))}")
        return by_name[name]

    def _of_connection(self, caller: Caller) -> _Entry | None:
        if not caller.connection:
            return None
        return next((entry for entry in reversed(self._entries.values()) if entry.caller == caller), None)

    def _named(self, caller: Caller, session_id: str) -> _Entry | ToolFailure:
        entry = self._entries.get(session_id)
        # Another caller's session is answered like one that does not exist: ids are not to be probed.
        if entry is None or entry.caller.principal != caller.principal:
            return ToolFailure(FailureCode.UNKNOWN_SESSION, f"session {session_id[:32]!r} is not known")
        return entry

    def _implied(self, caller: Caller) -> _Entry | ToolFailure:
        entry = self._of_connection(caller)
        if entry is not None:
            return entry
        own = [entry for entry in self._entries.values() if entry.caller.principal == caller.principal]
        usable = [entry for entry in own if not entry.caller.connection and not entry.session.closed]
        if not caller.connection and len(usable) == 1:
            return usable[0]
        if not caller.connection and len(usable) > 1:
            return ToolFailure(FailureCode.SESSION_REQUIRED, f"{len(usable)} sessions are open, session_id says which")
        if not caller.connection and own and not usable:
            return own[-1]
        return ToolFailure(FailureCode.SESSION_REQUIRED, "no session is open")

    def _expire(self) -> None:
        now_s = self.clock()
        silent = [key for key, entry in self._entries.items() if now_s - entry.used_s > self.limits.session_idle_s]
        for key in silent:
            del self._entries[key]
        for robot, holder in list(self._holders.items()):
            if holder not in self._entries:
                del self._holders[robot]


def needs_lease(tool: Tool) -> bool:
    """Whether the tool moves the robot."""
    return tool.effect is Effect.MOTION
