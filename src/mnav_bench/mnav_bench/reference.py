"""Reference routes.

The shortest path of the inflated footprint on the true map to a pose that satisfies the success rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mnav_bench.episodes import Pose, Reference
from mnav_bench.geodesic import GeodesicField, path_length
from mnav_core.geometry import SE2
from mnav_core.robot import CameraDescription, RobotDescription

# Beyond the inscribed radius the reference keeps this much from everything, so that the robot can really drive it.
MARGIN_M = 0.05
# The oracle stops this much inside the success distance: arrival has a tolerance of its own.
ORACLE_INSIDE_M = 0.3
MAX_LOOKS = 40

VisiblePixels = Callable[[SE2, float, str], int]


@dataclass(frozen=True)
class Target:
    """One candidate object: id and true centre."""

    object_id: str
    position: tuple[float, float, float]


def facing_pose(camera: CameraDescription, x: float, y: float, target: Target) -> tuple[SE2, float]:
    """The base pose at (x, y) whose camera looks at the target, and the head's pitch for it."""
    bearing = math.atan2(target.position[1] - y, target.position[0] - x)
    pose = SE2(x, y, bearing - camera.rpy[2])
    if camera.tilt is None:
        return pose, 0.0
    away = max(0.2, math.hypot(target.position[0] - x, target.position[1] - y) - camera.xyz[0])
    down = math.atan2(camera.xyz[2] - target.position[2], away)
    return pose, min(max(down, camera.tilt.min_rad), camera.tilt.max_rad)


def reference_route(
    field: GeodesicField,
    robot: RobotDescription,
    targets: Sequence[Target],
    distance_m: float,
    visible_pixels: VisiblePixels,
    clearance_mask: NDArray[np.bool_],
    min_pixels: int = 1,
) -> Reference | None:
    """The reference of an episode whose start is the field's; None when no pose within reach satisfies the rule.

    Its length ends at the nearest pose that satisfies the rule; its pose, where the oracle drives, lies 0.3 m inside
    it.
    """
    everywhere = np.isfinite(field.distance_m)
    nearest = _first_satisfying(field, everywhere, robot, targets, distance_m, visible_pixels, 1)
    if nearest is None:
        return None
    roomy = everywhere & clearance_mask
    inside = _first_satisfying(field, roomy, robot, targets, distance_m - ORACLE_INSIDE_M, visible_pixels, min_pixels)
    if inside is None:
        return None
    (row, column), _, _, _ = nearest
    (oracle_row, oracle_column), target, pose, pitch = inside
    route = field.path_to(oracle_row, oracle_column)
    return Reference(
        length_m=round(path_length(field.path_to(row, column)), 4),
        waypoints=tuple((round(x, 4), round(y, 4)) for x, y in densified(route)),
        pose=Pose(x=round(pose.x, 4), y=round(pose.y, 4), yaw=round(pose.yaw, 4)),
        camera_pitch=round(pitch, 4),
        object_id=target.object_id,
        object_position=target.position,
    )


def _first_satisfying(
    field: GeodesicField,
    allowed: NDArray[np.bool_],
    robot: RobotDescription,
    targets: Sequence[Target],
    distance_m: float,
    visible_pixels: VisiblePixels,
    min_pixels: int,
) -> tuple[tuple[int, int], Target, SE2, float] | None:
    """The cell nearest to the start from which the target nearest to it is visible and nearer than `distance_m`."""
    camera = robot.views[robot.success_view]
    rows, columns = np.nonzero(allowed)
    xs = field.grid.origin[0] + (columns + 0.5) * field.grid.resolution
    ys = field.grid.origin[1] + (rows + 0.5) * field.grid.resolution
    away = np.stack([np.hypot(xs - t.position[0], ys - t.position[1]) for t in targets])
    nearest = away.argmin(axis=0)
    ok = np.flatnonzero(away.min(axis=0) < distance_m)
    order = ok[np.argsort(field.distance_m[rows[ok], columns[ok]], kind="stable")]
    looked: list[tuple[float, float]] = []
    for i in order:
        x, y = float(xs[i]), float(ys[i])
        # Neighbouring cells see the same: look again only 15 cm further on.
        if any(math.dist((x, y), at) < 0.15 for at in looked):
            continue
        looked.append((x, y))
        target = targets[int(nearest[i])]
        pose, pitch = facing_pose(camera, x, y, target)
        if visible_pixels(pose, pitch, target.object_id) >= min_pixels:
            return (int(rows[i]), int(columns[i])), target, pose, pitch
        if len(looked) >= MAX_LOOKS:
            return None
    return None


def densified(points: Sequence[tuple[float, float]], step_m: float = 0.5) -> list[tuple[float, float]]:
    """The polyline's points with more between them, at most `step_m` apart."""
    dense = [points[0]]
    for a, b in pairwise(points):
        n = max(1, math.ceil(math.dist(a, b) / step_m))
        dense += [(a[0] + (b[0] - a[0]) * k / n, a[1] + (b[1] - a[1]) * k / n) for k in range(1, n + 1)]
    return dense
