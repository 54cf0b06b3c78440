"""What a task may spend."""

from __future__ import annotations

import pytest

from mnav_planner.budget import Budget, Spent, exceeded


@pytest.mark.parametrize(
    ("budget", "spent", "word"),
    [
        (Budget(), Spent(1e9, 1e9, 10**9, 10**9), None),
        (Budget(seconds=10.0), Spent(9.99), None),
        (Budget(seconds=10.0), Spent(10.0), "10 s"),
        (Budget(path_m=5.5), Spent(path_m=6.0), "5.5 m"),
        (Budget(actions=3), Spent(actions=3), "3 actions"),
        (Budget(turns=2), Spent(turns=1), None),
        (Budget(turns=2), Spent(turns=2), "2 turns"),
    ],
)
def test_a_limit_that_is_reached_is_named(budget: Budget, spent: Spent, word: str | None) -> None:
    found = exceeded(spent, budget)
    assert found is None if word is None else found is not None and word in found
