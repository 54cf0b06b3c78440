"""One episode, run in this process and scored."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

from mnav_bench.assembly import build_body, build_world, world_seed
from mnav_bench.episodes import EpisodeFile, NavToObjEpisode
from mnav_bench.isolation import isolated
from mnav_bench.oracle import oracle_mind
from mnav_bench.rows import crash_row, judged_row
from mnav_bench.runner import RobotRun, run_world
from mnav_core.randomness import derive_seed
from mnav_core.requests import Mind, TaskGoal
from mnav_core.robot import RobotDescription
from mnav_planner.agents.registry import AGENTS as MODEL_FREE_AGENTS
from mnav_planner.agents.registry import make_mind
from mnav_planner.stepper import MindStepper
from mnav_sim_bridge.imperfections import imperfect

AGENTS = (*MODEL_FREE_AGENTS, "oracle")


@dataclass(frozen=True)
class RunOptions:
    """How episodes are run: which agent, whether its mind lives in a child process, and under which profile of
    imperfect sensors and wheels.
    """

    agent: str
    isolate: bool = False
    profile: str = "clean"


def mind_seed(episode: NavToObjEpisode) -> int:
    """What drives the mind's choices by chance, in a sweep and over ROS alike."""
    return derive_seed("mind", episode.id, episode.house_seed)


def mind_of(episode: NavToObjEpisode, robot: RobotDescription, options: RunOptions) -> Mind:
    """The mind of one episode. The oracle gets the reference route; every other agent gets the goal alone."""
    goals = (TaskGoal("goal", episode.category, f"find the {episode.category.replace('_', ' ')}"),)
    if options.agent == "oracle":
        return oracle_mind(goals[0], episode.reference, robot)
    seed = mind_seed(episode)
    if options.isolate:
        return isolated(make_mind, options.agent, goals, robot, seed)
    return make_mind(options.agent, goals, robot, seed)


def run_episode(suite: EpisodeFile, episode: NavToObjEpisode, options: RunOptions) -> dict[str, Any]:
    """Run and score one episode; the row of `episodes.jsonl`."""
    started = time.monotonic()
    world = imperfect(build_world(episode), options.profile, world_seed(episode))
    try:
        robot = world.robots[episode.robot]
        body = build_body(robot, holder=options.agent)
        log: list[str] = []
        stepper = MindStepper(
            mind_of(episode, robot, options), body, lambda stamp, text: log.append(f"{stamp:.1f} {text}")
        )
        run = RobotRun(body, stepper, target_category=episode.category)
        built = time.monotonic()
        run_world(world, {episode.robot: run}, suite.budget_s)
        row = judged_row(
            world,
            suite,
            episode,
            options.agent,
            run.result,
            run.track.path_m,
            run.target_seen,
            body.reports(),
        )
        return {
            **row,
            "sim_s": round(run.ended_s, 2) if math.isfinite(run.ended_s) else None,
            "wall_s": round(time.monotonic() - started, 2),
            "build_s": round(built - started, 2),
            "log": log,
        }
    finally:
        world.close()


def lost_row(episode: NavToObjEpisode, options: RunOptions, reason: str) -> dict[str, Any]:
    """The row of an episode whose worker died or raised."""
    return crash_row(episode, options.agent, reason)
