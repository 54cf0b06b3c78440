"""Agents by name."""

from __future__ import annotations

from collections.abc import Sequence

from mnav_core.errors import UsageError
from mnav_core.randomness import generator
from mnav_core.requests import Mind, TaskGoal
from mnav_core.robot import RobotDescription
from mnav_planner.agents.exploring import ExplorationSettings
from mnav_planner.agents.frontier import frontier_mind

AGENTS = ("frontier", "random-frontier")


def make_mind(agent: str, goals: Sequence[TaskGoal], robot: RobotDescription, seed: int) -> Mind:
    """The mind of a named agent for a task. Raises UsageError for an unknown agent or goals that it cannot take on."""
    if agent not in AGENTS:
        raise UsageError(f"agent {agent!r} is unknown, allowed: {', '.join(AGENTS)}")
    if len(goals) != 1:
        raise UsageError(f"agent {agent!r} takes 1 goal, got {len(goals)}")
    settings = ExplorationSettings(random_choice=agent == "random-frontier")
    return frontier_mind(goals[0], robot, generator("agent", agent, seed), settings)
