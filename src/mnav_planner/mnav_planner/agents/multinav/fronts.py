"""Which side of a container opens: the side with floor before it, not the one against a wall or another piece."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, MapSnapshot
from mnav_graph.records import Candidate, CandidateKind, Entity, NodeKind
from mnav_graph.viewpoints import ACT, standing_places
from mnav_planner.agents.multinav.beyond import normal_of

# Floor that must be free before a front, measured from the box, and how much better another side must be than the
# inferred one.
NEAR_M, FAR_M, STEP_M = 0.15, 0.75, 0.1
LEAD = 0.25
OWN_MARGIN_M = 0.2
Point2 = tuple[float, float]


def front_of(entity: Entity, maps: MapSnapshot) -> Point2:
    """Unit direction from the middle of a container to who opens it: the inferred one unless the map speaks for
    another side of the same box.
    """
    x, y = _middle(entity)
    inferred = entity.facing or _unit((entity.seen_from[0] - x, entity.seen_from[1] - y))
    sides = [inferred, (-inferred[1], inferred[0]), (-inferred[0], -inferred[1]), (inferred[1], -inferred[0])]
    scores = [_free_before(entity, side, maps) for side in sides]
    best = max(range(4), key=lambda k: (scores[k], -k))
    return sides[best] if scores[best] > scores[0] + LEAD else inferred


def from_the_front(
    candidates: Sequence[Candidate], entities: Mapping[str, Entity], maps: MapSnapshot, travel: NDArray[np.float32]
) -> tuple[Candidate, ...]:
    """Interaction candidates with viewpoints before a container's front, or on either side of a door; those without
    such a place are left out, others stay as they are.
    """
    moved = []
    for candidate in candidates:
        entity = entities.get(candidate.entity_id)
        if candidate.kind is CandidateKind.INTERACT and entity is not None:
            viewpoint, cost = _stand(entity, maps, travel)
            if viewpoint is None:
                continue
            candidate = replace(candidate, viewpoint=viewpoint, route_cost_m=cost)
        moved.append(candidate)
    return tuple(moved)


def _stand(entity: Entity, maps: MapSnapshot, travel: NDArray[np.float32]) -> tuple[SE2 | None, float]:
    if entity.kind is NodeKind.CHANNEL:
        x, y = normal_of(entity)
        sides = [(x, y), (-x, -y)]
    else:
        sides = [front_of(entity, maps)]
    width = max(entity.core_high[0] - entity.core_low[0], entity.core_high[1] - entity.core_low[1])
    places = standing_places(
        maps,
        travel,
        np.array([_middle(entity)] * len(sides)),
        np.full(len(sides), width / 2.0 + OWN_MARGIN_M),
        np.array([math.atan2(y, x) for x, y in sides]),
        ACT,
    )
    return min(places, key=lambda place: place[1])


def _middle(entity: Entity) -> Point2:
    low, high = entity.core_low, entity.core_high
    return (low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0


def _free_before(entity: Entity, side: Point2, maps: MapSnapshot) -> float:
    """Share of the strip before a side that is free floor."""
    x, y = _middle(entity)
    half_x, half_y = (entity.core_high[0] - entity.core_low[0]) / 2.0, (entity.core_high[1] - entity.core_low[1]) / 2.0
    reach = abs(side[0]) * half_x + abs(side[1]) * half_y
    half = 0.3 * (abs(side[1]) * half_x + abs(side[0]) * half_y) + STEP_M
    ahead, across = np.meshgrid(np.arange(reach + NEAR_M, reach + FAR_M, STEP_M), np.arange(-half, half + 1e-9, STEP_M))
    grid = maps.occupancy
    rows = np.floor((y + ahead * side[1] + across * side[0] - grid.origin[1]) / grid.resolution).astype(int)
    columns = np.floor((x + ahead * side[0] - across * side[1] - grid.origin[0]) / grid.resolution).astype(int)
    inside = (rows >= 0) & (columns >= 0) & (rows < grid.shape[0]) & (columns < grid.shape[1])
    free = np.zeros(rows.shape, bool)
    free[inside] = grid.data[rows[inside], columns[inside]] == FREE
    return float(free.mean())


def _unit(vector: Point2) -> Point2:
    length = max(math.hypot(*vector), 1e-6)
    return vector[0] / length, vector[1] / length
