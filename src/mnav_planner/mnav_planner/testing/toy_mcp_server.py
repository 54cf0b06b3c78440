"""The tools of a toy robot over stdio: `python -m mnav_planner.testing.toy_mcp_server [CATEGORY X Y]...`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio

from mnav_planner.supernav.access import Access
from mnav_planner.supernav.catalogue import DEFAULT_TOOLS, ToolName
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import ServedRobot, SessionHost
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.mcp_transports import serve_stdio
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.testing.toy_robot import Post, ToyRobot, ToyService


def main(words: Sequence[str]) -> int:
    """Serve until the client goes away."""
    groups = [words[i : i + 3] for i in range(0, len(words) - 2, 3)]
    posts = [Post(f"post{i}", group[0], float(group[1]), float(group[2])) for i, group in enumerate(groups)]
    robot, desk = ToyRobot(posts), Desk()
    goals = [f"find the {post.category}" for post in posts[:1]]
    host = SessionHost([ServedRobot("toy", robot.robot, desk)], goals)
    policy = SessionPolicy(allowed=DEFAULT_TOOLS | {ToolName.DETECTIONS})
    with ToyService(robot, desk):
        anyio.run(serve_stdio, McpTools(host), Access("stdio", policy))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
