"""How long the robot of a simulated house takes to rest after a client cancels a call.

`python -m mnav_bench.supernav.cancel_check [CANCELS] [HOUSE] [ROBOT]` prints one JSON object. Rest is the true velocity
below 0.02 m/s and 0.05 rad/s. The time is robot time from the control tick in which the cancellation has arrived: a
house that is simulated faster than real time must not count the wire's milliseconds as robot time.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mnav_bench.supernav.placing import house_with_robots
from mnav_bench.supernav.serving import WorldService
from mnav_core.motion import Velocity
from mnav_core.robot import find_robot
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame
from mnav_planner.supernav.access import Access
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import ServedRobot, SessionHost
from mnav_planner.supernav.http_service import HttpService
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.session import SessionPolicy

TOKEN = "c" * 32
READY_S = 120.0
WAIT_S = 30.0
MOVING = 0.05


@dataclass
class _Speedometer:
    """True velocity by tick, for the check alone."""

    world: World | None = None
    samples: list[tuple[float, Velocity]] = field(default_factory=list)

    def note(self, robot: str, _frame: SensorFrame, now_s: float) -> None:
        """One tick."""
        assert self.world is not None
        self.samples.append((now_s, self.world.truth().robot_velocity(robot)))

    @property
    def moves(self) -> bool:
        """Whether the robot moved in the last tick."""
        return bool(self.samples) and abs(self.samples[-1][1].wz) > MOVING


def rest_after(samples: list[tuple[float, Velocity]], cancelled_s: float) -> float:
    """Robot seconds from `cancelled_s` until the robot rests and stays at rest."""
    later = [(stamp, velocity) for stamp, velocity in samples if stamp >= cancelled_s]
    moving = [stamp for stamp, velocity in later if not velocity.is_rest]
    if not moving:
        return 0.0
    following = [stamp for stamp, _ in later if stamp > moving[-1]]
    return round((following[0] if following else moving[-1]) - cancelled_s, 3)


async def _cancel_once(client: Client, host: SessionHost, speed: _Speedometer, number: int) -> float:
    given = {"direction": "left" if number % 2 else "right", "degrees": 180}
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "turn", given)
        with anyio.fail_after(WAIT_S):
            while not speed.moves:
                await anyio.sleep(0.002)
        group.cancel_scope.cancel()
    with anyio.fail_after(WAIT_S):
        while True:
            status = (await client.call_tool("localnav_status", {})).structured_content["status"]
            if status != "running" and speed.samples[-1][1].is_rest:
                break
            await anyio.sleep(0.01)
    hop = host.sessions()[-1].hop
    assert hop is not None and hop.ended_s is not None
    return rest_after(speed.samples, hop.ended_s)


def check(cancels: int, house: int, robot_name: str) -> dict[str, Any]:
    """Cancel a turn `cancels` times; the times to rest."""
    robot, desk, speed = find_robot(robot_name), Desk(), _Speedometer()

    def make() -> World:
        speed.world = house_with_robots(house, {robot_name: robot})
        return speed.world

    host = SessionHost([ServedRobot(robot_name, robot, desk)])

    async def run(url: str) -> list[float]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60.0) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            await client.call_tool("init_scene", {})
            return [await _cancel_once(client, host, speed, number) for number in range(cancels)]

    with WorldService(make, {robot_name: desk}, speed.note) as service:
        service.wait_until_ready(READY_S)
        with HttpService(McpTools(host), [Access("check", SessionPolicy(), TOKEN)]) as http:
            times = anyio.run(run, http.url)
    return {"robot": robot_name, "cancels": cancels, "rest_s": times, "slowest_s": max(times)}


def main(words: list[str]) -> int:
    """Print the result; 0 when every rest came within 0.3 s."""
    cancels = int(words[0]) if words else 20
    house = int(words[1]) if len(words) > 1 else 1
    result = check(cancels, house, words[2] if len(words) > 2 else "cobot_magic")
    print(json.dumps(result))
    return 0 if result["slowest_s"] <= 0.3 + 1e-6 else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
