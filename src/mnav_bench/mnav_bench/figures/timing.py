"""How long a call takes: cold, then the median and the 95th percentile of warm runs.

Kernels run in one thread and are timed in that thread's processor time, so that what else the machine does is left out;
what waits for others, or works in threads of its own, is timed by the wall's clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

WARM_RUNS = 20
Clock = Callable[[], float]


@dataclass(frozen=True)
class Timing:
    """Milliseconds of the first call, and of the warm ones in order."""

    cold_ms: float
    warm_ms: tuple[float, ...]

    @property
    def median_ms(self) -> float:
        """Median of the warm calls."""
        return float(np.median(self.warm_ms))

    @property
    def p95_ms(self) -> float:
        """95th percentile of the warm calls."""
        return float(np.percentile(self.warm_ms, 95))

    def __str__(self) -> str:
        return f"median {self.median_ms:.3g} ms, p95 {self.p95_ms:.3g}, cold {self.cold_ms:.3g}"


def time_call(call: Callable[[], object], runs: int = WARM_RUNS, clock: Clock = time.thread_time) -> Timing:
    """Time one cold and `runs` warm calls of the same work."""
    return time_calls([call] * (runs + 1), clock)


def time_calls(calls: Sequence[Callable[[], object]], clock: Clock = time.thread_time) -> Timing:
    """Time each call once; the first is the cold one. Raises ValueError for fewer than two."""
    if len(calls) < 2:
        raise ValueError(f"calls = {len(calls)}, allowed: at least 2, the first is the cold one")
    taken = []
    for call in calls:
        started = clock()
        call()
        taken.append(1e3 * (clock() - started))
    return Timing(taken[0], tuple(taken[1:]))
