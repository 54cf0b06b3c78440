"""The tools over MCP, by the official SDK's client: over stdio and HTTP, who may call what, what stops the robot."""

from __future__ import annotations

import base64
import json
import math
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

import httpx2
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from mnav_core.geometry import SE2
from mnav_planner.supernav.access import Access
from mnav_planner.supernav.catalogue import DEFAULT_TOOLS, Configuration, ToolName
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import HostLimits, ServedRobot, SessionHost
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.mcp_transports import HttpAddress, bound_socket, http_server
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.testing.toy_robot import TICK_S, Post, ToyRobot, ToyService

TOKEN, OTHER_TOKEN = "t" * 24, "o" * 24
BALL = Post("e1", "ball", -3.0, 1.5)
WITH_DETECTIONS = SessionPolicy(allowed=DEFAULT_TOOLS | {ToolName.DETECTIONS})


class Served:
    """A toy robot behind an HTTP server in threads of this process."""

    def __init__(self, accesses: list[Access], robot: ToyRobot, limits: HostLimits, pace_s: float = 0.0) -> None:
        self.robot, self.desk = robot, Desk()
        self.host = SessionHost([ServedRobot("toy", robot.robot, self.desk)], ["find the ball"], limits=limits)
        self.service = ToyService(robot, self.desk, pace_s=pace_s)
        self.listener = bound_socket(HttpAddress())
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.server: uvicorn.Server = http_server(McpTools(self.host), accesses, HttpAddress(), self.port)


@contextmanager
def served(
    *accesses: Access, robot: ToyRobot | None = None, limits: HostLimits | None = None, pace_s: float = 0.0
) -> Iterator[Served]:
    given = list(accesses) or [Access("operator", WITH_DETECTIONS, TOKEN)]
    it = Served(given, robot or ToyRobot([BALL]), limits or HostLimits(), pace_s)
    thread = threading.Thread(target=it.server.run, args=([it.listener],), daemon=True)
    with it.service:
        thread.start()
        yield it
        it.server.should_exit = True
        thread.join(timeout=10.0)
        assert not thread.is_alive()


@asynccontextmanager
async def client_of(it: Served, token: str = TOKEN, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    sent = {"Authorization": f"Bearer {token}", **headers}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=30.0) as http,
        Client(streamable_http_client(it.url, http_client=http), mode=mode) as client,
    ):
        yield client


def content(result: Any) -> dict[str, Any]:
    """What the text says, which must be what the structured content says."""
    said = json.loads(result.content[0].text)
    assert said == result.structured_content
    return said


