"""Calls that move the robot over MCP: progress, cancelling, stopping, superseding, time limits."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import Client

from mnav_planner.supernav.access import Access
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.testing.served_toy import BALL, TOKEN, client_of, content, error_of, served
from mnav_planner.testing.toy_robot import TICK_S, ToyRobot


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


@asynccontextmanager
async def under_way(client: Client, tool: str, robot: ToyRobot, metres: float) -> AsyncIterator[list[Any]]:
    """Once a drive by `tool` has come so far; its reply is in the list at the end."""
    replies: list[Any] = []

    async def drive() -> None:
        replies.append(await client.call_tool(tool, {"point": [0.5, 0.62]}))

    async with anyio.create_task_group() as group:
        group.start_soon(drive)
        with anyio.fail_after(10.0):
            while robot.path_m < metres:
                await anyio.sleep(0.01)
        yield replies


def test_status_and_stop_are_served_while_a_hop_runs() -> None:
    robot = ToyRobot([])
    with served(robot=robot, pace_s=0.02) as it:

        async def run() -> None:
            async with client_of(it) as client:
                await client.call_tool("init_scene", {})
                async with under_way(client, "local_navigate", robot, 0.2) as replies:
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
                async with under_way(client, "visual_point_navigate", robot, 0.1) as replies:
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
