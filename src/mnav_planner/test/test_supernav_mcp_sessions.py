"""Who a session and a robot belong to, over MCP: connections, callers, the motion lease."""

from __future__ import annotations

import anyio
import pytest

pytest.importorskip("mcp")

from mnav_planner.supernav.access import Access
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import HostLimits, ServedRobot, SessionHost
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.testing.served_toy import (
    OTHER_TOKEN,
    TOKEN,
    WITH_DETECTIONS,
    client_of,
    content,
    error_of,
    find_the_ball,
    served,
)
from mnav_planner.testing.toy_robot import ToyRobot


def test_session_belongs_to_the_connection_of_an_older_client() -> None:
    with served() as it:

        async def run() -> list[str]:
            async with client_of(it, mode="legacy") as client:
                return await find_the_ball(client)

        assert anyio.run(run)[-1] == "reached_visual_point"


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
