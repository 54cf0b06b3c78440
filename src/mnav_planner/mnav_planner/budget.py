"""What a task may spend."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Limits of a task: robot seconds, driven metres, motions, turns; 0 means none."""

    seconds: float = 0.0
    path_m: float = 0.0
    actions: int = 0
    turns: int = 0


@dataclass(frozen=True)
class Spent:
    """What a task has spent so far."""

    seconds: float = 0.0
    path_m: float = 0.0
    actions: int = 0
    turns: int = 0


def exceeded(spent: Spent, budget: Budget) -> str | None:
    """Which limit is reached, in words; None while none is."""
    for name, unit in (("seconds", "s"), ("path_m", "m"), ("actions", "actions"), ("turns", "turns")):
        limit = getattr(budget, name)
        if limit and getattr(spent, name) >= limit:
            return f"budget of {limit:g} {unit} spent"
    return None
