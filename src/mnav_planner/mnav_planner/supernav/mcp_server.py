"""The tools over the Model Context Protocol: lists them, hands calls to the robot's desk, reports progress, cancels."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from mnav_planner.supernav.access import Access
from mnav_planner.supernav.calls import Call, checked_call
from mnav_planner.supernav.catalogue import ALIAS_PREFIX, Effect, Tool, ToolName, canonical_name, tools_for
from mnav_planner.supernav.desk import Interruption, Ticket
from mnav_planner.supernav.execution import answer_at_once
from mnav_planner.supernav.hosting import Caller, SessionHost, needs_lease
from mnav_planner.supernav.replies import ToolReply, failed
from mnav_planner.supernav.session import ToolSession
from mnav_planner.supernav.statuses import FailureCode, ToolFailure

PROGRESS_S = 1.0
SESSION_FIELD = "session_id"
INSTRUCTIONS = (
    "Drive a robot by its cameras. Call init_scene once, first. Images are labelled front, right, back and left, "
    "relative to the robot's heading; a point is [x, y], each from 0 (left, top) to 1 (right, bottom). Points refer to "
    "the newest images alone. Every call that moves the robot waits for the end of the motion and returns its status "
    "and new images. End with close_session and your own judgement."
)
_SESSION_SCHEMA: Mapping[str, Any] = {
    "type": "string",
    "maxLength": 64,
    "description": "session_id of init_scene; needed only to go on with a session over another connection",
}


@dataclass(frozen=True)
class CallRecord:
    """One call and its answer, for a transcript: wall seconds it took, images left out."""

    session_id: str
    robot_s: float
    wall_s: float
    tool: str
    arguments: Mapping[str, Any]
    reply: Mapping[str, Any]


@dataclass(frozen=True)
class McpTools:
    """The handlers of one server. `on_call` is told of every call once it is answered."""

    host: SessionHost
    version: str = "0.1.0"
    on_call: Callable[[CallRecord], None] = lambda _record: None

    def server(self, access: Access | None = None) -> Server[Any]:
        """A server of these tools. `access` serves one caller alone (stdio); over HTTP each request brings its own."""

        async def on_list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=listed_tools(self.host, access or _access_of(ctx)))

        async def on_call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
            started = time.monotonic()
            session, reply = await self._call(ctx, params, access or _access_of(ctx), _connection_of(ctx, access))
            self._note(session, params, reply, time.monotonic() - started)
            return as_result(reply)

        return Server(
            "mnav",
            version=self.version,
            instructions=INSTRUCTIONS,
            get_tool_input_schema=lambda _name: None,
            on_list_tools=on_list_tools,
            on_call_tool=on_call_tool,
        )

    async def _call(
        self, ctx: Any, params: types.CallToolRequestParams, access: Access, connection: str
    ) -> tuple[ToolSession | None, ToolReply]:
        name = canonical_name(params.name)
        if name is None or name not in access.policy.tools:
            raise _protocol_error(self.host, access, params.name, name)
        given = dict(params.arguments or {})
        session_id = given.pop(SESSION_FIELD, None)
        caller = Caller(access.principal, connection)
        session = self._session(caller, access, name, given, session_id)
        if isinstance(session, ToolFailure):
            return None, failed(name.value, session)
        call = checked_call(session, params.name, given)
        if isinstance(call, ToolFailure):
            session.failures[call.code.value] += 1
            if call.code in (FailureCode.UNKNOWN_TOOL, FailureCode.TOOL_NOT_ALLOWED):
                raise _protocol_error(self.host, access, params.name, name)
            return session, failed(name.value, call)
        if call.tool.effect is Effect.SESSION:
            return session, answer_at_once(session, call)
        if needs_lease(call.tool) and not session.closed and (busy := self.host.may_move(session)) is not None:
            session.failures[busy.code.value] += 1
            return session, failed(name.value, busy)
        return session, await self._carried_out(ctx, session, call)

    def _note(
        self, session: ToolSession | None, params: types.CallToolRequestParams, reply: ToolReply, wall_s: float
    ) -> None:
        session_id, robot_s = ("", 0.0) if session is None else (session.session_id, session.now_s)
        given = dict(params.arguments or {})
        self.on_call(CallRecord(session_id, robot_s, round(wall_s, 3), params.name, given, reply.as_json()))

    def _session(
        self, caller: Caller, access: Access, name: ToolName, given: Mapping[str, Any], session_id: Any
    ) -> ToolSession | ToolFailure:
        if session_id is not None and not isinstance(session_id, str):
            return ToolFailure(FailureCode.INVALID_ARGUMENTS, f"session_id = {session_id!r}: allowed is a string")
        if name is ToolName.INIT_SCENE and session_id is None:
            robot = given.get("robot")
            return self.host.open(caller, access.policy, robot if isinstance(robot, str) else None)
        return self.host.find(caller, session_id)

    async def _carried_out(self, ctx: Any, session: ToolSession, call: Call) -> ToolReply:
        """Hand the call to the robot's thread and wait for it; whatever ends the wait early stops the robot."""
        desk = self.host.desk_of(session)
        loop, done = asyncio.get_running_loop(), asyncio.Event()
        ticket = Ticket(session, call, on_done=lambda: _set(loop, done))
        refusal = desk.submit(ticket)
        if refusal is not None:
            return failed(call.tool.name.value, refusal)
        deadline_s = loop.time() + session.policy.call_s
        try:
            while not done.is_set():
                left_s = deadline_s - loop.time()
                if left_s <= 0.0:
                    desk.cancel(ticket, Interruption.TIMED_OUT)
                with anyio.move_on_after(PROGRESS_S if left_s <= 0.0 else min(PROGRESS_S, left_s)):
                    await done.wait()
                if not done.is_set():
                    await _report_progress(ctx, session)
        finally:
            if not done.is_set():
                desk.cancel(ticket)
        assert ticket.reply is not None
        return ticket.reply


