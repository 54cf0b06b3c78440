"""A toy robot behind the real HTTP server in threads of this process, and clients of it, for tests."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mnav_planner.supernav.access import Access
from mnav_planner.supernav.catalogue import DEFAULT_TOOLS, ToolName
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import HostLimits, ServedRobot, SessionHost
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.mcp_transports import HttpAddress, bound_socket, http_server
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.testing.toy_robot import Post, ToyRobot, ToyService

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
    """A served toy robot; without accesses one operator, without a robot one that has a ball to find."""
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
    """A client of the official SDK with that token; `headers` go with each of its requests."""
    sent = {"Authorization": f"Bearer {token}", **headers}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=30.0) as http,
        Client(streamable_http_client(it.url, http_client=http), mode=mode) as client,
    ):
        yield client


def content(result: Any) -> dict[str, Any]:
    """What the text says, which must be what the structured content says."""
    said: dict[str, Any] = json.loads(result.content[0].text)
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


def error_of(result: Any) -> str:
    """The code of a failure, which has a message and a remedy."""
    assert result.is_error
    error = content(result)["error"]
    assert error["message"] and error["remedy"]
    return str(error["code"])
