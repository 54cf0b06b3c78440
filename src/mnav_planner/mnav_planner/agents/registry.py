"""Agents by name."""

from __future__ import annotations

from collections.abc import Sequence

from mnav_core.errors import UsageError
from mnav_core.randomness import generator
from mnav_core.requests import Mind, TaskGoal
from mnav_core.robot import RobotDescription
from mnav_planner.agents.exploring import ExplorationSettings
from mnav_planner.agents.frontier import frontier_mind
from mnav_planner.agents.multinav.making import multinav_run
from mnav_planner.agents.multinav.records import ChoiceCounts
from mnav_planner.agents.multinav.settings import Variant

EXPLORERS = ("frontier", "random-frontier")
AGENTS = (*EXPLORERS, *(variant.value for variant in Variant))
# These can have a chat model in place of their chooser.
ASKING = (Variant.FULL.value, Variant.FLAT.value, Variant.PERCEPTION_ONLY.value, Variant.MOMA_LLM.value)


def make_mind(
    agent: str,
    goals: Sequence[TaskGoal],
    robot: RobotDescription,
    seed: int,
    asks_model: bool = False,
    counts: ChoiceCounts | None = None,
) -> Mind:
    """The mind of a named agent for a task; with `asks_model` its chooser asks the chat model that the runner has.

    `counts` is filled as the mind goes on. Raises UsageError for an unknown agent, goals that it cannot take on, or a
    model for an agent that asks none.
    """
    if agent not in AGENTS:
        raise UsageError(f"agent {agent!r} is unknown, allowed: {', '.join(AGENTS)}")
    if len(goals) != 1:
        raise UsageError(f"agent {agent!r} takes 1 goal, got {len(goals)}")
    if asks_model and agent not in ASKING:
        raise UsageError(f"agent {agent!r} asks no model, allowed with a model: {', '.join(ASKING)}")
    rng = generator("agent", agent, seed)
    if agent in EXPLORERS:
        settings = ExplorationSettings(random_choice=agent == "random-frontier")
        return frontier_mind(goals[0], robot, rng, settings)
    run = multinav_run(Variant(agent), goals[0], robot, rng, asks_model=asks_model)
    if counts is not None:
        run.counts = counts
    return run.mind()
