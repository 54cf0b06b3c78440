"""From rows to a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from mnav_bench.episodes import EpisodeFile
from mnav_bench.scoring import Failure
from mnav_bench.statistics import bootstrap_interval, wilson_interval


def summarise(
    suite: EpisodeFile, agent: str, rows: Sequence[dict[str, Any]], wall_s: float, manifest: dict[str, Any]
) -> dict[str, Any]:
    """SR in percent and SPL in 0..1 over all rows, crashes included, with 95 % intervals and the failures' causes."""
    successes = sum(bool(row["success"]) for row in rows)
    failures = Counter(row["failure"] for row in rows if row["failure"])
    spls = [float(row["spl"]) for row in rows]
    low, high = wilson_interval(successes, len(rows))
    return {
        "suite": suite.suite,
        "agent": agent,
        "n": len(suite.episodes),
        "n_eligible": len(rows),
        "SR": round(100.0 * successes / len(rows), 2),
        "SR_interval": [round(100.0 * low, 2), round(100.0 * high, 2)],
        "SPL": round(fmean(spls), 4),
        "SPL_interval": [round(x, 4) for x in bootstrap_interval(spls)],
        "wall_s": round(wall_s, 1),
        "episodes_per_hour": round(3600.0 * len(rows) / wall_s, 1) if wall_s > 0 else None,
        "failures": {cause.value: failures.get(cause.value, 0) for cause in Failure},
        "path_m_median": round(median(row["path_m"] for row in rows), 2),
        "reference_m_median": round(median(row["reference_m"] for row in rows), 2),
        "sim_s_mean": round(fmean([row["sim_s"] or 0.0 for row in rows]), 1),
        "manifest": manifest,
    }
