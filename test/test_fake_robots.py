"""Whole systems against fake robots: processes, physics, vendor messages; the task of the demo ends with a verdict."""

from __future__ import annotations

import json
import math
import socket
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("unitree_api")

from mnav_bench.episodes import EpisodeFile, Pose, write_episodes
from mnav_bench.navtoobj import demo_episode
from mnav_cli.domains import lease_free_domain
from mnav_cli.ros_episode import run_ros_episode
from mnav_core.robot import find_robot

pytestmark = [pytest.mark.sim, pytest.mark.slow]

# Enough to look around, see the target and drive up to it.
BUDGET_S = 80.0


def near_its_target(suite: EpisodeFile) -> EpisodeFile:
    """The same episode, begun where the oracle would end, with the target to the left of the robot."""
    episode = suite.episodes[0]
    end = episode.reference.pose
    start = Pose(x=end.x, y=end.y, yaw=math.remainder(end.yaw - math.pi / 2.0, 2.0 * math.pi))
    near = episode.model_copy(update={"start": start})
    return suite.model_copy(update={"episodes": (near,), "budget_s": BUDGET_S})


@pytest.mark.parametrize("kind", ["go2", "go1", "cobot_magic"])
def test_the_demo_task_through_vendor_messages(kind: str, tmp_path: Path) -> None:
    suite = near_its_target(demo_episode(3, find_robot(kind), None))
    write_episodes(tmp_path / "episode.json", suite)
    arguments = {"episodes": str(tmp_path / "episode.json")}
    if kind == "go1":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            arguments["address"] = f"127.0.0.1:{probe.getsockname()[1]}"
    said: list[str] = []
    with lease_free_domain(str(tmp_path)) as lease:
        row = run_ros_episode(
            arguments,
            tmp_path / "verdict.json",
            200.0,
            lambda process, line: said.append(f"{process}: {line}"),
            lease,
            f"fake_{kind}",
        )
    # Whether a low camera ends up with the target in view is the agent's affair; the way there is the drivers'.
    assert row["outcome"] in ("achieved", "timed_out"), json.dumps(row) + "\n".join(said[-30:])
    assert row["target_seen"] and row["distance_m"] < 3.0 and row["first_motion_s"] < 15.0, json.dumps(row)
    # Values that nobody has measured are said at every start.
    assert any(line.startswith("driver:") and "measure before driving" in line for line in said)
    assert any("the LiDAR's mount is as its robot file says" in line for line in said)
