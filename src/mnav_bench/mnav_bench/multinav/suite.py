"""Runs an episode file of `multinav` over worker processes and writes rows and a summary."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from mnav_bench.manifest import manifest
from mnav_bench.multinav.episode_files import MultiNavFile, read_multinav
from mnav_bench.multinav.running import AGENTS, MultiNavOptions, Row, lost_row, run_episode
from mnav_bench.statistics import bootstrap_interval, wilson_interval
from mnav_bench.sweep import SuiteWork, run_all
from mnav_core.errors import UsageError

WORK = SuiteWork(run_episode, lost_row)
GROUPS = ("domain", "recipe", "requirement", "task_form")


def bench(
    file: Path,
    options: MultiNavOptions,
    workers: int,
    out: Path,
    on_row: Callable[[int, int, Row], None] = lambda _done, _n, _row: None,
) -> dict[str, Any]:
    """Run an episode file; `summary.json` and `episodes.jsonl` under `out`; the summary."""
    if options.agent not in AGENTS:
        raise UsageError(f"agent {options.agent!r} is unknown, allowed: {', '.join(AGENTS)}")
    if workers < 1:
        raise UsageError(f"workers = {workers}, allowed: at least 1")
    suite = read_multinav(file)
    if options.agent != "oracle" and any(e.goal_point is not None for e in suite.episodes):
        raise UsageError(f"agent {options.agent!r}: task form 'pointgoal', allowed: objectgoal, instructiongoal")
    out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    found: dict[str, Row] = {}
    with (out / "episodes.jsonl.part").open("w") as partial:
        for row in run_all(suite, options, workers, WORK):
            found[row["id"]] = row
            partial.write(json.dumps(row) + "\n")
            partial.flush()
            on_row(len(found), len(suite.episodes), row)
    ordered = [found[episode.id] for episode in suite.episodes]
    (out / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ordered))
    (out / "episodes.jsonl.part").unlink()
    settings = {
        "seed": suite.seed,
        "robot": suite.robot,
        "generator_version": suite.generator_version,
        "distance_m": suite.distance_m,
        "budget_s": suite.budget_s,
        "isolate": options.isolate,
        "workers": workers,
    }
    wall_s = time.monotonic() - started
    summary = summarise(suite, options.agent, ordered, wall_s, manifest(file, options.agent, settings))
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def summarise(
    suite: MultiNavFile, agent: str, rows: Sequence[Row], wall_s: float, found: dict[str, Any]
) -> dict[str, Any]:
    """Navigation success and SPL over the eligible rows, lost ones included, and by group."""
    counted = [row for row in rows if row["eligible"]]
    groups = {
        group: {value: _rates([r for r in counted if r[group] == value]) for value in sorted({r[group] for r in rows})}
        for group in GROUPS
    }
    return {
        "suite": suite.suite,
        "agent": agent,
        "n": len(rows),
        "n_eligible": len(counted),
        **_rates(counted),
        "groups": groups,
        "attempts": sum(len(row["run"]["attempts"]) for row in counted if row["run"]),
        "kinematic_completions": sum(row["kinematic_completions"] for row in rows),
        "wall_s": round(wall_s, 1),
        "episodes_per_hour": round(3600.0 * len(rows) / wall_s, 1) if wall_s > 0 else None,
        "manifest": found,
    }


def _rates(rows: Sequence[Row]) -> dict[str, Any]:
    if not rows:
        return {"episodes": 0}
    successes = sum(bool(row["success"]) for row in rows)
    low, high = wilson_interval(successes, len(rows))
    spls = [float(row["spl"]) for row in rows]
    return {
        "episodes": len(rows),
        "SR": round(100.0 * successes / len(rows), 2),
        "SR_interval": [round(100.0 * low, 2), round(100.0 * high, 2)],
        "SPL": round(fmean(spls), 4),
        "SPL_interval": [round(x, 4) for x in bootstrap_interval(spls)],
    }
