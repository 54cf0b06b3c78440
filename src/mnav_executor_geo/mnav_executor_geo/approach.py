"""Where to stand for an anchor: reachable, at standoff, facing it (SuperNav, geometric executor and appendix A.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, INSCRIBED, GridMap
from mnav_core.requests import PointIntent
from mnav_executor_geo.anchor import Anchor
from mnav_executor_geo.compiled import kernel
from mnav_executor_geo.footprint import touched_points
from mnav_executor_geo.grid_search import Reach, flood
from mnav_executor_geo.paths import nearest_reachable
from mnav_executor_geo.settings import ApproachSettings, PlannerSettings

Array = NDArray[np.float64]
_NEAREST_M = 0.3
_MOST_CHECKED = 300


@dataclass(frozen=True)
class Approach:
    """A pose to stand at; `yaw` None leaves the heading free."""

    x: float
    y: float
    yaw: float | None
    path_cost_m: float


@kernel
def _lethal_cells(cost: NDArray[np.int8], start: Array, ends: Array) -> Array:
    """Lethal cells (N,) on the straight lines from `start` to each end, all in fractional (row, column)."""
    result = np.zeros(ends.shape[0])
    for k in range(ends.shape[0]):
        dr, dc = ends[k, 0] - start[0], ends[k, 1] - start[1]
        steps = max(1, int(math.ceil(math.sqrt(dr * dr + dc * dc))))
        for i in range(steps + 1):
            r = int(math.floor(start[0] + dr * i / steps))
            c = int(math.floor(start[1] + dc * i / steps))
            if 0 <= r < cost.shape[0] and 0 <= c < cost.shape[1] and cost[r, c] == 100:
                result[k] += 1.0
    return result


def find_approach(
    costmap: GridMap,
    start: SE2,
    anchor: Anchor,
    seen_from: tuple[float, float],
    intent: PointIntent,
    outline: Array,
    settings: ApproachSettings,
    planner: PlannerSettings,
) -> Approach | None:
    """The best pose to stand at for an anchor, None when none is reachable.

    PASS_THROUGH takes the floor under the anchor, or the nearest reachable place within the snap distance. APPROACH and
    INSPECT take candidates on rings around it, scored by distance from the standoff, lethal cells between candidate and
    anchor, direction from which the anchor was seen (`seen_from`, the camera's place), path length and clearance; the
    footprint (`outline`) must fit there.
    """
    reach = flood(costmap, costmap.to_cell(start.x, start.y), planner.cost_weight, planner.escape_m)
    if reach is None:
        return None
    if intent is PointIntent.PASS_THROUGH:
        cell = nearest_reachable(costmap, reach, (anchor.x, anchor.y), settings.snap_m)
        if cell is None:
            return None
        inside = costmap.to_cell(anchor.x, anchor.y) == cell
        x, y = (anchor.x, anchor.y) if inside else costmap.to_point(*cell)
        return Approach(x, y, None, float(reach.cost_m[cell]))
    standoff = settings.inspect_standoff_m if intent is PointIntent.INSPECT else settings.standoff_m
    return _best_on_rings(costmap, reach, anchor, seen_from, standoff, outline, settings)


def _best_on_rings(
    costmap: GridMap,
    reach: Reach,
    anchor: Anchor,
    seen_from: tuple[float, float],
    standoff: float,
    outline: Array,
    settings: ApproachSettings,
) -> Approach | None:
    radii = np.arange(_NEAREST_M, standoff + settings.max_excess_m + 1e-9, settings.ring_step_m)
    angles = np.arange(settings.angles) * (2.0 * math.pi / settings.angles)
    radius, angle = (a.ravel() for a in np.meshgrid(radii, angles, indexing="ij"))
    x, y = anchor.x + radius * np.cos(angle), anchor.y + radius * np.sin(angle)
    fractional = np.stack([y - costmap.origin[1], x - costmap.origin[0]], axis=1) / costmap.resolution
    rows, columns = np.floor(fractional).astype(int).T
    inside = (rows >= 0) & (columns >= 0) & (rows < costmap.shape[0]) & (columns < costmap.shape[1])
    rows, columns = np.where(inside, rows, 0), np.where(inside, columns, 0)
    value = costmap.data[rows, columns]
    path_m = reach.cost_m[rows, columns].astype(float)
    good = inside & (value >= FREE) & (value < INSCRIBED) & np.isfinite(path_m)
    if not good.any():
        return None
    start = np.array([anchor.y - costmap.origin[1], anchor.x - costmap.origin[0]]) / costmap.resolution
    occluded_m = _lethal_cells(np.ascontiguousarray(costmap.data), start, fractional) * costmap.resolution
    towards_viewer = math.atan2(seen_from[1] - anchor.y, seen_from[0] - anchor.x)
    side = np.abs(np.angle(np.exp(1j * (angle - towards_viewer))))
    score = (
        settings.distance_weight * np.abs(radius - standoff)
        + settings.occlusion_weight * occluded_m
        + settings.alignment_weight * side / (0.5 * math.pi)
        + settings.path_weight * np.where(good, path_m, 0.0)
        + settings.clearance_weight * value / 98.0
    )
    for best in np.argsort(np.where(good, score, np.inf))[: min(int(good.sum()), _MOST_CHECKED)]:
        facing = math.atan2(anchor.y - y[best], anchor.x - x[best])
        pose = SE2(float(x[best]), float(y[best]), facing)
        if touched_points(costmap, outline, pose) == 0:
            return Approach(pose.x, pose.y, facing, float(path_m[best]))
    return None
