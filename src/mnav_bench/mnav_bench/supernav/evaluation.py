"""One task of the suite, run in this process and scored."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnav_bench.assembly import build_body
from mnav_bench.geodesic import inflate
from mnav_bench.reference import MARGIN_M
from mnav_bench.runner import RobotRun, run_world
from mnav_bench.supernav.distances import GridDistances, Point
from mnav_bench.supernav.hops import Hop, hops_of
from mnav_bench.supernav.run_recording import RunRecorder
from mnav_bench.supernav.saved_positions import saved_positions
from mnav_bench.supernav.scoring import Progress, demand, ordered, single, spl
from mnav_bench.supernav.task_files import SuperNavFile, SuperNavTask
from mnav_bench.supernav.variants import Variant, score_variant
from mnav_core.chat import ChatModel
from mnav_core.geometry import SE2
from mnav_core.randomness import derive_seed
from mnav_core.requests import TaskOutcome, TaskResult
from mnav_core.robot import RobotDescription, find_robot
from mnav_models.open_model import open_model
from mnav_planner.asking import ModelAsker, Thinking
from mnav_planner.stepper import MindStepper
from mnav_planner.supernav.agent import AgentRun
from mnav_planner.supernav.catalogue import Configuration
from mnav_planner.supernav.choosers import Decision, LoopCounts
from mnav_planner.supernav.making import BUILTIN, agent_run
from mnav_planner.supernav.replies import ToolReply
from mnav_planner.supernav.tasks import LoopBudget, NavGoal, NavTask
from mnav_sim_bridge.house.generate import rebuild_house
from mnav_sim_bridge.world import MujocoWorld, make_world


@dataclass(frozen=True)
class SuiteOptions:
    """How tasks are run: model (builtin or URL#name), tool design, success rule, thinking, the loop's limits."""

    model: str = BUILTIN
    configuration: Configuration = Configuration.FULL
    variant: Variant = Variant.PAPER
    thinking: Thinking = Thinking.PAUSED
    budget: LoopBudget = field(default_factory=LoopBudget)
    record: Path | None = None


def world_of(task: SuperNavTask) -> MujocoWorld:
    """The world of a task, reset. Raises UsageError when its house is no longer the one that was generated."""
    robot = find_robot(task.robot)
    house = rebuild_house(task.house_seed, task.house_sub_seed, xml_sha256=task.scene_hash)
    start = SE2(task.start.x, task.start.y, task.start.yaw)
    return make_world(house, {task.robot: (robot, start)}, seed=derive_seed("world", task.id, task.house_seed))


def nav_task(task: SuperNavTask) -> NavTask:
    """What the agent is told: descriptions, and what the detector calls the things; nothing of where they are."""
    return NavTask(task.text, tuple(NavGoal(goal.description, goal.categories) for goal in task.goals))


def distances_of(world: MujocoWorld, robot: RobotDescription) -> GridDistances:
    """Distances on the true map as the world stands, for the evaluation alone."""
    grid = world.truth().obstacle_map(robot.name)
    return GridDistances(grid, inflate(grid, robot.inscribed_radius + MARGIN_M))


def progress_of(
    task: SuperNavTask, kind: str, saved: Sequence[Point], stopped: bool, distances: GridDistances
) -> Progress:
    """How far the task got by the paper's rule of its kind."""
    if kind == "demand":
        return demand(saved, [goal.as_boxes() for goal in task.goals], stopped)
    if kind == "single":
        return single(saved, task.goals[0].viewpoints, stopped, distances)
    return ordered(saved, [goal.viewpoints for goal in task.goals], stopped, distances)


def run_task(suite: SuperNavFile, task: SuperNavTask, options: SuiteOptions) -> dict[str, Any]:
    """Run and score one task; the row of `episodes.jsonl`. The agent's own claim stands beside the score, not in it."""
    started = time.monotonic()
    world = world_of(task)
    model: ChatModel | None = None
    try:
        model = open_model(options.model)
        robot = world.robots[task.robot]
        distances = distances_of(world, robot)
        transcript: list[dict[str, Any]] = []
        run = agent_run(nav_task(task), robot, task.robot, options.configuration, model, options.budget)
        body = build_body(robot, holder="supernav")
        recorder = None if options.record is None else _recorder(options.record / task.id, task, options)

        def on_step(decision: Decision, reply: ToolReply) -> None:
            transcript.append(_step(decision, reply, run))
            if recorder is not None:
                recorder.note_step(decision, reply, run.session.now_s)

        def on_tick(_now_s: float) -> None:
            if recorder is not None:
                recorder.note_state(body.observe())

        run.on_step = on_step
        stepper = MindStepper(run.mind(), body, asker=ModelAsker(model, options.thinking))
        robot_run = RobotRun(body, stepper)
        run_world(world, {task.robot: robot_run}, suite.budget_s, on_tick)
        result = robot_run.result or TaskResult(TaskOutcome.LOST, "the run ended without a result")
        row = scored_row(
            suite.kind, task, options, robot_run.track.poses, robot_run.track.path_m, run.session.closed, distances
        )
        hops = hops_of(transcript)
        if recorder is not None:
            recorder.end(row)
        return {
            **row,
            **_claimed(run, result),
            "hops": [hop.as_fields() for hop in hops],
            "sim_s": round(robot_run.ended_s, 2) if math.isfinite(robot_run.ended_s) else None,
            "wall_s": round(time.monotonic() - started, 2),
            "state_hash": world.state_hash(),
            "transcript": transcript,
        }
    finally:
        if model is not None:
            model.close()
        world.close()


def _recorder(folder: Path, task: SuperNavTask, options: SuiteOptions) -> RunRecorder:
    recorder = RunRecorder(folder)
    goals = [goal.description for goal in task.goals]
    recorder.begin({"id": task.id, "task": task.text, "goals": goals, "robot": task.robot, "agent": options.model})
    return recorder


def scored_row(
    kind: str,
    task: SuperNavTask,
    options: SuiteOptions,
    trajectory: Sequence[SE2],
    path_m: float,
    stopped: bool,
    distances: GridDistances,
) -> dict[str, Any]:
    """What a run is scored by: its true trajectory, its true path length, and whether the session was closed."""
    saved = [(pose.x, pose.y) for pose in saved_positions(trajectory)]
    progress = progress_of(task, kind, saved, stopped, distances)
    success, share = progress.success, spl(progress.success, task.reference_m, path_m)
    final_m = math.nan
    credited = False
    if kind == "single":
        final_m = distances.to_nearest(saved[-1], task.goals[0].viewpoints)
        if options.variant is not Variant.PAPER:
            scored = score_variant(
                options.variant, final_m, stopped, task.reference_m, path_m, task.designated_unreachable
            )
            success, share, credited = scored.success, scored.spl, scored.credited
    return {
        "id": task.id,
        "kind": kind,
        "success": success,
        "spl": share,
        "reached": progress.reached,
        "goals": len(task.goals),
        "stopped": stopped,
        "credited": credited,
        "path_m": round(path_m, 4),
        "reference_m": task.reference_m,
        "final_distance_m": round(final_m, 4) if math.isfinite(final_m) else None,
        "saved": len(saved),
        "robot": task.robot,
    }


def _claimed(run: AgentRun, result: TaskResult) -> dict[str, Any]:
    session = run.session
    return {
        "claim": {
            "outcome": result.outcome.value,
            "reason": result.reason,
            "marked": sorted(index + 1 for index in session.goals.marked_s),
        },
        "tool_calls": session.tool_calls,
        "tool_failures": dict(session.failures),
        **run.counts.as_fields(),
        "turn_calls": sum(count for tool, count in session.calls.items() if tool.value == "turn"),
    }


def _step(decision: Decision, reply: ToolReply, run: AgentRun) -> dict[str, Any]:
    return {
        "at_s": round(run.session.now_s, 2),
        "origin": decision.origin.value,
        "tool": decision.name,
        "arguments": dict(decision.arguments),
        "reply": reply.as_json() if reply.tool not in ("detections", "frontiers") else {"ok": reply.failure is None},
    }


def lost_row(task: SuperNavTask, options: SuiteOptions, reason: str) -> dict[str, Any]:
    """The row of a task whose process died or raised: a failure, never left out."""
    return {
        "id": task.id,
        "kind": "lost",
        "success": False,
        "spl": 0.0,
        "reached": 0,
        "goals": len(task.goals),
        "stopped": False,
        "credited": False,
        "path_m": 0.0,
        "reference_m": task.reference_m,
        "final_distance_m": None,
        "saved": 0,
        "robot": task.robot,
        "claim": {"outcome": TaskOutcome.LOST.value, "reason": reason, "marked": []},
        "tool_calls": 0,
        "tool_failures": {},
        **LoopCounts().as_fields(),
        "turn_calls": 0,
        "hops": [],
        "sim_s": None,
        "wall_s": None,
        "state_hash": "",
        "transcript": [],
    }


def hop_table(rows: Sequence[dict[str, Any]]) -> list[Hop]:
    """Every hop of the rows."""
    return [Hop(**hop) for row in rows for hop in row.get("hops", [])]
