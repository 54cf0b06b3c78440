"""Runs a task file of the suite and sums it up."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

from mnav_bench.manifest import manifest
from mnav_bench.row_files import write_rows
from mnav_bench.statistics import bootstrap_interval, wilson_interval
from mnav_bench.supernav.evaluation import SuiteOptions, hop_table, lost_row, run_task
from mnav_bench.supernav.hops import hop_success
from mnav_bench.supernav.scoring import success_rate_at
from mnav_bench.supernav.task_files import SuperNavFile, read_tasks
from mnav_bench.supernav.variants import RULES, Variant
from mnav_bench.sweep import SuiteWork, run_all
from mnav_core.errors import UsageError
from mnav_planner.supernav.outside_program import OutsideProgram

Row = dict[str, Any]
WORK = SuiteWork(run_task, lost_row)
COUNTED = (
    "tool_calls",
    "turns",
    "model_turns",
    "turn_calls",
    "tokens",
    "fallbacks",
    "empty_turns",
    "repeats",
    "refusals",
)
MOST_GOALS = 8


def bench(
    file: Path,
    options: SuiteOptions,
    workers: int,
    out: Path,
    on_row: Callable[[int, int, Row], None] = lambda _done, _n, _row: None,
    program: OutsideProgram | None = None,
) -> dict[str, Any]:
    """Run a task file; `summary.json`, `episodes.jsonl` and a transcript a task under `out`; the summary.

    With `program` an outside agent is the mind: one task after the other, each in a folder of its own under `runs`.
    """
    suite = read_tasks(file)
    if options.variant is not Variant.PAPER and suite.kind != "single":
        raise UsageError(f"variant {options.variant.value!r}: allowed for single tasks, the file's are {suite.kind}")
    if workers < 1:
        raise UsageError(f"workers = {workers}, allowed: at least 1")
    (out / "transcripts").mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    told = (_with_transcript_apart(row, out) for row in _rows(suite, options, workers, out, program))
    ordered = write_rows(out, [task.id for task in suite.episodes], told, on_row)
    settings = {
        "seed": suite.seed,
        "robot": suite.robot,
        "kind": suite.kind,
        "generator_version": suite.generator_version,
        "budget_s": suite.budget_s,
        "model": options.model,
        "configuration": options.configuration.value,
        "variant": options.variant.value,
        "rule": {"distance_m": RULES[options.variant].distance_m, "stop": RULES[options.variant].needs_stop},
        "thinking": options.thinking.value,
        "workers": workers,
        "program": list(program.words) if program is not None else None,
    }
    found = manifest(file, f"supernav/{options.model}", settings)
    summary = summarise(suite, options, ordered, time.monotonic() - started, found)
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def _with_transcript_apart(row: Row, out: Path) -> Row:
    lines = "".join(json.dumps(step) + "\n" for step in row.pop("transcript", []))
    (out / "transcripts" / f"{row['id']}.jsonl").write_text(lines)
    return row


def _rows(
    suite: SuperNavFile, options: SuiteOptions, workers: int, out: Path, program: OutsideProgram | None
) -> Iterator[Row]:
    if program is None:
        yield from run_all(suite, options, workers, WORK)
        return
    from mnav_bench.supernav.outside import run_outside

    with ThreadPoolExecutor(1, thread_name_prefix="world") as renderer:
        for task in suite.episodes:
            yield run_outside(suite, task, options, program, out / "runs" / task.id, renderer)


def summarise(
    suite: SuperNavFile, options: SuiteOptions, rows: Sequence[Row], wall_s: float, found: dict[str, Any]
) -> dict[str, Any]:
    """SR and SR_k in percent, SPL in 0..1, over all tasks of the file, lost ones included; means of what was spent."""
    successes = sum(bool(row["success"]) for row in rows)
    spls = [float(row["spl"]) for row in rows]
    low, high = wilson_interval(successes, len(rows))
    reached = [(int(row["reached"]), int(row["goals"])) for row in rows]
    at_k = {k: success_rate_at(k, reached) for k in range(1, MOST_GOALS + 1)}
    return {
        "suite": "supernav",
        "kind": suite.kind,
        "agent": f"supernav/{options.model}",
        "configuration": options.configuration.value,
        "variant": options.variant.value,
        "n": len(rows),
        "SR": round(100.0 * successes / len(rows), 2),
        "SR_interval": [round(100.0 * low, 2), round(100.0 * high, 2)],
        "SPL": round(fmean(spls), 4),
        "SPL_interval": [round(x, 4) for x in bootstrap_interval(spls)],
        "SR_k": {str(k): {"SR": round(rate, 2), "n": n} for k, (rate, n) in at_k.items() if rate is not None},
        "credited_unreachable": sum(bool(row["credited"]) for row in rows),
        **{name: round(fmean([float(row.get(name, 0)) for row in rows]), 2) for name in COUNTED},
        "claimed_achieved": sum(row["claim"]["outcome"] == "achieved" for row in rows),
        "claimed_achieved_and_success": sum(row["claim"]["outcome"] == "achieved" and row["success"] for row in rows),
        "failures": _failures(rows),
        "tool_failures": dict(sum((Counter(row.get("tool_failures", {})) for row in rows), Counter())),
        "hop_success": hop_success(hop_table(rows)),
        "path_m": round(fmean([float(row["path_m"]) for row in rows]), 2),
        "reference_m": round(fmean([float(row["reference_m"]) for row in rows]), 2),
        "wall_s": round(wall_s, 1),
        "episodes_per_hour": round(3600.0 * len(rows) / wall_s, 1) if wall_s > 0 else None,
        "manifest": found,
    }


def _failures(rows: Sequence[Row]) -> dict[str, int]:
    """Why tasks failed: lost with their process, not stopped by the agent, or stopped in the wrong place."""
    failed = [row for row in rows if not row["success"]]
    lost = sum(row["claim"]["outcome"] == "lost" for row in failed)
    running = sum(not row["stopped"] and row["claim"]["outcome"] != "lost" for row in failed)
    return {"lost": lost, "not_stopped": running, "stopped_elsewhere": len(failed) - lost - running}
