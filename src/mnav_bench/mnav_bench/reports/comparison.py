"""Differences between two runs of the same episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mnav_bench.reports.metrics import Metric
from mnav_bench.reports.results import RunResult, shared_episodes


@dataclass(frozen=True)
class Difference:
    """Mean of (a run minus the first one) in the metric's own unit over `n` shared episodes, with its paired 95 %
    interval; on how many it was better and worse.
    """

    metric: Metric
    n: int
    mean: float
    low: float
    high: float
    better: int
    worse: int

    def __str__(self) -> str:
        scale, unit = self.metric.scale, " points" if self.metric.percent else ""
        return (
            f"{self.metric.name} {scale * self.mean:+.3g}{unit}, paired 95 %"
            f" [{scale * self.low:+.3g}, {scale * self.high:+.3g}], n {self.n},"
            f" better on {self.better}, worse on {self.worse}"
        )


def paired_difference(a: Sequence[float], b: Sequence[float], seed: int = 0) -> tuple[float, float, float]:
    """Mean of a - b over the same episodes, with its bootstrap interval (95 %)."""
    difference = np.asarray(a, float) - np.asarray(b, float)
    rng = np.random.default_rng(seed)
    means = difference[rng.integers(0, difference.size, (2000, difference.size))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(difference.mean()), float(low), float(high)


def compare(first: RunResult, other: RunResult, metrics: Sequence[Metric]) -> tuple[Difference, ...]:
    """Other minus first, metric by metric; a metric without a shared episode that counts in both is left out.

    An episode whose value misses in one of the two is left out of that metric.
    """
    shared = [(first.rows[i], other.rows[i]) for i in shared_episodes(first, other)]
    made = []
    for metric in metrics:
        both = [(metric.of(a), metric.of(b)) for a, b in shared if metric.counts(a) and metric.counts(b)]
        pairs = [(a, b) for a, b in both if a is not None and b is not None]
        if not pairs:
            continue
        base, values = [a for a, _ in pairs], [b for _, b in pairs]
        mean, low, high = paired_difference(values, base)
        gains = [(b - a) * metric.better for a, b in pairs]
        made.append(
            Difference(metric, len(pairs), mean, low, high, sum(g > 1e-9 for g in gains), sum(g < -1e-9 for g in gains))
        )
    return tuple(made)
