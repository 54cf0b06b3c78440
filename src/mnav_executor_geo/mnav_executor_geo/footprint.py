"""Where the footprint touches lethal cells, now and along predicted arcs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_executor_geo.compiled import kernel

Array = NDArray[np.float64]
_SPACING_M = 0.04
_SHRINKS_M = (0.0, -0.02, -0.04)


def outline(footprint: tuple[tuple[float, float], ...], spacing_m: float, padding_m: float) -> Array:
    """Points (N, 2) of the base frame along the edges of a footprint, corners pushed out by `padding_m` in x and y."""
    corners = np.asarray(footprint, float)
    corners = corners + np.sign(corners) * padding_m
    edges = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    pieces = []
    for a, b in edges:
        count = max(1, math.ceil(float(np.hypot(*(b - a))) / spacing_m))
        pieces.append(a + (b - a) * (np.arange(count) / count)[:, None])
    return np.concatenate(pieces)


@kernel
def hits(
    cost: NDArray[np.int8],
    origin_x: float,
    origin_y: float,
    resolution: float,
    points: Array,
    x: float,
    y: float,
    yaw: float,
) -> int:
    """Kernel: how many points (N, 2) of the base frame lie in lethal cells at a pose."""
    c, s = math.cos(yaw), math.sin(yaw)
    count = 0
    for k in range(points.shape[0]):
        column = int(math.floor((x + c * points[k, 0] - s * points[k, 1] - origin_x) / resolution))
        row = int(math.floor((y + s * points[k, 0] + c * points[k, 1] - origin_y) / resolution))
        if 0 <= row < cost.shape[0] and 0 <= column < cost.shape[1] and cost[row, column] == 100:
            count += 1
    return count


@kernel
def _clear_times(
    cost: NDArray[np.int8],
    origin_x: float,
    origin_y: float,
    resolution: float,
    points: Array,
    x0: float,
    y0: float,
    yaw0: float,
    v0: float,
    w0: float,
    candidates: Array,
    max_dv: float,
    max_dw: float,
    dt: float,
    steps: int,
) -> Array:
    """For each candidate (v, w, turn limit): time until the footprint touches more than a step before, or the horizon.

    Velocities ramp from (v0, w0); a candidate stops turning once it has turned by its limit.
    """
    start = hits(cost, origin_x, origin_y, resolution, points, x0, y0, yaw0)
    result = np.empty(candidates.shape[0])
    for k in range(candidates.shape[0]):
        x, y, yaw, v, w = x0, y0, yaw0, v0, w0
        turned = 0.0
        touched = start
        result[k] = steps * dt
        for step in range(steps):
            target_w = candidates[k, 1] if abs(turned) < candidates[k, 2] else 0.0
            v += min(max(candidates[k, 0] - v, -max_dv), max_dv)
            w += min(max(target_w - w, -max_dw), max_dw)
            middle = yaw + 0.5 * w * dt
            x += v * math.cos(middle) * dt
            y += v * math.sin(middle) * dt
            yaw += w * dt
            turned += w * dt
            now = hits(cost, origin_x, origin_y, resolution, points, x, y, yaw)
            if now > touched:
                result[k] = step * dt
                break
            touched = now
    return result


@kernel
def _sweep(
    cost: NDArray[np.int8],
    origin_x: float,
    origin_y: float,
    resolution: float,
    points: Array,
    x: float,
    y: float,
    yaw: float,
    angle: float,
    step: float,
) -> float:
    now = hits(cost, origin_x, origin_y, resolution, points, x, y, yaw)
    count = max(1, int(math.ceil(abs(angle) / step)))
    for k in range(1, count + 1):
        then = hits(cost, origin_x, origin_y, resolution, points, x, y, yaw + angle * k / count)
        if then > now:
            return abs(angle) * (k - 1) / count
        now = then
    return abs(angle)


def sweep_clear(costmap: GridMap, points: Array, pose: SE2, angle: float, step: float = 0.05) -> float:
    """How far, in radians from 0 to |angle|, the footprint can turn in place by `angle` before it touches more."""
    data = np.ascontiguousarray(costmap.data)
    return float(_sweep(data, *costmap.origin, costmap.resolution, points, pose.x, pose.y, pose.yaw, angle, step))


def touched_points(costmap: GridMap, points: Array, pose: SE2) -> int:
    """How many outline points lie in lethal cells at a pose."""
    data = np.ascontiguousarray(costmap.data)
    return int(hits(data, *costmap.origin, costmap.resolution, points, pose.x, pose.y, pose.yaw))


def clear_times(
    costmap: GridMap,
    points: Array,
    pose: SE2,
    velocity: tuple[float, float],
    candidates: Array,
    accelerations: tuple[float, float],
    horizon_s: float,
    dt: float = 0.1,
) -> Array:
    """Seconds (N,) that each candidate (N, 3: m/s, rad/s, most rad to turn) can be driven before the footprint hits.

    `velocity` is the present (v, w), `accelerations` what ramps it; a candidate without contact gets the horizon.
    """
    steps = max(1, math.ceil(horizon_s / dt - 1e-9))
    data = np.ascontiguousarray(costmap.data)
    times = _clear_times(
        data, *costmap.origin, costmap.resolution, points, pose.x, pose.y, pose.yaw, *velocity,
        np.ascontiguousarray(candidates, float), accelerations[0] * dt, accelerations[1] * dt, dt, steps,
    )  # fmt: skip
    return np.asarray(times, float)


class Outlines:
    """Outlines of one footprint, from padded to shrunk, of which the widest that is free now must stay so.

    Lethal cells reach up to a cell beyond the obstacle, so a base close to it may touch them and not it.
    """

    def __init__(self, footprint: tuple[tuple[float, float], ...], padding_m: float) -> None:
        steps = (padding_m, *_SHRINKS_M)
        self._rings = tuple(outline(footprint, _SPACING_M, padding) for padding in steps)

    @property
    def padded(self) -> Array:
        """The widest outline (N, 2)."""
        return self._rings[0]

    def fitting(self, costmap: GridMap, pose: SE2, narrower: int = 0) -> Array:
        """The widest outline (N, 2) that touches nothing at a pose, or one `narrower` steps below it."""
        for index, ring in enumerate(self._rings):
            if touched_points(costmap, ring, pose) == 0:
                return self._rings[min(index + narrower, len(self._rings) - 1)]
        return self._rings[-1]
