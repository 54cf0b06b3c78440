"""How often a visual-point motion succeeds, by the distance that was to be driven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

MOTIONS = frozenset({"visual_point_navigate", "local_navigate", "visual_ground_preview"})
REACHED = frozenset({"reached_visual_point", "reached", "self_check_required"})
BANDS: tuple[tuple[str, float, float], ...] = (
    ("<=2", 0.0, 2.0),
    ("2-4", 2.0, 4.0),
    ("4-6", 4.0, 6.0),
    (">6", 6.0, float("inf")),
)


@dataclass(frozen=True)
class Hop:
    """One motion to a visual point: the way that was planned (metres), and whether it got there."""

    planned_m: float
    status: str

    @property
    def reached(self) -> bool:
        """Whether the robot stands where it was to go."""
        return self.status in REACHED

    def as_fields(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def hops_of(transcript: Sequence[dict[str, Any]]) -> list[Hop]:
    """The hops of a transcript; a call that was an error moved nothing and is none."""
    found = []
    for step in transcript:
        reply = step["reply"]
        if step["tool"].removeprefix("hab_") not in MOTIONS or "planned_m" not in reply:
            continue
        # What was blocked before a plan was made has no length of its own: what was driven is the least it was.
        length = max(float(reply["planned_m"]), float(reply.get("displacement_m", 0.0)))
        found.append(Hop(round(length, 3), str(reply["status"])))
    return found


def hop_success(hops: Sequence[Hop]) -> dict[str, dict[str, Any]]:
    """Number and success in percent of the hops of each band (None where there is none)."""
    table: dict[str, dict[str, Any]] = {}
    for name, least, most in BANDS:
        inside = [hop for hop in hops if (least < hop.planned_m <= most) or (least == 0.0 == hop.planned_m)]
        reached = sum(hop.reached for hop in inside)
        table[name] = {"n": len(inside), "success": round(100.0 * reached / len(inside), 1) if inside else None}
    return table
