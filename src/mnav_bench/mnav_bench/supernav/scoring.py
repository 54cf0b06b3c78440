"""Success of single, multi-object and demand-driven tasks from saved positions and the stop (SuperNav, appendix B)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnav_bench.supernav.distances import Point, ViewpointDistances

ARRIVAL_M = 1.0
DEMAND_M = 2.0


@dataclass(frozen=True)
class Progress:
    """How many goals were reached in order, at which saved position each, and whether the task counts as done."""

    success: bool
    reached: int
    arrivals: tuple[int, ...] = ()
    matched: tuple[str, ...] = ()


def spl(success: bool, reference_m: float, path_m: float) -> float:
    """S L / max(L, P): 0 for a failure, 1 for a success whose reference and path are both zero."""
    if not success:
        return 0.0
    longest = max(reference_m, path_m)
    return 1.0 if longest == 0.0 else reference_m / longest


def single(
    saved: Sequence[Point], viewpoints: Sequence[Point], stopped: bool, distances: ViewpointDistances
) -> Progress:
    """The final saved position is strictly nearer than 1 m (geodesic) to an approved viewpoint, and STOP."""
    if not saved:
        return Progress(False, 0)
    there = distances.to_nearest(saved[-1], viewpoints) < ARRIVAL_M
    return Progress(there and stopped, int(there), (len(saved) - 1,) if there else ())


def ordered(
    saved: Sequence[Point], goals: Sequence[Sequence[Point]], stopped: bool, distances: ViewpointDistances
) -> Progress:
    """Saved positions satisfy the goals in order, then STOP.

    The full viewpoint set of a goal is tested at its stage; nothing is interpolated between saved positions; the
    initial position counts; one position may satisfy consecutive stages; earlier goals need not stay near.
    """
    arrivals: list[int] = []
    for index, position in enumerate(saved):
        while len(arrivals) < len(goals) and distances.to_nearest(position, goals[len(arrivals)]) < ARRIVAL_M:
            arrivals.append(index)
    done = len(arrivals) == len(goals)
    return Progress(done and stopped, len(arrivals), tuple(arrivals))


@dataclass(frozen=True)
class Box:
    """A horizontal axis-aligned rectangle of `map`, metres."""

    x0: float
    y0: float
    x1: float
    y1: float

    def distance_to(self, point: Point) -> float:
        """Horizontal distance; 0 inside."""
        return math.hypot(
            max(self.x0 - point[0], 0.0, point[0] - self.x1), max(self.y0 - point[1], 0.0, point[1] - self.y1)
        )


def demand(
    saved: Sequence[Point], needs: Sequence[Mapping[str, Box]], stopped: bool, within_m: float = DEMAND_M
) -> Progress:
    """Saved positions come within 2 m of an admissible object of each need in order, then STOP.

    `needs` holds the admissible objects by id. The distance is horizontal, to the box, the inside included; neither
    sight nor height is tested. A stage takes the nearest object not used before, the lower id where two are as near.
    """
    arrivals: list[int] = []
    used: list[str] = []
    for index, position in enumerate(saved):
        while len(arrivals) < len(needs):
            near = [
                (box.distance_to(position), object_id)
                for object_id, box in needs[len(arrivals)].items()
                if object_id not in used and box.distance_to(position) <= within_m
            ]
            if not near:
                break
            used.append(min(near)[1])
            arrivals.append(index)
    done = len(arrivals) == len(needs)
    return Progress(done and stopped, len(arrivals), tuple(arrivals), tuple(used))


def success_rate_at(k: int, rows: Sequence[tuple[int, int]]) -> tuple[float | None, int]:
    """SR_k in percent and its number of tasks, from (goals reached, goals of the task): tasks with at least `k` goals.

    STOP is not needed. None where no task has that many goals.
    """
    eligible = [reached >= k for reached, goals in rows if goals >= k]
    return (100.0 * sum(eligible) / len(eligible), len(eligible)) if eligible else (None, 0)
