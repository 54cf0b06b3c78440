"""Tables from result folders, with 95 % intervals and paired differences."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mnav_core.errors import UsageError

COLUMNS = ("folder", "agent", "profile", "n", "SR %", "95 %", "SPL", "95 %", "episodes/h")


def read_result(folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Summary and rows by episode id of one folder. Raises UsageError when it holds no result."""
    try:
        summary = json.loads((folder / "summary.json").read_text())
        lines = (folder / "episodes.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        return summary, {row["id"]: row for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder}: no result of bench there (summary.json, episodes.jsonl): {error}") from error


def paired_difference(a: Sequence[float], b: Sequence[float], seed: int = 0) -> tuple[float, float, float]:
    """Mean of a - b over the same episodes, with its bootstrap interval (95 %)."""
    difference = np.asarray(a, float) - np.asarray(b, float)
    rng = np.random.default_rng(seed)
    means = difference[rng.integers(0, difference.size, (2000, difference.size))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(difference.mean()), float(low), float(high)


def report(folders: Sequence[Path]) -> str:
    """A table of the folders; differences to the first one where the episodes are the same; causes of failure."""
    results = [(folder, *read_result(folder)) for folder in folders]
    table = [COLUMNS] + [_line(folder, summary) for folder, summary, _ in results]
    widths = [max(len(str(row[i])) for row in table) for i in range(len(COLUMNS))]
    padded = [[str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)] for row in table]
    lines = ["  ".join(cells).rstrip() for cells in padded]
    for folder, summary, _ in results:
        causes = ", ".join(f"{cause} {n}" for cause, n in summary["failures"].items() if n)
        lines.append(f"failures in {folder.name}: {causes or 'none'}")
    first_folder, _, first = results[0]
    for folder, _, rows in results[1:]:
        shared = sorted(first.keys() & rows.keys())
        if not shared:
            lines.append(f"{folder.name}: no episode in common with {first_folder.name}")
            continue
        for metric, scale in (("success", 100.0), ("spl", 1.0)):
            mean, low, high = paired_difference(
                [scale * rows[i][metric] for i in shared], [scale * first[i][metric] for i in shared]
            )
            name = "SR (points)" if metric == "success" else "SPL"
            lines.append(
                f"{folder.name} - {first_folder.name}: {name} {mean:+.3g},"
                f" paired 95 % [{low:+.3g}, {high:+.3g}], n {len(shared)}"
            )
    return "\n".join(lines)


def _line(folder: Path, summary: dict[str, Any]) -> tuple[str, ...]:
    sr, spl = summary["SR_interval"], summary["SPL_interval"]
    return (
        folder.name,
        str(summary["agent"]),
        str(summary["manifest"].get("profile", "clean")),
        str(summary["n"]),
        f"{summary['SR']:.1f}",
        f"{sr[0]:.1f}..{sr[1]:.1f}",
        f"{summary['SPL']:.3f}",
        f"{spl[0]:.3f}..{spl[1]:.3f}",
        f"{summary['episodes_per_hour']:.0f}",
    )
