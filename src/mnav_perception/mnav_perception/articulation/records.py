"""What one view says about one door or container."""

from __future__ import annotations

from dataclasses import dataclass

from mnav_core.sensing import ArticulationState, InteractionKind

Point2 = tuple[float, float]
Point3 = tuple[float, float, float]


@dataclass(frozen=True)
class StateEvidence:
    """The state that a view shows, how likely that is right (0..1, calibrated), and what to act on.

    UNKNOWN: the view does not tell. `part` describes the operable part in words, `part_point` is it in `map`, `facing`
    the unit normal of the closing plane in the plane of `map`, towards who opens it. `fraction`: the estimated open
    fraction, None where it was not measured.
    """

    state: ArticulationState
    confidence: float
    stamp_s: float
    kind: InteractionKind = InteractionKind.NONE
    part: str = ""
    part_point: Point3 | None = None
    facing: Point2 | None = None
    fraction: float | None = None
