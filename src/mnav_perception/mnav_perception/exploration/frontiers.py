"""Where exploration can go on: the edge of the known, and what the camera has not looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import MapSnapshot
from mnav_perception.exploration.clusters import (
    choose_goals,
    count_unknown_beyond,
    coverage_mask,
    describe_clusters,
    geometric_mask,
    label_clusters,
)
from mnav_perception.exploration.travel import TravelSettings, travel_cost


class FrontierKind(Enum):
    """GEOMETRIC: free space next to the unknown. COVERAGE: known space that no camera has looked at."""

    GEOMETRIC = "geometric"
    COVERAGE = "coverage"


class FrontierState(Enum):
    """What is left: something to go to; nothing at all; only what no path leads to; only what failed not long ago."""

    AVAILABLE = "available"
    NONE_LEFT = "none left"
    ALL_UNREACHABLE = "all unreachable"
    ALL_BLACKLISTED = "all blacklisted"


@dataclass(frozen=True)
class Blacklisted:
    """Frontiers whose goal or centroid lies within `radius_m` of `xy` are left alone until `until_s`."""

    xy: tuple[float, float]
    radius_m: float
    until_s: float


@dataclass(frozen=True)
class Frontier:
    """One frontier. `centroid` is the member cell nearest to the mean, `goal` a reachable free cell that sees it.

    `size_m`: length of a geometric one, square root of the area of a coverage one. `path_cost_m` as in `travel_cost`.
    `gain`: unknown cells beyond it within the gain radius, or its cells not inspected. The id holds while the
    centroid's cell does.
    """

    id: str
    kind: FrontierKind
    centroid: tuple[float, float]
    goal: tuple[float, float]
    size_m: float
    path_cost_m: float
    gain: int


@dataclass(frozen=True)
class FrontierReport:
    """Frontiers that can be gone to, cheapest first, and how many were left out and why."""

    state: FrontierState
    frontiers: tuple[Frontier, ...]
    unreachable: int
    blacklisted: int


@dataclass(frozen=True)
class FrontierSettings:
    """Lengths in metres: where a frontier is cut, from how far it is looked at, and how far gain is counted."""

    tile_m: float = 2.0
    geometric_view_m: float = 0.3
    geometric_farthest_m: float = 1.0
    coverage_view_m: float = 1.5
    coverage_farthest_m: float = 3.0
    gain_radius_m: float = 1.5
    min_gain: int = 8
    travel: TravelSettings = field(default_factory=TravelSettings)


def find_frontiers(
    maps: MapSnapshot,
    pose: SE2,
    *,
    min_size_m: float = 0.4,
    blacklist: Sequence[Blacklisted] = (),
    now_s: float = 0.0,
    settings: FrontierSettings | None = None,
) -> FrontierReport:
    """Frontiers of both kinds from `pose` in `map`. Raises ValueError when the maps are not on one grid."""
    shape = maps.occupancy.shape
    if maps.costmap.shape != shape or maps.inspected.shape != shape:
        raise ValueError(f"maps: costmap {maps.costmap.shape}, inspected {maps.inspected.shape}, allowed: {shape}")
    if not min_size_m >= 0.0:
        raise ValueError(f"min_size_m = {min_size_m}, allowed: at least 0")
    used = settings or FrontierSettings()
    travel = travel_cost(maps.costmap, pose, used.travel)
    active = [entry for entry in blacklist if entry.until_s > now_s]
    found: list[Frontier] = []
    unreachable = blacklisted = 0
    for kind in FrontierKind:
        for frontier in _of_kind(kind, maps, travel, min_size_m, used):
            if not np.isfinite(frontier.path_cost_m):
                unreachable += 1
            elif any(_holds(entry, frontier) for entry in active):
                blacklisted += 1
            else:
                found.append(frontier)
    found.sort(key=lambda f: (f.path_cost_m, f.id))
    return FrontierReport(_state(len(found), unreachable, blacklisted), tuple(found), unreachable, blacklisted)


def _state(available: int, unreachable: int, blacklisted: int) -> FrontierState:
    if available:
        return FrontierState.AVAILABLE
    if blacklisted:
        return FrontierState.ALL_BLACKLISTED
    return FrontierState.ALL_UNREACHABLE if unreachable else FrontierState.NONE_LEFT


def _holds(entry: Blacklisted, frontier: Frontier) -> bool:
    return any(
        (x - entry.xy[0]) ** 2 + (y - entry.xy[1]) ** 2 <= entry.radius_m**2
        for x, y in (frontier.goal, frontier.centroid)
    )


def _of_kind(
    kind: FrontierKind, maps: MapSnapshot, travel: NDArray[np.float32], min_size_m: float, settings: FrontierSettings
) -> list[Frontier]:
    """Frontiers of one kind; path cost inf for those that no cell in reach sees."""
    grid = maps.occupancy
    occupancy, resolution = np.ascontiguousarray(grid.data), grid.resolution
    geometric = kind is FrontierKind.GEOMETRIC
    mask = geometric_mask(occupancy) if geometric else coverage_mask(occupancy, np.ascontiguousarray(maps.inspected))
    row0, column0 = round(grid.origin[1] / resolution), round(grid.origin[0] / resolution)
    tile = max(round(settings.tile_m / resolution), 1)
    labels, count = label_clusters(mask, tile, row0, column0, round(1.5 * tile))
    members = describe_clusters(labels, count)
    sizes = members[:, 0] * resolution if geometric else np.sqrt(members[:, 0]) * resolution
    view, farthest = (
        (settings.geometric_view_m, settings.geometric_farthest_m)
        if geometric
        else (settings.coverage_view_m, settings.coverage_farthest_m)
    )
    if geometric:
        gains = count_unknown_beyond(occupancy, labels, members, round(settings.gain_radius_m / resolution))
    else:
        gains = members[:, 0]
    kept = np.flatnonzero((sizes >= min_size_m) & (gains >= settings.min_gain))
    goals = choose_goals(
        occupancy, np.ascontiguousarray(maps.costmap.data), travel, members[kept], resolution, view, farthest
    )
    frontiers = []
    for k, (goal_row, goal_column) in zip(kept, goals, strict=True):
        row, column = int(members[k, 1]), int(members[k, 2])
        reached = goal_row >= 0
        frontiers.append(
            Frontier(
                id=f"{kind.value}:{column + column0}:{row + row0}",
                kind=kind,
                centroid=grid.to_point(row, column),
                goal=grid.to_point(int(goal_row), int(goal_column)) if reached else grid.to_point(row, column),
                size_m=float(sizes[k]),
                path_cost_m=float(travel[goal_row, goal_column]) if reached else float("inf"),
                gain=int(gains[k]),
            )
        )
    return frontiers
