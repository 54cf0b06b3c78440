"""Which scores a suite has, and in which groups its episodes fall."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from mnav_bench.multinav.released import COLUMN, ReleasedScore, released_score
from mnav_bench.multinav.scores import EpisodeScore
from mnav_bench.multinav.suite import RUN, SPEC, score_of
from mnav_bench.reports.results import Row
from mnav_bench.statistics import bootstrap_interval, wilson_interval

Value = float | None


@dataclass(frozen=True)
class Metric:
    """A score of an episode. `of` gives None where a value misses; episodes that `counts` refuses are left out.

    `percent`: shown times 100. `rate`: of yes and no. `better`: +1 when more is better, -1 when less is. `top`: the
    largest value, None without a bound.
    """

    name: str
    of: Callable[[Row], Value]
    counts: Callable[[Row], bool] = lambda _row: True
    percent: bool = False
    rate: bool = False
    better: int = 1
    top: float | None = 1.0

    @property
    def scale(self) -> float:
        """From a value to the shown number."""
        return 100.0 if self.percent else 1.0

    @property
    def title(self) -> str:
        """The name with its unit."""
        return f"{self.name} %" if self.percent else self.name

    def shown(self, value: float | None) -> str:
        """A value as text, without sign or unit."""
        if value is None or not math.isfinite(value):
            return "n/a"
        return f"{100.0 * value:.1f}" if self.percent else f"{value:.3f}"


@dataclass(frozen=True)
class Estimate:
    """Mean of `n` episodes with its 95 % interval; None where a value misses or there is no episode."""

    n: int
    mean: Value
    low: Value = None
    high: Value = None


def estimate(metric: Metric, rows: Iterable[Row]) -> Estimate:
    """Wilson's interval for a rate, a bootstrap over episodes for everything else."""
    values = [metric.of(row) for row in rows if metric.counts(row)]
    known = [v for v in values if v is not None]
    if not values or len(known) < len(values):
        return Estimate(len(values), None)
    mean = math.fsum(known) / len(known)
    low, high = wilson_interval(round(sum(known)), len(known)) if metric.rate else bootstrap_interval(known)
    return Estimate(len(known), mean, low, high)


def metrics_of(suite: str) -> tuple[Metric, ...]:
    """The scores of a suite, the most important first."""
    if suite == "multinav":
        return MULTINAV
    return SUPERNAV if suite == "supernav" else PLAIN


def groups_of(suite: str) -> Mapping[str, Callable[[Row], str]]:
    """Ways to split the episodes of a suite, by what they are called; the first one is the suite's own."""
    return GROUPS[suite]


def released_of(row: Row) -> ReleasedScore | None:
    """The released code's scores of a row of `multinav`; None for a row without a record, which it does not count."""
    if row.get("spec") is None or row.get("run") is None:
        return None
    return released_score(SPEC.validate_python(row["spec"]), RUN.validate_python(row["run"]))


def _scored(pick: Callable[[EpisodeScore], float | bool | None]) -> Callable[[Row], Value]:
    def value(row: Row) -> Value:
        found = pick(score_of(row))
        return None if found is None else float(found)

    return value


def _eligible(row: Row) -> bool:
    return score_of(row).eligible


def _required(row: Row) -> bool:
    return _eligible(row) and row["requirement"] == "required"


def _released(pick: Callable[[ReleasedScore], float | bool | None]) -> Callable[[Row], Value]:
    def value(row: Row) -> Value:
        scored = released_of(row)
        found = None if scored is None else pick(scored)
        return None if found is None else float(found)

    return value


def _counted(row: Row) -> bool:
    scored = released_of(row)
    return scored is not None and scored.counted


def _counted_with_isr(row: Row) -> bool:
    scored = released_of(row)
    return scored is not None and scored.counted and scored.isr is not None


PLAIN = (
    Metric("SR", lambda row: float(row["success"]), percent=True, rate=True),
    Metric("SPL", lambda row: float(row["spl"])),
)
SUPERNAV = (
    *PLAIN,
    Metric("goals reached", lambda row: row["reached"] / max(int(row["goals"]), 1), percent=True),
    Metric("tool calls", lambda row: float(row["tool_calls"]), better=-1, top=None),
)
MULTINAV = (
    Metric("SR", _scored(lambda s: s.success), _eligible, percent=True, rate=True),
    Metric("SPL", _scored(lambda s: s.spl), _eligible),
    Metric("ISR", _scored(lambda s: s.isr), _required, percent=True),
    Metric("IP", _scored(lambda s: s.ip), _eligible, percent=True),
    Metric("Cost", _scored(lambda s: s.cost), _eligible, better=-1),
    Metric("complete plan", _scored(lambda s: s.plan_done), _required, percent=True, rate=True),
)
RELEASED_TITLE = COLUMN
RELEASED = (
    Metric("SR", _released(lambda s: s.sr), _counted, percent=True, rate=True),
    Metric("success", _released(lambda s: s.success), _counted, percent=True, rate=True),
    Metric("SPL", _released(lambda s: s.spl), _counted),
    Metric("ISR", _released(lambda s: s.isr), _counted_with_isr, percent=True),
    Metric("IP", _released(lambda s: s.ip), _counted, percent=True),
    Metric("cost m", _released(lambda s: s.cost), _counted, better=-1, top=None),
)
GROUPS: Mapping[str, Mapping[str, Callable[[Row], str]]] = {
    "navtoobj": {"category": lambda row: str(row["category"]), "robot": lambda row: str(row["robot"])},
    "multinav": {
        "split": lambda row: str(row["domain"]),
        "requirement": lambda row: str(row["requirement"]),
        "recipe": lambda row: str(row["recipe"]),
        "task form": lambda row: str(row["task_form"]),
    },
    "supernav": {"kind": lambda row: str(row["kind"]), "goals": lambda row: str(row["goals"])},
}
