"""Rows of the result table: overall and by split, of all eligible episodes and of the completed ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mnav_bench.multinav.record import Necessity, Split
from mnav_bench.multinav.scores import EpisodeScore


@dataclass(frozen=True)
class TableRow:
    """Means over the scoring-eligible episodes of a scope; None where the paper makes the aggregate unavailable.

    Rates are shares 0..1. `required` is the denominator of `isr` and `plan_done`.
    """

    scope: str
    episodes: int
    required: int
    ineligible: int
    crashed: int
    successes: int
    sr: float | None
    spl: float | None
    isr: float | None
    ip: float | None
    cost: float | None
    plan_done: float | None
    operation_cost_m: float | None


def table(scores: Iterable[EpisodeScore], completed_only: bool = False) -> tuple[TableRow, ...]:
    """The row of all episodes, then one per split that has some.

    Overall is the mean over episodes, not over splits. Ours: episodes that crashed count as failures, and
    `completed_only` gives the rows without them, which is how the paper counts.
    """
    chosen = [s for s in scores if s.completed or not completed_only]
    rows = [_row("overall", chosen)]
    for split in Split:
        of_split = [s for s in chosen if s.split is split]
        if of_split:
            rows.append(_row(split.value, of_split))
    return tuple(rows)


def _row(scope: str, listed: Sequence[EpisodeScore]) -> TableRow:
    scores = [s for s in listed if s.eligible]
    required = [s for s in scores if s.necessity is Necessity.REQUIRED]
    return TableRow(
        scope=scope,
        episodes=len(scores),
        required=len(required),
        ineligible=len(listed) - len(scores),
        crashed=sum(not s.completed for s in scores),
        successes=sum(s.success for s in scores),
        sr=mean_of(scores, lambda s: float(s.success)),
        spl=mean_of(scores, lambda s: s.spl),
        isr=mean_of(required, lambda s: s.isr),
        ip=mean_of(scores, lambda s: s.ip),
        cost=mean_of(scores, lambda s: s.cost),
        plan_done=mean_of(required, lambda s: None if s.plan_done is None else float(s.plan_done)),
        operation_cost_m=mean_of(scores, lambda s: s.operation_cost_m),
    )


def mean_of(scores: Sequence[EpisodeScore], value: Callable[[EpisodeScore], float | None]) -> float | None:
    """The mean, None without episodes or when one value is missing: a denominator never changes silently."""
    values = [value(s) for s in scores]
    known = [v for v in values if v is not None]
    return math.fsum(known) / len(known) if values and len(known) == len(values) else None
