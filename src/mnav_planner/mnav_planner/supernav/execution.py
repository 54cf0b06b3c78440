"""Carries out one call of a tool as requests to a body. Nothing is raised for what a caller does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mnav_core.requests import Observation, Observe, Stop
from mnav_planner.supernav import moving, observing
from mnav_planner.supernav.arguments import CloseSession, GoalAction, NavGoals
from mnav_planner.supernav.calls import Call, checked_call
from mnav_planner.supernav.catalogue import Effect, ToolName
from mnav_planner.supernav.observing import ToolSteps
from mnav_planner.supernav.redaction import redact
from mnav_planner.supernav.replies import ToolReply, failed
from mnav_planner.supernav.session import Claim, ToolSession
from mnav_planner.supernav.statuses import FailureCode, ToolFailure

_LOOKING: Mapping[ToolName, Callable[[ToolSession, str], ToolSteps]] = MappingProxyType(
    {
        ToolName.INIT_SCENE: observing.open_session,
        ToolName.PANORAMA: observing.look_around,
        ToolName.FRONTIERS: observing.list_frontiers,
        ToolName.GRAPH: observing.list_graph,
    }
)
_WITH_ARGUMENTS: Mapping[ToolName, Callable[[ToolSession, str, Any], ToolSteps]] = MappingProxyType(
    {
        ToolName.DETECTIONS: observing.list_detections,
        ToolName.TURN: moving.turn,
        ToolName.LOOK: moving.look,
        ToolName.VISUAL_POINT_NAVIGATE: moving.point_navigate,
        ToolName.LOCAL_NAVIGATE: moving.local_navigate,
        ToolName.VISUAL_GROUND_PREVIEW: moving.ground_preview,
        ToolName.NAVIGATE_TO_POSE: moving.navigate_to_pose,
    }
)


def run_call(session: ToolSession, name: str, raw: Mapping[str, Any] | None) -> ToolSteps:
    """Check and carry out a call; the reply is filtered for what the session may know."""
    call = checked_call(session, name, raw)
    if isinstance(call, ToolFailure):
        session.failures[call.code.value] += 1
        return failed(name, call)
    return (yield from carry_out(session, call))


def carry_out(session: ToolSession, call: Call) -> ToolSteps:
    """Carry out a checked call."""
    tool = call.tool.name
    session.calls[tool] += 1
    failure = _not_now(session, tool)
    if failure is None:
        reply = yield from _steps(session, call)
    else:
        reply = failed(tool.value, failure)
    if reply.failure is not None:
        session.failures[reply.failure.code.value] += 1
    return ToolReply(reply.tool, redact(dict(reply.fields), session.policy.global_task), reply.images, reply.failure)


def answer_at_once(session: ToolSession, call: Call) -> ToolReply:
    """The reply of a tool with effect SESSION: from the session alone, while a motion may be running."""
    tool = call.tool.name
    session.calls[tool] += 1
    failure = _not_now(session, tool)
    if failure is not None:
        session.failures[failure.code.value] += 1
        return failed(tool.value, failure)
    return _from_session(session, call)


def _not_now(session: ToolSession, tool: ToolName) -> ToolFailure | None:
    if session.closed:
        return ToolFailure(FailureCode.SESSION_CLOSED, f"{tool.value}: session {session.session_id} is closed")
    if session.opened_s is None and tool is not ToolName.INIT_SCENE:
        return ToolFailure(FailureCode.SESSION_REQUIRED, f"{tool.value}: the session is not opened yet")
    spent = session.opened_s is not None and session.now_s - session.opened_s > session.policy.run_s
    if spent and tool not in (ToolName.CLOSE_SESSION, ToolName.NAV_GOALS, ToolName.LOCALNAV_STATUS):
        message = f"{tool.value}: the {session.policy.run_s:g} s of the run are spent"
        return ToolFailure(FailureCode.RUN_TIME_SPENT, message)
    return None


def _steps(session: ToolSession, call: Call) -> ToolSteps:
    tool = call.tool.name
    if call.tool.effect is Effect.SESSION:
        return _from_session(session, call)
    if tool is ToolName.CLOSE_SESSION:
        assert isinstance(call.arguments, CloseSession)
        return (yield from _close(session, call.arguments))
    if tool in _LOOKING:
        return (yield from _LOOKING[tool](session, tool.value))
    return (yield from _WITH_ARGUMENTS[tool](session, tool.value, call.arguments))


def _from_session(session: ToolSession, call: Call) -> ToolReply:
    tool = call.tool.name
    if tool is ToolName.NAV_GOALS:
        assert isinstance(call.arguments, NavGoals)
        if call.arguments.action is GoalAction.MARK:
            failure = session.goals.mark(call.arguments.target_index, session.now_s)
            if failure is not None:
                return failed(tool.value, failure)
        return ToolReply(tool.value, session.goals.as_fields())
    if tool is ToolName.LOCALNAV_STOP:
        running = session.hop is not None and session.hop.ended_s is None
        session.stop_asked = running
        return ToolReply(tool.value, {"status": "stopping" if running else "idle"})
    if session.hop is None:
        return ToolReply(tool.value, {"status": "idle"})
    return ToolReply(tool.value, session.hop.as_fields(session.now_s))


def _close(session: ToolSession, given: CloseSession) -> ToolSteps:
    yield Stop()
    now = yield Observe()
    assert isinstance(now, Observation)
    session.now_s = now.stamp_s
    session.claim = Claim(given.outcome, given.reason, now.stamp_s)
    fields = {
        "closed": True,
        "terminal_claim": given.outcome.value,
        "found": len(session.goals.marked_s),
        "total": len(session.goals.descriptions),
        "tool_calls": session.tool_calls,
    }
    return ToolReply(ToolName.CLOSE_SESSION.value, fields)
