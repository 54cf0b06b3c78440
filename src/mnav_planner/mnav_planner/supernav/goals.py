"""The goal records of a session: what is to be found, and what the caller marked as found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mnav_planner.supernav.statuses import FailureCode, ToolFailure


@dataclass
class GoalRecords:
    """Descriptions in order; marks are the caller's own report, cannot be undone, and their order is not enforced.

    `marked_s` holds when each goal was marked, by its index from 0.
    """

    descriptions: tuple[str, ...]
    ordered: bool = True
    marked_s: dict[int, float] = field(default_factory=dict)

    def mark(self, index: int | None, now_s: float) -> ToolFailure | None:
        """Mark the goal of 1-based `index` as found; marking twice changes nothing."""
        if index is None or not 1 <= index <= len(self.descriptions):
            allowed = f"1 to {len(self.descriptions)}" if self.descriptions else "none, there are no goal records"
            return ToolFailure(FailureCode.GOAL_OUT_OF_RANGE, f"target_index is {index}, allowed is {allowed}")
        self.marked_s.setdefault(index - 1, now_s)
        return None

    def pending(self) -> tuple[int, ...]:
        """Indices from 0 of goals that are not marked, in order."""
        return tuple(i for i in range(len(self.descriptions)) if i not in self.marked_s)

    def as_fields(self) -> dict[str, Any]:
        """The records as a tool returns them."""
        return {
            "ordered": self.ordered,
            "goals": [
                {"index": i + 1, "description": text, "state": "found" if i in self.marked_s else "pending"}
                for i, text in enumerate(self.descriptions)
            ],
            "found": len(self.marked_s),
            "total": len(self.descriptions),
        }


def goal_records(descriptions: Sequence[str], ordered: bool = True) -> GoalRecords:
    """Fresh records."""
    return GoalRecords(tuple(descriptions), ordered)