async def find_the_ball(client: Client) -> list[str]:
    """Find an object knowing only what the server lists. Returns the statuses on the way."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {name.value for name in DEFAULT_TOOLS | {ToolName.DETECTIONS}}
    assert tools["visual_point_navigate"].input_schema["required"] == ["point"]
    opened = content(await client.call_tool("init_scene", {}))
    goal = opened["nav_goals"]["goals"][0]["description"].removeprefix("find the ")
    statuses = []
    for _ in range(8):
        seen = content(await client.call_tool("detections", {}))["detections"]
        targets = [entry for entry in seen if entry["category"] == goal]
        if not targets:
            statuses.append(content(await client.call_tool("turn", {"direction": "left", "degrees": 90}))["status"])
            continue
        if targets[0]["distance_m"] < 1.0:
            break
        result = await client.call_tool(
            "visual_point_navigate", {"view": targets[0]["view"], "point": targets[0]["point"]}
        )
        statuses.append(content(result)["status"])
        images = [block for block in result.content if block.type == "image"]
        captions = [block.text for block in result.content[1:] if block.type == "text"]
        refs = [entry["image_ref"] for entry in content(result)["panorama_images"]]
        assert len(images) == len(refs) == 4 and all(
            ref in caption for ref, caption in zip(refs, captions, strict=True)
        )
        assert all(base64.b64decode(image.data)[:2] == b"\xff\xd8" for image in images)
        assert len(result.model_dump_json().encode()) <= 300_000
    marked = content(await client.call_tool("nav_goals", {"action": "mark", "target_index": 1}))
    assert marked["found"] == 1
    closed = content(await client.call_tool("close_session", {"outcome": "achieved", "reason": "it is before me"}))
    assert closed["closed"] is True and closed["terminal_claim"] == "achieved"
    return statuses


def test_a_client_that_knows_only_the_listing_finds_an_object_over_http() -> None:
    with served() as it:

        async def run() -> list[str]:
            async with client_of(it) as client:
                return await find_the_ball(client)

        assert anyio.run(run)[-1] == "reached_visual_point"
        assert it.robot.pose.distance_to(BALL.x, BALL.y) < 1.0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_that_knows_only_the_listing_finds_an_object_over_stdio(mode: str) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mnav_planner.testing.toy_mcp_server", "ball", "-3.0", "1.5"],
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    async def run() -> list[str]:
        async with Client(command, mode=mode) as client:
            return await find_the_ball(client)

    assert anyio.run(run)[-1] == "reached_visual_point"


def test_session_belongs_to_the_connection_of_an_older_client() -> None:
    with served() as it:

        async def run() -> list[str]:
            async with client_of(it, mode="legacy") as client:
                return await find_the_ball(client)

        assert anyio.run(run)[-1] == "reached_visual_point"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": "Bearer wrong-token-wrong-token"}, 401, "unauthorized"),
        ({}, 401, "unauthorized"),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "robot.example"}, 421, "foreign_host"),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}, 403, "foreign_origin"),
    ],
)
def test_requests_without_right_are_refused_before_anything_is_read(
    headers: dict[str, str], status: int, code: str
) -> None:
    with served() as it:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"Accept": "application/json, text/event-stream"}
        answer = httpx2.post(it.url, json=body, headers={**accept, **headers})
        assert answer.status_code == status
        error = answer.json()["error"]
        assert error["code"] == code and error["remedy"]


def error_of(result: Any) -> str:
    assert result.is_error
    error = content(result)["error"]
    assert error["message"] and error["remedy"]
    return str(error["code"])


def test_wrong_calls_get_the_right_error_each() -> None:
    with served() as it:

        async def run() -> None:
            async with client_of(it) as client:
                assert error_of(await client.call_tool("panorama", {})) == "session_required"
                with pytest.raises(MCPError) as unknown:
                    await client.call_tool("fly", {})
                assert unknown.value.data["code"] == "unknown_tool"
                with pytest.raises(MCPError) as forbidden:
                    await client.call_tool("frontiers", {})
                assert forbidden.value.data["code"] == "tool_not_allowed"
                opened = content(await client.call_tool("hab_init_scene", {}))
                old = opened["panorama_images"][0]["image_ref"]
                navigate = "visual_point_navigate"
                for point, code in (([1.2, 0.5], "point_out_of_range"), ([0.5], "invalid_arguments")):
                    assert error_of(await client.call_tool(navigate, {"point": point})) == code
                wrong_type = {"point": [0.5, 0.9], "view": "up"}
                assert error_of(await client.call_tool(navigate, wrong_type)) == "invalid_view"
                extra = {"point": [0.5, 0.9], "speed": 9.0}
                assert error_of(await client.call_tool(navigate, extra)) == "invalid_arguments"
                assert (
                    error_of(await client.call_tool("turn", {"direction": "left", "degrees": 15}))
                    == "invalid_arguments"
                )
                assert (
                    error_of(await client.call_tool("turn", {"direction": "left", "degrees": 0})) == "invalid_arguments"
                )
                await client.call_tool("turn", {"direction": "left", "degrees": 10})
                stale = {"point": [0.5, 0.9], "image_ref": old}
                assert error_of(await client.call_tool(navigate, stale)) == "stale_image_ref"
                made_up = {"point": [0.5, 0.9], "image_ref": "cap:99:1.000:front"}
                assert error_of(await client.call_tool(navigate, made_up)) == "invalid_image_ref"
                mark = {"action": "mark", "target_index": 7}
                assert error_of(await client.call_tool("nav_goals", mark)) == "goal_out_of_range"
                other = {"session_id": "0123456789abcdef"}
                assert error_of(await client.call_tool("panorama", other)) == "unknown_session"
                await client.call_tool("close_session", {"outcome": "blocked"})
                assert error_of(await client.call_tool("panorama", {})) == "session_closed"

        anyio.run(run)


def test_a_second_mover_is_refused_with_the_holders_name_and_may_still_look() -> None:
    accesses = (Access("first", WITH_DETECTIONS, TOKEN), Access("second", WITH_DETECTIONS, OTHER_TOKEN))
    with served(*accesses) as it:

        async def run() -> None:
            async with client_of(it) as first, client_of(it, OTHER_TOKEN) as second:
                await first.call_tool("init_scene", {})
                await second.call_tool("init_scene", {})
                await first.call_tool("turn", {"direction": "left"})
                refused = await second.call_tool("turn", {"direction": "left"})
                assert error_of(refused) == "motion_lease_held"
                assert "first" in content(refused)["error"]["message"]
                assert len(content(await second.call_tool("panorama", {}))["panorama_images"]) == 4
                await first.call_tool("close_session", {"outcome": "blocked"})
                assert content(await second.call_tool("turn", {"direction": "left"}))["status"] == "completed"

        anyio.run(run)


def test_one_caller_cannot_use_the_others_session() -> None:
    accesses = (Access("first", WITH_DETECTIONS, TOKEN), Access("second", WITH_DETECTIONS, OTHER_TOKEN))
    with served(*accesses) as it:

        async def run() -> None:
            async with client_of(it) as first, client_of(it, OTHER_TOKEN) as second:
                session_id = content(await first.call_tool("init_scene", {}))["session_id"]
                taken = await second.call_tool("turn", {"direction": "left", "session_id": session_id})
                assert error_of(taken) == "unknown_session"

        anyio.run(run)


def test_a_session_goes_on_over_another_connection_by_its_id() -> None:
    with served() as it:

        async def run() -> None:
            async with client_of(it, mode="legacy") as client:
                session_id = content(await client.call_tool("init_scene", {}))["session_id"]
            async with client_of(it, mode="legacy") as client:
                assert error_of(await client.call_tool("panorama", {})) == "session_required"
                resumed = content(await client.call_tool("init_scene", {"session_id": session_id}))
                assert resumed["resumed"] is True and resumed["session_id"] == session_id
                goals = content(await client.call_tool("nav_goals", {"session_id": session_id}))
                assert goals["total"] == 1

        anyio.run(run)


def test_progress_is_reported_while_the_robot_drives_and_only_grows() -> None:
    robot = ToyRobot([BALL])
    reported: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)

    with served(robot=robot, pace_s=0.06) as it:

        async def run() -> None:
            async with client_of(it) as client:
                await client.call_tool("init_scene", {})
                floor = {"point": [0.5, 0.7], "intent": "pass_through"}
                await client.call_tool("visual_point_navigate", floor, progress_callback=on_progress)

        anyio.run(run)
    assert len(reported) >= 2 and reported == sorted(reported) and reported[-1] > 0.5


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_cancelling_a_call_brings_the_robot_to_rest(mode: str) -> None:
    """Rest within 0.3 s of robot time, 0.1 s of which is the control tick in which the cancellation is seen."""
    robot = ToyRobot([])
    with served(robot=robot, pace_s=0.03) as it:

        async def run() -> float:
            async with client_of(it, mode=mode) as client:
                await client.call_tool("init_scene", {})
                async with anyio.create_task_group() as group:
                    floor = {"point": [0.5, 0.62], "intent": "pass_through"}
                    group.start_soon(client.call_tool, "visual_point_navigate", floor)
                    with anyio.fail_after(10.0):
                        while robot.path_m < 0.2:
                            await anyio.sleep(0.01)
                    group.cancel_scope.cancel()
                cancelled_s = robot.time_s
                with anyio.fail_after(10.0):
                    while not robot.velocity.is_rest:
                        await anyio.sleep(0.005)
                rest_s = robot.time_s - cancelled_s
                after = content(await client.call_tool("localnav_status", {}))
                assert after["status"] == "cancelled" and 0.2 <= after["displacement_m"] < 2.0
                return rest_s

        # Between the client's cancel and its arrival pass some wall milliseconds, ticks of 30 ms here.
        assert anyio.run(run) <= 0.3 + 2 * TICK_S


def test_status_and_stop_are_served_while_a_hop_runs() -> None:
    robot = ToyRobot([])
    with served(robot=robot, pace_s=0.02) as it:

        async def run() -> None:
            async with client_of(it) as client:
                await client.call_tool("init_scene", {})
                replies: list[Any] = []

                async def hop() -> None:
                    replies.append(await client.call_tool("local_navigate", {"point": [0.5, 0.62]}))

                async with anyio.create_task_group() as group:
                    group.start_soon(hop)
                    with anyio.fail_after(10.0):
                        while robot.path_m < 0.2:
                            await anyio.sleep(0.01)
                    running = content(await client.call_tool("localnav_status", {}))
                    assert running["status"] == "running" and running["displacement_m"] > 0.0
                    assert content(await client.call_tool("localnav_stop", {}))["status"] == "stopping"
                ended = content(replies[0])
                assert ended["status"] == "needs_agent" and len(ended["panorama_images"]) == 4
                assert robot.velocity.is_rest

        anyio.run(run)


def test_a_newer_motion_of_the_session_supersedes() -> None:
    robot = ToyRobot([])
    with served(robot=robot, pace_s=0.02) as it:

        async def run() -> None:
            async with client_of(it) as client:
                await client.call_tool("init_scene", {})
                replies: list[Any] = []

                async def drive() -> None:
                    replies.append(await client.call_tool("visual_point_navigate", {"point": [0.5, 0.62]}))

                async with anyio.create_task_group() as group:
                    group.start_soon(drive)
                    with anyio.fail_after(10.0):
                        while robot.path_m < 0.1:
                            await anyio.sleep(0.01)
                    turned = content(await client.call_tool("turn", {"direction": "right", "degrees": 90}))
                assert content(replies[0])["status"] == "superseded" and turned["status"] == "completed"

        anyio.run(run)
        assert math.isclose(robot.pose.yaw, -math.pi / 2, abs_tol=0.02)


def test_a_call_that_lasts_too_long_is_ended_and_the_robot_stands() -> None:
    robot = ToyRobot([], frozen=True)
    policy = SessionPolicy(call_s=2.0)
    with served(Access("operator", policy, TOKEN), robot=robot) as it:

        async def run() -> None:
            async with client_of(it) as client:
                await client.call_tool("init_scene", {})
                assert error_of(await client.call_tool("turn", {"direction": "left"})) == "call_timed_out"
                assert content(await client.call_tool("localnav_status", {}))["status"] == "timed out"

        anyio.run(run)


def test_silent_holder_loses_the_robot_and_silent_session_ends() -> None:
    now = [0.0]
    host = SessionHost(
        [ServedRobot("toy", ToyRobot().robot, Desk())], limits=HostLimits(2, 100.0, 10.0), clock=lambda: now[0]
    )
    from mnav_planner.supernav.hosting import Caller

    first, second = Caller("a"), Caller("b")
    one, two = host.open(first, SessionPolicy()), host.open(second, SessionPolicy())
    assert host.may_move(one) is None
    now[0] = 9.0
    assert host.may_move(two) is not None
    now[0] = 10.5
    assert host.may_move(two) is None and host.holder("toy") == two.session_id
    third = host.open(Caller("c"), SessionPolicy())
    assert third.code.value == "too_many_sessions"
    now[0] = 111.0
    assert host.find(first, one.session_id).code.value == "unknown_session"


def test_front_only_shows_one_image_and_takes_no_view() -> None:
    policy = SessionPolicy(Configuration.FRONT_ONLY)
    with served(Access("operator", policy, TOKEN)) as it:

        async def run() -> None:
            async with client_of(it) as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                assert "panorama" not in tools
                assert set(tools["visual_point_navigate"].input_schema["properties"]) == {
                    "point",
                    "intent",
                    "session_id",
                }
                opened = await client.call_tool("init_scene", {})
                assert [entry["view"] for entry in content(opened)["panorama_images"]] == ["front"]
                aside = {"point": [0.5, 0.9], "view": "left"}
                assert error_of(await client.call_tool("visual_point_navigate", aside)) == "invalid_arguments"
                with pytest.raises(MCPError):
                    await client.call_tool("panorama", {})

        anyio.run(run)


def test_replies_hold_no_pose_no_map_and_nothing_of_an_evaluation() -> None:
    robot = ToyRobot([BALL], pose=SE2(1.2345, -0.6789, 0.3))
    with served(robot=robot) as it:
        texts: list[str] = []

        async def run() -> None:
            async with client_of(it) as client:
                for name, given in (
                    ("init_scene", {}),
                    ("detections", {}),
                    ("turn", {"direction": "left"}),
                    ("visual_point_navigate", {"point": [0.5, 0.8]}),
                    ("localnav_status", {}),
                    ("close_session", {"outcome": "blocked"}),
                ):
                    texts.append((await client.call_tool(name, given)).content[0].text)

        anyio.run(run)
    keys: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            keys.update(value)
            for item in value.values():
                collect(item)
        if isinstance(value, list):
            for item in value:
                collect(item)

    for text in texts:
        collect(json.loads(text))
        assert "1.23" not in text and "0.678" not in text
    forbidden = {"pose", "position", "rotation", "x", "y", "yaw", "map", "score", "metrics", "success"}
    assert not keys & forbidden
