"""Rates and means with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a rate, in 0..1; (nan, nan) without trials."""
    if n == 0:
        return (math.nan, math.nan)
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    p = successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (max(0.0, middle - half), min(1.0, middle + half))


def bootstrap_interval(values: Sequence[float], seed: int = 0, draws: int = 2000) -> tuple[float, float]:
    """Percentile bootstrap interval (95 %) of the mean; (nan, nan) without values."""
    if not values:
        return (math.nan, math.nan)
    data = np.asarray(values, float)
    rng = np.random.default_rng(seed)
    means = data[rng.integers(0, data.size, (draws, data.size))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return (float(low), float(high))
