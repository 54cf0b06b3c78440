"""The report as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from mnav_bench.reports.comparison import compare
from mnav_bench.reports.metrics import RELEASED, RELEASED_TITLE, Estimate, Metric, estimate, groups_of, metrics_of
from mnav_bench.reports.results import Row, RunResult

MAX_GROUPS = 12


def report(results: Sequence[RunResult]) -> str:
    """Tables of the runs, overall and by split, differences to the first one, causes of failure."""
    suite = results[0].suite
    metrics = metrics_of(suite)
    lines = _table(results, metrics)
    if suite == "multinav":
        lines += ["", f"as the {RELEASED_TITLE} defines the scores (never to be pooled with those above):"]
        lines += _table(results, RELEASED)
    name, group = next(iter(groups_of(suite).items()))
    labels = sorted({group(row) for result in results for row in result.rows.values()})
    if 1 < len(labels) <= MAX_GROUPS:
        lines += ["", f"by {name}:", *_by_group(results, metrics, labels, name)]
    lines += [""] + [f"failures in {result.name}: {_causes(result)}" for result in results]
    for other in results[1:]:
        differences = compare(results[0], other, metrics)
        if not differences:
            lines.append(f"{other.name}: no episode in common with {results[0].name}")
        lines += [f"{other.name} - {results[0].name}: {difference}" for difference in differences]
    return "\n".join(lines)


def causes_of(result: RunResult) -> dict[str, int]:
    """How many episodes failed, by cause."""
    if result.suite == "supernav":
        return {str(k): int(v) for k, v in result.summary.get("failures", {}).items() if v}
    causes = [str(row["failure"]) for row in result.rows.values() if row.get("failure")]
    return {cause: causes.count(cause) for cause in sorted(set(causes))}


def _causes(result: RunResult) -> str:
    return ", ".join(f"{cause} {n}" for cause, n in causes_of(result).items()) or "none"


def _table(results: Sequence[RunResult], metrics: Sequence[Metric]) -> list[str]:
    header = ["folder", "agent", "profile", "n"]
    for metric in metrics:
        header += [metric.title, "95 %"]
    rows = [[*header, "episodes/h"]]
    for result in results:
        cells = [result.name, result.agent, str(result.summary["manifest"].get("profile", "clean"))]
        cells += [str(len(result.rows)), *_cells(metrics, list(result.rows.values()))]
        rate = result.summary.get("episodes_per_hour")
        rows.append([*cells, "n/a" if rate is None else f"{rate:.0f}"])
    return _aligned(rows)


def _by_group(results: Sequence[RunResult], metrics: Sequence[Metric], labels: Sequence[str], name: str) -> list[str]:
    group = groups_of(results[0].suite)[name]
    header = [name, "folder", "n"]
    for metric in metrics:
        header += [metric.title, "95 %"]
    rows = [header]
    for label in labels:
        for result in results:
            own = [row for row in result.rows.values() if group(row) == label]
            if own:
                rows.append([label, result.name, str(len(own)), *_cells(metrics, own)])
    return _aligned(rows)


def _cells(metrics: Sequence[Metric], rows: Sequence[Row]) -> list[str]:
    cells = []
    for metric in metrics:
        found = estimate(metric, rows)
        cells += [metric.shown(found.mean), interval_text(metric, found)]
    return cells


def interval_text(metric: Metric, found: Estimate) -> str:
    """`low..high` in the shown unit, "-" without one."""
    if found.low is None or found.high is None:
        return "-"
    return f"{metric.shown(found.low)}..{metric.shown(found.high)}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
