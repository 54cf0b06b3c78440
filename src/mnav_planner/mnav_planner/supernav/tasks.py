"""What the agent is asked to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mnav_core.errors import UsageError


@dataclass(frozen=True)
class NavGoal:
    """One thing to reach: what the person said, and the categories that the detector may call it by (none: unknown)."""

    description: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class NavTask:
    """A request with its goals, in order or not."""

    text: str
    goals: tuple[NavGoal, ...]
    ordered: bool = True


@dataclass(frozen=True)
class LoopBudget:
    """Where the loop ends by itself: decisions, model tokens, robot seconds."""

    turns: int = 400
    tokens: int = 2_000_000
    seconds: float = 3600.0


_LEADS = re.compile(
    r"^(please\s+)?(find|go to|look for|search for|locate)\s+(me\s+)?(the|an|a|my|some)?\s*", re.IGNORECASE
)


def task_from_text(text: str) -> NavTask:
    """The task of a person's words: goals apart by `;` or `then`, each perhaps a category of the detector.

    What cannot be a category is left to a model. Raises UsageError for an empty text.
    """
    parts = [part.strip(" .,!") for part in re.split(r";|\bthen\b", text)]
    goals = []
    for part in (part for part in parts if part):
        name = _LEADS.sub("", part).strip().lower().replace(" ", "_").replace("-", "_")
        goals.append(NavGoal(part, (name,) if re.fullmatch(r"[a-z_]{2,40}", name) else ()))
    if not goals:
        raise UsageError(f"task {text!r} is empty, allowed: what to find, goals apart by ';'")
    return NavTask(text, tuple(goals))
