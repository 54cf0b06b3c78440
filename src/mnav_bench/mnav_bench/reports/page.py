"""The report as one HTML page that needs nothing beside itself: tables, plots, every episode."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape

from mnav_bench.reports import charts
from mnav_bench.reports.comparison import Difference, compare
from mnav_bench.reports.metrics import (
    RELEASED,
    RELEASED_TITLE,
    Metric,
    estimate,
    groups_of,
    metrics_of,
    released_of,
)
from mnav_bench.reports.results import Row, RunResult
from mnav_bench.reports.text import causes_of, interval_text

STYLE = """
:root{color-scheme:light dark;--ink:#1c1c1c;--dim:#6b6b6b;--line:#d9d9d9;--back:#fff;--good:#0a7d4f;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e8e8e8;--dim:#9a9a9a;--line:#3c3c3c;--back:#161616;--good:#5cc795;
--bad:#ff8a80}}
body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:2em auto;max-width:1200px;
padding:0 1em}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em;border-bottom:1px solid var(--line)}
table{border-collapse:collapse;margin:.6em 0;font-variant-numeric:tabular-nums}th,td{padding:.2em .7em;text-align:left;
border-bottom:1px solid var(--line);vertical-align:top}td.n{text-align:right;white-space:nowrap}small{color:var(--dim)}
.good{color:var(--good)}.bad{color:var(--bad)}.scroll{overflow-x:auto}.plots{display:flex;flex-wrap:wrap;gap:1em}
figure{margin:0}figcaption{font-weight:600}svg text{font-size:11px;fill:var(--ink)}svg .dim{fill:var(--dim)}
svg .mid{text-anchor:middle}svg .end{text-anchor:end}svg .grid{stroke:var(--line)}svg .zero{stroke:var(--dim);
stroke-dasharray:4 3}svg .frame{fill:none;stroke:var(--line)}.key{display:inline-block;width:.8em;height:.8em;
border-radius:50%;margin-right:.4em}pre{white-space:pre-wrap;font-size:12px}
"""
LOG_LINES = 60


def page(results: Sequence[RunResult]) -> str:
    """The whole page as text. Whatever runs and agents wrote is shown, never interpreted."""
    suite, metrics = results[0].suite, metrics_of(results[0].suite)
    compared = [(r.name, place, compare(results[0], r, metrics)) for place, r in enumerate(results) if place]
    parts = [
        f"<h1>{escape(suite)}: {escape(', '.join(r.name for r in results))}</h1>",
        "<p><small>Intervals are 95 %: Wilson's for rates, a bootstrap over episodes for means.</small></p>",
        _runs(results),
        "<h2>Scores</h2>",
        _scores(results, metrics),
        _plots(results, metrics),
    ]
    if suite == "multinav":
        parts += [
            f"<h2>{escape(RELEASED_TITLE)}</h2><p><small>The same episodes as the released code defines the scores; "
            "never to be pooled with those above.</small></p>",
            _scores(results, RELEASED),
        ]
    if compared:
        parts += [f"<h2>Differences to {escape(results[0].name)} on the same episodes</h2>", _differences(compared)]
    for name in groups_of(suite):
        parts.append(_groups(results, metrics, name))
    parts += ["<h2>Why episodes failed</h2>", _causes(results), "<h2>Episodes</h2>", _episodes(results, metrics)]
    title = f"{suite}: {', '.join(r.name for r in results)}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style><body>{''.join(parts)}</body></html>\n"
    )


def _runs(results: Sequence[RunResult]) -> str:
    rows = []
    for place, result in enumerate(results):
        manifest = dict(result.summary.get("manifest", {}))
        told = "".join(f"{k}: {v if isinstance(v, str) else json.dumps(v)}\n" for k, v in manifest.items())
        rows.append(
            [
                _key(place, result.name),
                escape(result.agent),
                str(len(result.rows)),
                f"<code>{escape(str(manifest.get('episode_file_sha256', '?'))[:12])}</code>",
                f"<details><summary>manifest</summary><pre>{escape(told)}</pre></details>",
            ]
        )
    return _table(["run", "agent", "episodes", "episode file", ""], rows)


def _scores(results: Sequence[RunResult], metrics: Sequence[Metric]) -> str:
    rows = [
        [_key(place, r.name), *_cells(metrics, r.rows.values())] for place, r in enumerate(results)
    ]  # fmt: skip
    return _table(["run", *(m.title for m in metrics)], rows)


def _cells(metrics: Sequence[Metric], rows: Iterable[Row]) -> list[str]:
    listed, cells = list(rows), []
    for metric in metrics:
        found = estimate(metric, listed)
        cells.append(f"{metric.shown(found.mean)} <small>{interval_text(metric, found)}, n {found.n}</small>")
    return cells


def _plots(results: Sequence[RunResult], metrics: Sequence[Metric]) -> str:
    plots = [
        charts.intervals(m, [charts.Bar(r.name, p, estimate(m, r.rows.values())) for p, r in enumerate(results)])
        for m in metrics
    ]
    points = [
        (place, str(row["id"]), float(row["reference_m"]), float(row["path_m"]), bool(row["success"]))
        for place, result in enumerate(results)
        for row in result.rows.values()
        if row.get("reference_m") is not None
    ]
    return f'<div class="plots">{"".join([*plots, charts.paths(points)])}</div>'


def _differences(compared: Sequence[tuple[str, int, tuple[Difference, ...]]]) -> str:
    by_metric: dict[str, list[tuple[str, int, Difference]]] = {}
    notes = []
    for name, run, differences in compared:
        if not differences:
            notes.append(f"<p>{escape(name)}: no episode in common</p>")
        for d in differences:
            by_metric.setdefault(d.metric.name, []).append((name, run, d))
    rows = [
        [_key(run, name), escape(d.metric.title), f"{d.metric.scale * d.mean:+.3g}",
         f"{d.metric.scale * d.low:+.3g}..{d.metric.scale * d.high:+.3g}", str(d.n), str(d.better), str(d.worse)]
        for name, run, differences in compared for d in differences
    ]  # fmt: skip
    plots = "".join(charts.forest(listed) for listed in by_metric.values())
    table = _table(["run", "score", "difference", "paired 95 %", "n", "better on", "worse on"], rows) if rows else ""
    return "".join(notes) + table + f'<div class="plots">{plots}</div>'


def _groups(results: Sequence[RunResult], metrics: Sequence[Metric], name: str) -> str:
    group = groups_of(results[0].suite)[name]
    labels = sorted({group(row) for result in results for row in result.rows.values()})
    if len(labels) < 2:
        return ""
    rows, bars = [], []
    for label in labels:
        for place, result in enumerate(results):
            own = [row for row in result.rows.values() if group(row) == label]
            if own:
                rows.append([escape(label), _key(place, result.name), str(len(own)), *_cells(metrics, own)])
                bars.append(charts.Bar(f"{label} {result.name}", place, estimate(metrics[0], own)))
    heading = f"<h2>By {escape(name)}</h2>"
    return heading + _table([name, "run", "n", *(m.title for m in metrics)], rows) + charts.intervals(metrics[0], bars)


def _causes(results: Sequence[RunResult]) -> str:
    causes = {result.name: causes_of(result) for result in results}
    names = sorted({cause for found in causes.values() for cause in found})
    rows = [[_key(place, r.name), *(str(causes[r.name].get(n, 0)) for n in names)] for place, r in enumerate(results)]
    return _table(["run", *names], rows) if names else "<p>None failed.</p>"


def _episodes(results: Sequence[RunResult], metrics: Sequence[Metric]) -> str:
    is_multinav = results[0].suite == "multinav"
    names = list(dict.fromkeys(name for result in results for name in result.rows))
    groups = groups_of(results[0].suite)
    header = ["episode", *groups, "run", "", *(m.title for m in metrics)]
    header += [f"{m.title}, {RELEASED_TITLE}" for m in RELEASED] if is_multinav else []
    header += ["path m", "reference m", "simulated s", "", "end"]
    rows = []
    for name in names:
        for place, result in enumerate(results):
            row = result.rows.get(name)
            if row is None:
                continue
            good = bool(metrics[0].of(row))
            cells = [escape(name), *(escape(group(row)) for group in groups.values()), _key(place, result.name)]
            cells.append('<span class="good">✓</span>' if good else '<span class="bad">✗</span>')
            cells += [m.shown(m.of(row)) if m.counts(row) else "-" for m in metrics]
            if is_multinav:
                scored = released_of(row)
                cells += ["-" if scored is None or not m.counts(row) else m.shown(m.of(row)) for m in RELEASED]
            cells += [_number(row.get("path_m")), _number(row.get("reference_m")), _number(row.get("sim_s"))]
            cells += [charts.track((row.get("run") or {}).get("trajectory", ()), place), _end(row)]
            rows.append(cells)
    return _table(header, rows)


def _end(row: Row) -> str:
    claim = row.get("claim")
    reason = row.get("reason") or (claim.get("reason") if isinstance(claim, dict) else "") or ""
    log = [str(line) for line in row.get("log") or ()]
    if not log:
        return escape(str(reason))
    kept = log if len(log) <= LOG_LINES else [*log[: LOG_LINES // 2], "…", *log[-LOG_LINES // 2 :]]
    text = "\n".join(kept)
    return f"{escape(str(reason))}<details><summary>log</summary><pre>{escape(text)}</pre></details>"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _key(run: int, name: str) -> str:
    return f'<span class="key" style="background:{charts.color(run)}"></span>{escape(name)}'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
