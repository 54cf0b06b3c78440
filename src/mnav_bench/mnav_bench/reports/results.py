"""What a sweep left in its folder, read back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnav_core.errors import UsageError

Row = dict[str, Any]
SUITES = ("navtoobj", "multinav", "supernav")
# What tells an episode from another one of the same name.
SAME = ("reference_m", "category", "robot", "goals")


@dataclass(frozen=True)
class RunResult:
    """One folder: the summary, and the rows by episode id in the file's order. `name` is unique within a report."""

    name: str
    suite: str
    summary: Mapping[str, Any]
    rows: Mapping[str, Row]

    @property
    def agent(self) -> str:
        """The agent, with its model unless that is the built-in one."""
        agent, model = str(self.summary.get("agent", "?")), str(self.summary.get("model", "builtin"))
        return agent if model == "builtin" else f"{agent} ({model})"


def read_result(folder: Path, name: str = "") -> RunResult:
    """Summary and rows of one folder. Raises UsageError when it holds no result of a known suite."""
    try:
        summary = json.loads((folder / "summary.json").read_text())
        lines = (folder / "episodes.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        found = RunResult(name or folder.name, str(summary["suite"]), summary, {str(row["id"]): row for row in rows})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{folder}: no result of bench there (summary.json, episodes.jsonl): {error}") from error
    if found.suite not in SUITES:
        raise UsageError(f"{folder}: suite {found.suite!r}, allowed: {', '.join(SUITES)}")
    if not found.rows:
        raise UsageError(f"{folder}: episodes.jsonl has no rows, allowed: at least one")
    return found


def read_results(folders: list[Path]) -> list[RunResult]:
    """The folders in their order, told apart by as much of their paths as that takes.

    Raises UsageError for one that is given twice, and for results of different suites.
    """
    paths = [folder.resolve() for folder in folders]
    for folder, path in zip(folders, paths, strict=True):
        if paths.count(path) > 1:
            raise UsageError(f"{folder}: given twice, allowed: each folder once")
    parts = 1
    while len({path.parts[-parts:] for path in paths}) < len(paths):
        parts += 1
    results = [read_result(f, "/".join(p.parts[-parts:])) for f, p in zip(folders, paths, strict=True)]
    suites = sorted({result.suite for result in results})
    if len(suites) > 1:
        raise UsageError(f"results of suites {', '.join(suites)}, allowed: of one suite")
    return results


def shared_episodes(a: RunResult, b: RunResult) -> list[str]:
    """Ids of the episodes that both ran: the same id, and the same reference, target and robot."""
    return [i for i in a.rows if i in b.rows and all(_alike(a.rows[i].get(k), b.rows[i].get(k)) for k in SAME)]


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, abs_tol=1e-6)
    return bool(a == b)
