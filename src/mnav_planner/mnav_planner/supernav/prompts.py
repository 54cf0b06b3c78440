"""What a model is told before its first turn."""

from __future__ import annotations

from collections.abc import Mapping

from mnav_planner.skills.library import Skill, listing
from mnav_planner.supernav.catalogue import Configuration
from mnav_planner.supernav.tasks import NavTask

_ROLE = """You drive a robot through a building that nobody has shown you, by calling tools one at a time.
You see through its cameras: every reply of a tool has new images, and older images are taken away. Judge for yourself
what you see, decide, and call the next tool; never answer in plain text. The status in a reply is what really happened.
What you want to know later, keep with note_evidence: places inspected, openings not yet tried, candidates, failures.
When every goal is reached, or nothing is left to try, call close_session with your honest judgement."""

_SKILLS = """
Guidance that you can read with read_skill, when it fits:
{listing}
Read global-navigation before your first move."""

_FRONT = """
You have one image, of what is ahead. Turn before you point at anything beside or behind the robot."""

_GROUNDING = """
You do not point: you name what you see, in one view, and the tool finds the place.
Where it shows numbered places, confirm one."""


def system_prompt(configuration: Configuration, skills: Mapping[str, Skill]) -> str:
    """The system prompt of a configuration; without skills: reach the goal and close the session, nothing else."""
    if configuration is Configuration.NO_SKILLS:
        return "Reach the goal with the tools. When you are done, close the session."
    prompt = _ROLE + _SKILLS.format(listing=listing(skills))
    if configuration is Configuration.FRONT_ONLY:
        prompt += _FRONT
    if configuration is Configuration.GROUNDING:
        prompt += _GROUNDING
    return prompt


def skills_for(configuration: Configuration, skills: Mapping[str, Skill]) -> dict[str, Skill]:
    """The skills that a configuration offers."""
    if configuration is Configuration.NO_SKILLS:
        return {}
    hidden = set() if configuration is Configuration.FRONT_ONLY else {"front-only"}
    return {name: skill for name, skill in skills.items() if name not in hidden}


def task_prompt(task: NavTask) -> str:
    """The request, as the person made it."""
    if len(task.goals) < 2:
        return f"Task: {task.text}"
    order = "in this order" if task.ordered else "in any order"
    goals = "\n".join(f"{i}. {goal.description}" for i, goal in enumerate(task.goals, start=1))
    return f"Task: {task.text}\nGoals, {order}:\n{goals}"
