"""The tools over MCP, by the official SDK's client: what is listed, found, refused and left out."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

import httpx2
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from mnav_core.geometry import SE2
from mnav_planner.supernav.access import Access
from mnav_planner.supernav.catalogue import Configuration
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.testing.served_toy import (
    BALL,
    TOKEN,
    client_of,
    content,
    error_of,
    find_the_ball,
    served,
)
from mnav_planner.testing.toy_robot import ToyRobot


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
