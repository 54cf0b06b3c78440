"""One `multinav` episode, run in this process: a row with everything that an evaluation needs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mnav_bench.assembly import build_body
from mnav_bench.isolation import isolated
from mnav_bench.multinav.eligibility import why_ineligible
from mnav_bench.multinav.episode_files import MultiNavEpisode, MultiNavFile
from mnav_bench.multinav.oracle import oracle_mind
from mnav_bench.multinav.recorded_run import run_record, spec_record
from mnav_bench.multinav.scene import build_scene
from mnav_bench.runner import RobotRun, run_world
from mnav_bench.scoring import judge, spl
from mnav_core.chat import ChatModel
from mnav_core.errors import UsageError
from mnav_core.randomness import derive_seed
from mnav_core.requests import Mind, TaskGoal, TaskOutcome, TaskResult
from mnav_core.robot import RobotDescription
from mnav_models.open_model import BUILTIN, open_model
from mnav_planner.agents.multinav.records import ChoiceCounts
from mnav_planner.agents.registry import AGENTS as MINDS
from mnav_planner.agents.registry import make_mind
from mnav_planner.asking import ModelAsker
from mnav_planner.stepper import MindStepper

AGENTS = (*MINDS, "oracle")
Row = dict[str, Any]
# (agent, goals, robot, seed, whether it asks a model, counts to fill) to a mind.
MindFactory = Callable[[str, Sequence[TaskGoal], RobotDescription, int, bool, ChoiceCounts | None], Mind]


@dataclass(frozen=True)
class MultiNavOptions:
    """Which agent runs with which model, whether in a child process, how its mind is made, oracle steps left out."""

    agent: str
    model: str = BUILTIN
    isolate: bool = False
    make: MindFactory = make_mind
    leave_out: frozenset[str] = frozenset()


def goal_of(episode: MultiNavEpisode) -> TaskGoal:
    """What the agent is told: a category, or the instruction at the episode's level of disclosure."""
    text = f"find the {episode.category.replace('_', ' ')}"
    if episode.disclosure:
        text = next(i.text for i in episode.instructions if i.disclosure == episode.disclosure)
    return TaskGoal("goal", episode.category, text)


def mind_of(
    episode: MultiNavEpisode, robot: RobotDescription, options: MultiNavOptions, counts: ChoiceCounts | None = None
) -> Mind:
    """The mind of one episode. The oracle gets the plan; every other agent gets the goal alone."""
    goal = goal_of(episode)
    if options.agent == "oracle":
        return oracle_mind(goal, episode, robot, options.leave_out)
    if episode.goal_point is not None:
        raise UsageError(f"agent {options.agent!r}: task form 'pointgoal', allowed: objectgoal, instructiongoal")
    seed = derive_seed("mind", episode.id, episode.house_seed)
    if options.isolate:
        return isolated(options.make, options.agent, (goal,), robot, seed, options.model != BUILTIN, None)
    return options.make(options.agent, (goal,), robot, seed, options.model != BUILTIN, counts)


def run_episode(suite: MultiNavFile, episode: MultiNavEpisode, options: MultiNavOptions) -> Row:
    """Run one episode; the row of `episodes.jsonl`. Success is the terminal rule alone, never an interaction."""
    started = time.monotonic()
    world = build_scene(episode)
    model: ChatModel | None = None
    counts = ChoiceCounts()
    try:
        model = open_model(options.model)
        robot = world.robots[episode.robot]
        ineligible = why_ineligible(world, episode)
        body = build_body(robot, holder=options.agent)
        log: list[str] = []
        stepper = MindStepper(
            mind_of(episode, robot, options, counts),
            body,
            lambda stamp, text: log.append(f"{stamp:.1f} {text}"),
            ModelAsker(model),
        )
        run = RobotRun(body, stepper, target_category=episode.category)
        built = time.monotonic()
        run_world(world, {episode.robot: run}, suite.budget_s)
        result = run.result or TaskResult(TaskOutcome.LOST, "the run ended without a result")
        truth = world.truth()
        if episode.goal_point is None:
            verdict = judge(
                truth, episode.robot, episode.success_view, episode.target_ids, suite.distance_m, result.outcome
            )
            success, distance, pixels = verdict.success, verdict.distance_m, verdict.visible_pixels
        else:
            distance, pixels = truth.robot_pose(episode.robot).distance_to(*episode.goal_point), 0
            success = distance < suite.distance_m and result.outcome is TaskOutcome.ACHIEVED
        row = lost_row(episode, options, result.reason)
        row.update(
            success=success,
            outcome=result.outcome.value,
            failure=None if success else result.outcome.value,
            spl=spl(success, episode.reference_m, run.track.path_m),
            path_m=round(run.track.path_m, 4),
            distance_m=round(distance, 4),
            visible_pixels=pixels,
            target_seen=run.target_seen,
            eligible=not ineligible,
            kinematic_completions=truth.kinematic_completions(),
            spec=spec_record(suite, episode, world.house.record, ineligible),
            run=run_record(world, episode, run, result, distance, pixels),
            sim_s=round(run.ended_s, 2) if math.isfinite(run.ended_s) else None,
            build_s=round(built - started, 2),
            wall_s=round(time.monotonic() - started, 2),
            state_hash=world.state_hash(),
            decisions=counts.decisions,
            model_calls=counts.model_calls,
            fallbacks=counts.fallbacks,
            reasons=counts.reasons,
            log=log,
        )
        return row
    finally:
        if model is not None:
            model.close()
        world.close()


def lost_row(episode: MultiNavEpisode, options: MultiNavOptions, reason: str) -> Row:
    """The row of an episode whose worker died or raised: a failure, never left out."""
    return {
        "id": episode.id,
        "agent": options.agent,
        "domain": episode.domain,
        "recipe": episode.recipe,
        "requirement": episode.requirement,
        "task_form": episode.task_form,
        "success": False,
        "outcome": TaskOutcome.LOST.value,
        "reason": reason,
        "failure": "crash",
        "spl": 0.0,
        "path_m": 0.0,
        "reference_m": episode.reference_m,
        "distance_m": None,
        "visible_pixels": 0,
        "target_seen": False,
        "eligible": True,
        "kinematic_completions": 0,
        "sim_s": None,
        "wall_s": None,
        "build_s": None,
        "category": episode.category,
        "robot": episode.robot,
        "state_hash": "",
        "decisions": 0,
        "model_calls": 0,
        "fallbacks": 0,
        "reasons": {},
        "spec": None,
        "run": None,
        "log": [],
    }
