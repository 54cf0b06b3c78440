"""The true two-dimensional map of what a robot could hit."""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import LETHAL, GridMap
from mnav_sim_bridge.house.emitter import Group
from mnav_sim_bridge.triangles import LocalMesh, geom_mesh, is_static, world_vertices

FLOOR_CLEARANCE = 0.05
BORDER = 0.5
# Sub-cell positions as OpenCV's fixed point.
_SHIFT = 6


@dataclass
class ObstacleMapper:
    """Draws the shadow of every geom that reaches into a height band; what never moves is drawn once per band."""

    model: mujoco.MjModel
    size: tuple[float, float]
    _fixed: dict[tuple[float, float], NDArray[np.uint8]] = field(default_factory=dict, init=False, repr=False)
    _meshes: dict[int, LocalMesh | None] = field(default_factory=dict, init=False, repr=False)

    def draw(self, data: mujoco.MjData, top: float, resolution: float, stamp_s: float) -> GridMap:
        """Occupancy 0/100 of everything between FLOOR_CLEARANCE and `top`, robots left out.

        A cell is occupied when any part of a geom's convex outline touches it.
        """
        key = (top, resolution)
        if key not in self._fixed:
            self._fixed[key] = self._layer(data, top, resolution, fixed=True)
        grid = np.maximum(self._fixed[key], self._layer(data, top, resolution, fixed=False))
        cells = np.where(grid > 0, LETHAL, 0).astype(np.int8)
        return GridMap(stamp_s, resolution, (-BORDER, -BORDER), cells)

    def _layer(self, data: mujoco.MjData, top: float, resolution: float, fixed: bool) -> NDArray[np.uint8]:
        columns, rows = (int(np.ceil((s + 2 * BORDER) / resolution)) for s in self.size)
        grid = np.zeros((rows, columns), np.uint8)
        for geom in range(self.model.ngeom):
            group = int(self.model.geom_group[geom])
            if group in (Group.ROBOT, Group.HIDDEN, Group.CEILING) or is_static(self.model, geom) != fixed:
                continue
            mesh = self._mesh(geom)
            if mesh is None:
                continue
            points = world_vertices(mesh, data, geom)
            low, high = points[:, 2].min(), points[:, 2].max()
            if high <= FLOOR_CLEARANCE or low >= top:
                continue
            shade(grid, points, FLOOR_CLEARANCE, top, resolution)
        return grid

    def _mesh(self, geom: int) -> LocalMesh | None:
        if geom not in self._meshes:
            self._meshes[geom] = geom_mesh(self.model, geom)
        return self._meshes[geom]


def shade(grid: NDArray[np.uint8], points: NDArray[np.float64], low: float, high: float, resolution: float) -> None:
    """Fill the outline, seen from above, of the part of a convex body between two heights."""
    inside = (points[:, 2] >= low) & (points[:, 2] <= high)
    if not inside.all():
        points = _cut(points, low, high)
        if len(points) == 0:
            return
    # OpenCV puts integer coordinates at pixel centres.
    pixels = (points[:, :2] + BORDER) / resolution - 0.5
    hull = cv2.convexHull(np.round(pixels * (1 << _SHIFT)).astype(np.int32))
    cv2.fillConvexPoly(grid, hull, 1, lineType=cv2.LINE_8, shift=_SHIFT)


def _cut(points: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Vertices of a convex body cut to a band of heights: those inside, and where segments cross the two planes."""
    kept = [points[(points[:, 2] >= low) & (points[:, 2] <= high)]]
    for plane in (low, high):
        below, above = points[points[:, 2] < plane], points[points[:, 2] > plane]
        if len(below) == 0 or len(above) == 0:
            continue
        a, b = np.repeat(below, len(above), 0), np.tile(above, (len(below), 1))
        share = ((plane - a[:, 2]) / (b[:, 2] - a[:, 2]))[:, None]
        kept.append(a + share * (b - a))
    return np.concatenate(kept)
