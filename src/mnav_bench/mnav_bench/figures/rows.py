"""One row of a report of figures: what was measured, what is allowed, whether it holds."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any


class Relation(Enum):
    """How a measured value must stand to its bound."""

    AT_MOST = "<="
    AT_LEAST = ">="
    EQUAL = "="


class RowOutcome(Enum):
    """PASS and FAIL are verdicts; SKIPPED was not measured; UNREADABLE is an input that nothing can be measured on."""

    PASS = "pass"
    FAIL = "FAIL"
    SKIPPED = "skipped"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Bound:
    """What is allowed, in the unit of the row."""

    relation: Relation
    value: float

    def holds(self, measured: float) -> bool:
        """Whether a measured value is allowed; NaN never is."""
        if self.relation is Relation.AT_MOST:
            return measured <= self.value
        if self.relation is Relation.AT_LEAST:
            return measured >= self.value
        return measured == self.value

    def __str__(self) -> str:
        return f"{self.relation.value} {self.value:g}"


@dataclass(frozen=True)
class FigureRow:
    """One figure. `measured` is None where nothing was measured; `detail` is for people."""

    name: str
    outcome: RowOutcome
    measured: float | None = None
    bound: Bound | None = None
    unit: str = ""
    detail: str = ""

    @property
    def passed(self) -> bool | None:
        """The verdict, None where there is none."""
        return {RowOutcome.PASS: True, RowOutcome.FAIL: False}.get(self.outcome)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        finite = self.measured is not None and math.isfinite(self.measured)
        return {
            "name": self.name,
            "measured": self.measured if finite else None,
            "unit": self.unit,
            "bound": None if self.bound is None else str(self.bound),
            "pass": self.passed,
            "outcome": self.outcome.value,
            "detail": self.detail,
        }


def at_most(name: str, measured: float, bound: float, unit: str = "", detail: str = "") -> FigureRow:
    """A row that holds when `measured` is at most `bound`."""
    return _judged(name, measured, Bound(Relation.AT_MOST, bound), unit, detail)


def at_least(name: str, measured: float, bound: float, unit: str = "", detail: str = "") -> FigureRow:
    """A row that holds when `measured` is at least `bound`."""
    return _judged(name, measured, Bound(Relation.AT_LEAST, bound), unit, detail)


def equal(name: str, measured: float, bound: float, unit: str = "", detail: str = "") -> FigureRow:
    """A row that holds when `measured` is exactly `bound`."""
    return _judged(name, measured, Bound(Relation.EQUAL, bound), unit, detail)


def skipped(name: str, detail: str) -> FigureRow:
    """A row that was not measured, and why."""
    return FigureRow(name, RowOutcome.SKIPPED, detail=detail)


def unreadable(name: str, detail: str) -> FigureRow:
    """An input that cannot be read, and why."""
    return FigureRow(name, RowOutcome.UNREADABLE, detail=detail)


def _judged(name: str, measured: float, bound: Bound, unit: str, detail: str) -> FigureRow:
    outcome = RowOutcome.PASS if bound.holds(measured) else RowOutcome.FAIL
    return FigureRow(name, outcome, measured, bound, unit, detail)


def row_line(row: FigureRow) -> str:
    """One line for a terminal."""
    measured = "-" if row.measured is None else f"{row.measured:.4g}{_spaced(row.unit)}"
    bound = "" if row.bound is None else f"(bound {row.bound}{_spaced(row.unit)})"
    detail = f"  [{row.detail}]" if row.detail else ""
    return f"{row.outcome.value:<10} {row.name}: {measured} {bound}{detail}".rstrip()


def _spaced(unit: str) -> str:
    return f" {unit}" if unit else ""


def verdict_code(rows: Sequence[FigureRow]) -> int:
    """Exit code of a report: 1 when a figure misses its bound, 2 when an input was unreadable, else 0."""
    outcomes = {row.outcome for row in rows}
    if RowOutcome.FAIL in outcomes:
        return 1
    return 2 if RowOutcome.UNREADABLE in outcomes else 0


def write_rows(file: Path, rows: Sequence[FigureRow], about: dict[str, Any]) -> None:
    """Write rows and what they were measured with as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"about": about, "rows": [row.as_json() for row in rows]}, indent=1) + "\n")
