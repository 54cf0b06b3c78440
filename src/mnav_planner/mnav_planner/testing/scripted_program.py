"""An agent program of a few lines that speaks real MCP: `python -m ...scripted_program BEHAVIOUR`.

It finds the server as such programs do, in `.mcp.json` where it was started, and the token in the variable named there.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

BEHAVIOURS = ("find", "give-up", "bad-close", "close-unopened", "no-close", "hang", "crash", "chatty", "escape")


def server_of(file: Path) -> tuple[str, dict[str, str]]:
    """URL and headers, variables filled in."""
    entry = json.loads(file.read_text())["mcpServers"]["mnav"]
    headers = {
        key: re.sub(r"\$\{(\w+)\}", lambda match: os.environ[match.group(1)], value)
        for key, value in entry["headers"].items()
    }
    return entry["url"], headers


async def _act(client: Client, behaviour: str) -> None:
    if behaviour == "close-unopened":
        await client.call_tool("close_session", {"outcome": "achieved"})
        return
    opened = (await client.call_tool("init_scene", {})).structured_content
    goal = opened["nav_goals"]["goals"][0]["description"].removeprefix("find the ")
    if behaviour == "no-close":
        return
    if behaviour == "hang":
        time.sleep(600.0)
    if behaviour == "crash":
        raise RuntimeError("as asked")
    if behaviour == "bad-close":
        await client.call_tool("close_session", {"outcome": "I think that I have found it"})
        return
    if behaviour == "find":
        await _find(client, goal)
    outcome = "blocked" if behaviour == "give-up" else "achieved"
    await client.call_tool("close_session", {"outcome": outcome, "reason": behaviour})


async def _find(client: Client, goal: str) -> None:
    for _ in range(12):
        found: Any = (await client.call_tool("detections", {})).structured_content
        targets = [entry for entry in found["detections"] if entry["category"] == goal]
        if not targets:
            await client.call_tool("turn", {"direction": "left", "degrees": 90})
        elif targets[0]["distance_m"] < 1.1:
            return
        else:
            given = {"image_ref": targets[0]["image_ref"], "point": targets[0]["point"]}
            await client.call_tool("visual_point_navigate", given)


async def _run(behaviour: str) -> None:
    url, headers = server_of(Path(".mcp.json"))
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60.0) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await _act(client, behaviour)


def main(words: list[str]) -> int:
    """Behave as asked."""
    behaviour = words[0]
    if behaviour not in BEHAVIOURS:
        print(f"behaviour {behaviour!r} is unknown, allowed: {', '.join(BEHAVIOURS)}", file=sys.stderr)
        return 2
    if behaviour == "chatty":
        print("x" * 1000)
    if behaviour == "escape":
        print(json.dumps(sorted(os.environ)))
        return 0
    anyio.run(_run, behaviour)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