def _set(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    # The server may be gone before the robot has answered.
    if not loop.is_closed():
        loop.call_soon_threadsafe(event.set)


async def _report_progress(ctx: Any, session: ToolSession) -> None:
    """Metres so far, which only grow, as MCP wants it; silent where the caller asked for no progress."""
    hop = session.hop
    if hop is None or hop.ended_s is not None:
        await ctx.session.report_progress(0.0, message="waiting")
        return
    elapsed_s = session.now_s - hop.started_s
    await ctx.session.report_progress(
        round(elapsed_s, 2), message=f"{hop.tool.value}: {hop.travelled_m:.1f} m in {elapsed_s:.0f} s"
    )


def listed_tools(host: SessionHost, access: Access) -> list[types.Tool]:
    """The tools that the right allows on any of the robots."""
    found: dict[ToolName, Tool] = {}
    for served in host.robots:
        for tool in tools_for(access.policy.configuration, access.policy.tools, served.robot):
            found.setdefault(tool.name, tool)
    return [_listed(tool) for tool in found.values()]


def _listed(tool: Tool) -> types.Tool:
    schema = tool.arguments.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    schema["properties"] = {**schema.get("properties", {}), SESSION_FIELD: dict(_SESSION_SCHEMA)}
    hints = types.ToolAnnotations(
        read_only_hint=tool.effect is Effect.READ,
        destructive_hint=False,
        idempotent_hint=tool.effect is not Effect.MOTION,
        open_world_hint=tool.effect is Effect.MOTION,
    )
    return types.Tool(name=tool.name.value, description=tool.description, input_schema=schema, annotations=hints)


def as_result(reply: ToolReply) -> types.CallToolResult:
    """The reply as MCP content: JSON first, then for each image its caption and the image."""
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=reply.text())]
    for image in reply.images:
        content.append(types.TextContent(type="text", text=image.label))
        data = base64.b64encode(image.jpeg).decode("ascii")
        content.append(types.ImageContent(type="image", data=data, mime_type="image/jpeg"))
    return types.CallToolResult(content=content, structured_content=reply.as_json(), is_error=reply.failure is not None)


def _protocol_error(host: SessionHost, access: Access, asked: str, name: ToolName | None) -> MCPError:
    allowed = ", ".join(tool.name for tool in listed_tools(host, access))
    code = FailureCode.UNKNOWN_TOOL if name is None else FailureCode.TOOL_NOT_ALLOWED
    failure = ToolFailure(code, f"tool {asked[:64]!r}: {code.value}, allowed: {allowed} (also with {ALIAS_PREFIX!r})")
    return MCPError(types.INVALID_PARAMS, failure.message, {"code": code.value, "remedy": failure.remedy})


def _access_of(ctx: Any) -> Access:
    """The right that the HTTP guard attached to the request."""
    access = ctx.request.scope.get("mnav_access") if ctx.request is not None else None
    if not isinstance(access, Access):
        raise MCPError(types.INVALID_REQUEST, "the request carries no right", {"code": "unauthorized"})
    return access


def _connection_of(ctx: Any, access: Access | None) -> str:
    if access is not None:
        return "stdio"
    return ctx.request.headers.get("mcp-session-id", "") if ctx.request is not None else ""
