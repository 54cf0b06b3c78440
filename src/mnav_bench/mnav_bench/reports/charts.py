"""Plots as inline SVG: nothing is fetched, every mark has a tooltip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from mnav_bench.reports.comparison import Difference
from mnav_bench.reports.metrics import Estimate, Metric

WIDTH, LEFT, RIGHT, ROW, TOP = 520, 170, 70, 22, 22
SCATTER, MARGIN = 260, 34
TRACK, TRACK_POINTS = 56, 80
# Okabe and Ito's colours, told apart by everybody.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a6a00", "#666666")


@dataclass(frozen=True)
class Bar:
    """A labelled estimate, in the colour of its run."""

    label: str
    run: int
    found: Estimate


def color(run: int) -> str:
    """The colour of a run."""
    return COLORS[run % len(COLORS)]


def intervals(metric: Metric, bars: Sequence[Bar]) -> str:
    """Means with their 95 % whiskers, one below the other."""
    known = [v for b in bars for v in (b.found.mean, b.found.high) if v is not None]
    top = metric.top or max([*known, 1e-9]) * 1.05
    marks = [_axis(len(bars), [(f * top, metric.shown(f * top)) for f in (0.0, 0.25, 0.5, 0.75, 1.0)], 0.0, top)]
    for place, bar in enumerate(bars):
        y = TOP + ROW * place + ROW / 2
        marks.append(_label(bar.label, y))
        if bar.found.mean is None:
            marks.append(f'<text x="{LEFT + 4}" y="{y + 4}" class="dim">n/a</text>')
            continue
        low = bar.found.mean if bar.found.low is None else bar.found.low
        high = bar.found.mean if bar.found.high is None else bar.found.high
        told = f"{bar.label}: {metric.title} {metric.shown(bar.found.mean)}"
        told += f" [{metric.shown(low)}, {metric.shown(high)}], n {bar.found.n}"
        marks.append(_whisker(_x(low, 0.0, top), _x(bar.found.mean, 0.0, top), _x(high, 0.0, top), y, bar.run, told))
        marks.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y + 4}">{metric.shown(bar.found.mean)}</text>')
    return _svg(WIDTH, TOP + ROW * len(bars) + 6, metric.title, marks)


def forest(differences: Sequence[tuple[str, int, Difference]]) -> str:
    """Paired differences of one metric around zero."""
    metric = differences[0][2].metric
    reach = max(1e-9, *(max(abs(d.low), abs(d.high)) for _, _, d in differences)) * 1.1
    span = (-reach, reach)
    marks = [_axis(len(differences), [(v, f"{metric.scale * v:+.3g}") for v in (-reach, 0.0, reach)], -reach, reach)]
    zero = _x(0.0, -reach, reach)
    marks.append(f'<line x1="{zero}" x2="{zero}" y1="{TOP}" y2="{TOP + ROW * len(differences)}" class="zero"/>')
    for place, (label, run, d) in enumerate(differences):
        y = TOP + ROW * place + ROW / 2
        marks += [
            _label(label, y),
            _whisker(_x(d.low, *span), _x(d.mean, *span), _x(d.high, *span), y, run, f"{label}: {d}"),
            f'<text x="{WIDTH - RIGHT + 8}" y="{y + 4}">{metric.scale * d.mean:+.3g}</text>',
        ]
    return _svg(WIDTH, TOP + ROW * len(differences) + 6, f"difference of {metric.title}", marks)


def paths(points: Sequence[tuple[int, str, float, float, bool]]) -> str:
    """Driven over reference path of episodes (run, id, reference, driven, success), metres; the line: both alike."""
    top = max([1.0, *(max(reference, driven) for _, _, reference, driven, _ in points)])
    side = SCATTER - 2 * MARGIN

    def at(x: float, y: float) -> tuple[float, float]:
        return MARGIN + side * x / top, SCATTER - MARGIN - side * y / top

    (x0, y0), (x1, y1) = at(0.0, 0.0), at(top, top)
    marks = [
        f'<rect x="{MARGIN}" y="{MARGIN}" width="{side}" height="{side}" class="frame"/>',
        f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" class="zero"/>',
        f'<text x="{MARGIN}" y="{SCATTER - 10}" class="dim">0 .. {top:.0f} m reference</text>',
        f'<text x="{MARGIN}" y="{MARGIN - 8}" class="dim">0 .. {top:.0f} m driven</text>',
    ]
    for run, name, reference, driven, success in points:
        x, y = at(reference, driven)
        fill = color(run) if success else "none"
        told = f"{name}: {driven:.1f} m of {reference:.1f} m, {'success' if success else 'failed'}"
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{fill}" stroke="{color(run)}">'
            f"<title>{escape(told)}</title></circle>"
        )
    return _svg(SCATTER, SCATTER, "driven and reference path", marks)


def track(points: Sequence[Sequence[float]], run: int) -> str:
    """A small plan of a driven path: a ring where it starts, a dot where it ends."""
    if not points:
        return ""
    step = max(1, math.ceil(len(points) / TRACK_POINTS))
    kept = [*points[::step], points[-1]]
    x0, y0 = min(p[0] for p in kept), min(p[1] for p in kept)
    size = max(1.0, max(p[0] for p in kept) - x0, max(p[1] for p in kept) - y0)
    scale = (TRACK - 8) / size
    drawn = [(4 + (p[0] - x0) * scale, TRACK - 4 - (p[1] - y0) * scale) for p in kept]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
    (ax, ay), (bx, by) = drawn[0], drawn[-1]
    return (
        f'<svg class="track" width="{TRACK}" height="{TRACK}" role="img" aria-label="path over {size:.0f} m">'
        f'<polyline points="{line}" fill="none" stroke="{color(run)}"/>'
        f'<circle cx="{ax:.1f}" cy="{ay:.1f}" r="3" fill="none" stroke="{color(run)}"/>'
        f'<circle cx="{bx:.1f}" cy="{by:.1f}" r="3" fill="{color(run)}"/></svg>'
    )


def _x(value: float, low: float, high: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max((value - low) / (high - low), 0.0), 1.0), 1)


def _axis(rows: int, ticks: Sequence[tuple[float, str]], low: float, high: float) -> str:
    marks = []
    for value, text in ticks:
        x = _x(value, low, high)
        marks.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 4}" y2="{TOP + ROW * rows}" class="grid"/>')
        marks.append(f'<text x="{x}" y="{TOP - 8}" class="dim mid">{text}</text>')
    return "".join(marks)


def _label(text: str, y: float) -> str:
    short = text if len(text) <= 26 else f"…{text[-25:]}"
    return f'<text x="{LEFT - 8}" y="{y + 4}" class="end">{escape(short)}<title>{escape(text)}</title></text>'


def _whisker(low: float, mean: float, high: float, y: float, run: int, told: str) -> str:
    return (
        f'<g stroke="{color(run)}" fill="{color(run)}"><title>{escape(told)}</title>'
        f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke-width="2"/>'
        f'<circle cx="{mean}" cy="{y}" r="4.5"/></g>'
    )


def _svg(width: int, height: float, title: str, marks: Sequence[str]) -> str:
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {width} {height:.0f}" width="{width}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(title, quote=True)}">{"".join(marks)}</svg></figure>'
    )
