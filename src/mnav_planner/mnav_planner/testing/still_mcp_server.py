"""The tools of a robot that gives the same images at once, over stdio: for measuring what the tools add."""

from __future__ import annotations

import anyio

from mnav_planner.supernav.access import Access
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import ServedRobot, SessionHost
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.mcp_transports import serve_stdio
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.testing.toy_robot import StillRobot, ToyService


def main() -> int:
    """Serve until the client goes away."""
    robot, desk = StillRobot(), Desk()
    host = SessionHost([ServedRobot("still", robot.robot, desk)], ["find the mug"])
    with ToyService(robot, desk):
        anyio.run(serve_stdio, McpTools(host), Access("stdio", SessionPolicy()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
