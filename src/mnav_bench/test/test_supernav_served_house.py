"""The tools of a robot in a simulated house, through the commands that people run, each in a process of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from mnav_planner.supernav.builtin import BuiltinChooser
from mnav_planner.supernav.replies import ToolReply
from mnav_planner.supernav.tasks import task_from_text

pytestmark = [pytest.mark.sim, pytest.mark.slow]
PATH = ":".join(sys.path)
ALLOWED = ("--allow", "detections", "--allow", "frontiers")
HOUSE, TASK = "1", "find the book"
MOST_CALLS = 120


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "mnav_cli", *words]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": PATH}


async def drive(client: Client) -> list[Mapping[str, Any]]:
    """A client that decides by what it was listed and what it was replied, and by nothing else."""
    listed = {tool.name for tool in (await client.list_tools()).tools}
    replies: list[Mapping[str, Any]] = [(await client.call_tool("init_scene", {})).structured_content]
    calls = BuiltinChooser(task_from_text(TASK)).episode()
    request = next(calls)
    for _ in range(MOST_CALLS):
        assert request.name in listed
        result = await client.call_tool(request.name, dict(request.arguments))
        assert not result.is_error, result.structured_content
        replies.append(result.structured_content)
        assert len(result.model_dump_json()) <= 300_000
        try:
            request = calls.send(ToolReply(request.name, result.structured_content))
        except StopIteration:
            break
    return replies


def check(replies: list[Mapping[str, Any]]) -> None:
    assert replies[0]["nav_goals"]["goals"][0]["description"] == TASK
    assert replies[-1]["closed"] is True and replies[-1]["terminal_claim"] == "achieved"
    assert sum(reply.get("displacement_m", 0.0) for reply in replies) > 1.0


def test_an_object_is_found_over_stdio() -> None:
    words = command("mcp", "--house", HOUSE, "--task", TASK, *ALLOWED)
    server = StdioServerParameters(command=words[0], args=words[1:], env=environment())

    async def run() -> list[Mapping[str, Any]]:
        async with Client(server, read_timeout_seconds=180.0) as client:
            return await drive(client)

    check(anyio.run(run))


@contextmanager
def served(token_file: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = command("mcp", "--http", str(port), "--house", HOUSE, "--task", TASK, *ALLOWED)
    words += ["--token-file", str(token_file)]
    process = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        deadline_s = time.monotonic() + 120.0
        for line in process.stdout:
            if line.startswith("serving "):
                break
            assert time.monotonic() < deadline_s
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=30.0)


def test_an_object_is_found_over_http_and_nobody_else_gets_in(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    with served(token_file) as url:
        assert token_file.stat().st_mode & 0o777 == 0o600
        refused = httpx2.post(url, json={}, headers={"Authorization": "Bearer no-such-token-at-all"})
        assert refused.status_code == 401

        async def run() -> list[Mapping[str, Any]]:
            headers = {"Authorization": f"Bearer {token_file.read_text().strip()}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=180.0) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                return await drive(client)

        check(anyio.run(run))


def test_cancelling_a_call_brings_the_robot_to_rest() -> None:
    words = [sys.executable, "-m", "mnav_bench.supernav.cancel_check", "4"]
    done = subprocess.run(words, env={**environment(), "MUJOCO_GL": "egl"}, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1])["slowest_s"] <= 0.3


def test_tasks_are_made_and_a_program_is_scored(tmp_path: Path) -> None:
    file, out = tmp_path / "tasks.json", tmp_path / "out"
    gen = command(
        "gen", "supernav", "--kind", "single", "--count", "1", "--seed", "9", "--workers", "1", "--out", str(file)
    )
    assert subprocess.run(gen, env=environment(), timeout=120).returncode == 0
    program = f"env PYTHONPATH={PATH} {sys.executable} -m mnav_planner.testing.scripted_program give-up"
    bench = command(
        "bench", "supernav", "--episodes", str(file), "--program", program, "--run-s", "90", "--out", str(out)
    )
    assert subprocess.run(bench, env=environment(), timeout=200).returncode == 0
    row = json.loads((out / "episodes.jsonl").read_text())
    assert row["claim"]["outcome"] == "blocked" and row["stopped"] and not row["success"]
    assert row["tool_calls"] == 2 and row["path_m"] < 0.05
    calls = (out / "runs" / row["id"] / "calls.jsonl").read_text().splitlines()
    assert json.loads(calls[-1])["reply"]["closed"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bench", "supernav", "--episodes", "none.json", "--out", "x"), "none.json"),
        (("mcp", "--allow", "fly"), "allowed: init_scene"),
        (("mcp", "--http", "0"), "--http"),
        (("mcp", "--system", "no-such-system", "--http", "47111"), "not running"),
        (("agent", "supernav", "--task", " "), "is empty"),
        (("agent", "supernav", "--task", "find it", "--model", "gpt"), "allowed is builtin"),
        (("view", "no-such-run"), "no recording there"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = subprocess.run(
        command(*words),
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_ready_configuration_is_printed() -> None:
    done = subprocess.run(
        command("mcp", "--print-config"), env=environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    for wanted in ("[mcp_servers.mnav]", "startup_timeout_sec = 180", '"mcpServers"', '"type": "local"'):
        assert wanted in done.stdout
