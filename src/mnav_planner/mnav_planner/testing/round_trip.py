"""How much longer a call of the tools takes than the SDK's own server needs to send the same reply.

`python -m mnav_planner.testing.round_trip [CALLS]` prints the medians. The image's encoding and the robot are left out:
the robot gives a capture at once, and the time that encoding it takes is measured beside and taken off.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import httpx2
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from mnav_planner.supernav.access import Access
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import ServedRobot, SessionHost
from mnav_planner.supernav.http_service import HttpService
from mnav_planner.supernav.labelled_images import ImageChoice, labelled_images
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.mcp_transports import HttpAddress, bound_socket
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.testing.echo_server import echo_server
from mnav_planner.testing.toy_robot import StillRobot, ToyService

TOKEN = "m" * 32
TOOLS = ("nav_goals", "panorama")


@dataclass(frozen=True)
class RoundTrip:
    """Medians in milliseconds of one tool over one transport; `added_ms` is what the tools add."""

    transport: str
    tool: str
    reply_bytes: int
    tool_ms: float
    echo_ms: float
    encoding_ms: float

    @property
    def added_ms(self) -> float:
        """Beyond the echo and the encoding of the images."""
        return self.tool_ms - self.echo_ms - self.encoding_ms


async def _timed(client: Client, tool: str, calls: int) -> tuple[float, Any]:
    result = await client.call_tool(tool, {})
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        result = await client.call_tool(tool, {})
        times.append(1000.0 * (time.perf_counter() - started))
    return median(times), result


def encoding_ms(calls: int) -> float:
    """Median time to encode the images of one reply."""
    robot = StillRobot()
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        labelled_images(robot.still, robot.robot, ImageChoice())
        times.append(1000.0 * (time.perf_counter() - started))
    return median(times)


@contextmanager
def _served_http(result: Any) -> Iterator[str]:
    listener = bound_socket(HttpAddress())
    port = listener.getsockname()[1]
    app = echo_server(result).streamable_http_app(host="127.0.0.1")
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join(timeout=10.0)


async def _over_http(url: str, tool: str, calls: int, opens: bool) -> tuple[float, Any]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30.0) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        if opens:
            await client.call_tool("init_scene", {})
        return await _timed(client, tool, calls)


async def _over_stdio(module: str, words: list[str], tool: str, calls: int, opens: bool) -> tuple[float, Any]:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", module, *words], env={"PYTHONPATH": ":".join(sys.path)}
    )
    async with Client(command) as client:
        if opens:
            await client.call_tool("init_scene", {})
        return await _timed(client, tool, calls)


def over_http(tool: str, calls: int) -> RoundTrip:
    """Measure one tool over HTTP."""
    robot, desk = StillRobot(), Desk()
    host = SessionHost([ServedRobot("still", robot.robot, desk)], ["find the mug"])
    with ToyService(robot, desk), HttpService(McpTools(host), [Access("m", SessionPolicy(), TOKEN)]) as service:
        tool_ms, result = anyio.run(_over_http, service.url, tool, calls, True)
    with _served_http(result) as url:
        echo_ms, _ = anyio.run(_over_http, url, "echo", calls, False)
    return _row("http", tool, tool_ms, echo_ms, result, calls)


def over_stdio(tool: str, calls: int) -> RoundTrip:
    """Measure one tool over stdio."""
    tool_ms, result = anyio.run(_over_stdio, "mnav_planner.testing.still_mcp_server", [], tool, calls, True)
    with tempfile.TemporaryDirectory(prefix="mnav-echo-") as folder:
        file = Path(folder) / "result.json"
        file.write_text(result.model_dump_json(by_alias=True, exclude_none=True))
        echo_ms, _ = anyio.run(_over_stdio, "mnav_planner.testing.echo_server", [str(file)], "echo", calls, False)
    return _row("stdio", tool, tool_ms, echo_ms, result, calls)


def _row(transport: str, tool: str, tool_ms: float, echo_ms: float, result: Any, calls: int) -> RoundTrip:
    size = len(result.model_dump_json(by_alias=True, exclude_none=True))
    spent = encoding_ms(calls) if tool == "panorama" else 0.0
    return RoundTrip(transport, tool, size, round(tool_ms, 3), round(echo_ms, 3), round(spent, 3))


def main(words: list[str]) -> int:
    """Print every row."""
    calls = int(words[0]) if words else 100
    for tool in TOOLS:
        for measure in (over_stdio, over_http):
            row = measure(tool, calls)
            print(json.dumps({**asdict(row), "added_ms": round(row.added_ms, 3)}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
