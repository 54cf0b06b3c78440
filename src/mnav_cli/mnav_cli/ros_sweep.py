"""A sweep whose episodes run through the ROS graph, in lockstep; the rows are those of the in-process sweep."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mnav_bench.episodes import EpisodeFile, NavToObjEpisode, write_episodes
from mnav_bench.evaluate import RunOptions, lost_row, mind_seed
from mnav_cli.domains import lease_free_domain
from mnav_cli.ros_episode import EpisodeLost, run_ros_episode
from mnav_core.errors import UsageError
from mnav_planner.agents.registry import AGENTS

WALL_LIMIT_S = 900.0


def run_all_over_ros(suite: EpisodeFile, options: RunOptions, workers: int) -> Iterator[dict[str, Any]]:
    """Rows in the suite's order; each episode gets its own graph in its own domain."""
    if options.agent not in AGENTS:
        raise UsageError(f"agent {options.agent!r} does not run over ROS, allowed: {', '.join(AGENTS)}")
    if options.isolate:
        raise UsageError("--isolate with --ros: over ROS the mind is a process of its own anyway; leave it out")
    with tempfile.TemporaryDirectory(prefix="mnav-ros-") as folder, ThreadPoolExecutor(workers) as pool:
        file = Path(folder) / "episodes.json"
        write_episodes(file, suite)

        def run(numbered: tuple[int, NavToObjEpisode]) -> dict[str, Any]:
            index, episode = numbered
            arguments = {
                "robot": episode.robot,
                "agent": options.agent,
                "seed": str(mind_seed(episode)),
                "episodes": str(file),
                "index": str(index),
                "profile": options.profile,
                "lockstep": "true",
                "real_time_factor": "0",
            }
            said: list[str] = []
            try:
                with lease_free_domain(f"{folder}-{index}") as lease:
                    return run_ros_episode(
                        arguments,
                        Path(folder) / f"verdict-{index}.json",
                        WALL_LIMIT_S,
                        lambda process, line: said.append(f"{process}: {line}"),
                        lease,
                    )
            except EpisodeLost as error:
                return {**lost_row(episode, options, str(error)), "log": said[-40:]}

        yield from pool.map(run, enumerate(suite.episodes))
