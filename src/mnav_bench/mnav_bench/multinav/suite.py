"""Runs an episode file of the suite, scores its rows as the paper does, and sums them up."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from mnav_bench.manifest import manifest
from mnav_bench.multinav.episode_files import MultiNavFile, read_multinav
from mnav_bench.multinav.record import EpisodeRun, EpisodeSpec, Necessity, Split
from mnav_bench.multinav.running import AGENTS, MultiNavOptions, Row, lost_row, run_episode
from mnav_bench.multinav.scores import EpisodeScore, score
from mnav_bench.multinav.tables import TableRow, table
from mnav_bench.row_files import write_rows
from mnav_bench.statistics import bootstrap_interval, wilson_interval
from mnav_bench.sweep import SuiteWork, run_all
from mnav_core.errors import UsageError
from mnav_models.open_model import BUILTIN
from mnav_planner.agents.registry import ASKING

WORK = SuiteWork(run_episode, lost_row)
SCORED = ("success", "spl", "isr", "ip", "cost", "plan_done", "attempts", "errors", "class_attempts")
GROUPS = ("recipe", "requirement", "task_form")
SPEC, RUN = TypeAdapter(EpisodeSpec), TypeAdapter(EpisodeRun)


def bench(
    file: Path,
    options: MultiNavOptions,
    workers: int,
    out: Path,
    on_row: Callable[[int, int, Row], None] = lambda _done, _n, _row: None,
    rows: Callable[[Any, Any, int, SuiteWork], Iterator[Row]] = run_all,
) -> dict[str, Any]:
    """Run an episode file and write `summary.json` and `episodes.jsonl` under `out`; the summary.

    Raises UsageError for an agent, model or number of workers that is not allowed.
    """
    if options.agent not in AGENTS:
        raise UsageError(f"agent {options.agent!r} is unknown, allowed: {', '.join(AGENTS)}")
    if options.model != BUILTIN and options.agent not in ASKING:
        raise UsageError(f"agent {options.agent!r} asks no model, allowed with a model: {', '.join(ASKING)}")
    if workers < 1:
        raise UsageError(f"workers = {workers}, allowed: at least 1")
    suite = read_multinav(file)
    if options.agent != "oracle" and any(e.goal_point is not None for e in suite.episodes):
        raise UsageError(f"agent {options.agent!r}: task form 'pointgoal', allowed: objectgoal, instructiongoal")
    out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    scored = map(with_score, rows(suite, options, workers, WORK))
    ordered = write_rows(out, [e.id for e in suite.episodes], scored, on_row)
    settings = {
        "seed": suite.seed,
        "robot": suite.robot,
        "generator_version": suite.generator_version,
        "distance_m": suite.distance_m,
        "budget_s": suite.budget_s,
        "model": options.model,
        "isolate": options.isolate,
        "workers": workers,
    }
    found_manifest = manifest(file, options.agent, settings)
    summary = summarise(suite, options, ordered, time.monotonic() - started, found_manifest)
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def with_score(row: Row) -> Row:
    """The row with its scores under `score`."""
    made = score_of(row)
    row["score"] = {name: getattr(made, name) for name in SCORED}
    return row


def score_of(row: Row) -> EpisodeScore:
    """The paper's scores of a row; an episode whose process was lost with its record failed without credit."""
    if row["spec"] is None or row["run"] is None:
        return _lost(row)
    spec = {**row["spec"], "necessity": _necessity(row).value}
    return score(SPEC.validate_python(spec), RUN.validate_python(row["run"]))


def _necessity(row: Row) -> Necessity:
    """A route that opening shortens can be driven without."""
    return Necessity.REQUIRED if row["requirement"] == Necessity.REQUIRED.value else Necessity.UNNECESSARY


def _lost(row: Row) -> EpisodeScore:
    is_required = _necessity(row) is Necessity.REQUIRED
    return EpisodeScore(
        episode_id=row["id"],
        split=Split(row["domain"]),
        necessity=_necessity(row),
        eligible=bool(row["eligible"]),
        completed=False,
        success=False,
        spl=0.0,
        isr=0.0 if is_required else None,
        ip=0.0,
        cost=1.0,
        operation_cost_m=0.0,
        plan_done=False if is_required else None,
        attempts=0,
        errors=0,
        class_attempts=0,
        path_m=0.0,
    )


def summarise(
    suite: MultiNavFile, options: MultiNavOptions, rows: Sequence[Row], wall_s: float, found: dict[str, Any]
) -> dict[str, Any]:
    """SR, ISR, IP and complete_plan in percent, SPL and Cost in 0..1, over the eligible episodes, overall and by split.

    An episode whose process was lost counts as a failure; `lost` says how many.
    """
    scores = [score_of(row) for row in rows]
    by_scope = {row.scope: row for row in table(scores)}
    overall = by_scope.pop("overall")
    eligible = [s for s in scores if s.eligible]
    low, high = wilson_interval(overall.successes, max(len(eligible), 1))
    needless = [s.attempts for s in eligible if s.necessity is Necessity.UNNECESSARY]
    return {
        "suite": "multinav",
        "agent": options.agent,
        "model": options.model,
        "n": len(rows),
        "n_eligible": len(eligible),
        "lost": overall.crashed,
        **_figures(overall),
        "SR_interval": [round(100.0 * low, 2), round(100.0 * high, 2)],
        "SPL_interval": [round(x, 4) for x in bootstrap_interval([s.spl or 0.0 for s in eligible] or [0.0])],
        "by_split": {name: {"n": row.episodes, **_figures(row)} for name, row in by_scope.items()},
        "by": {group: _by(group, rows) for group in GROUPS},
        "attempts_unnecessary": _mean(needless),
        "attempts": _mean([s.attempts for s in eligible]),
        "errors": _mean([s.errors for s in eligible]),
        "path_m": _mean([s.path_m for s in eligible]),
        "kinematic_completions": sum(row["kinematic_completions"] for row in rows),
        "wall_s": round(wall_s, 1),
        "episodes_per_hour": round(3600.0 * len(rows) / wall_s, 1) if wall_s > 0 else None,
        "model_calls": sum(int(row["model_calls"]) for row in rows),
        "fallbacks": sum(int(row["fallbacks"]) for row in rows),
        "manifest": found,
    }


def _figures(row: TableRow) -> dict[str, float | None]:
    return {
        "SR": _rounded(row.sr, 100.0, 2),
        "SPL": _rounded(row.spl, 1.0, 4),
        "ISR": _rounded(row.isr, 100.0, 2),
        "IP": _rounded(row.ip, 100.0, 2),
        "Cost": _rounded(row.cost, 1.0, 4),
        "complete_plan": _rounded(row.plan_done, 100.0, 2),
    }


def _by(group: str, rows: Sequence[Row]) -> dict[str, dict[str, float | int]]:
    """Number and SR of the eligible rows by a label of their episodes."""
    found: dict[str, dict[str, float | int]] = {}
    for name in sorted({row[group] for row in rows}):
        of = [score_of(row) for row in rows if row[group] == name and row["eligible"]]
        good = sum(s.success for s in of)
        found[name] = {"n": len(of), "SR": round(100.0 * good / max(len(of), 1), 2)}
    return found


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None


def _rounded(value: float | None, factor: float, digits: int) -> float | None:
    return None if value is None else round(factor * value, digits)
