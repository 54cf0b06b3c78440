"""From a place that cannot be seen to a point of an image that lies on the way to it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.sensing import RgbdImage

MAX_STEPS = 4000
FLOOR_M = 0.02


@dataclass(frozen=True)
class VisiblePoint:
    """A point (u, v), normalised from the top-left corner, of one view, and how far along the way it lies, metres."""

    view: str
    u: float
    v: float
    along_m: float


def way_back(costmap: GridMap, travel: NDArray[np.float32], goal: tuple[float, float]) -> list[tuple[float, float]]:
    """Points from the start of `travel` to `goal`, each the next one's cheapest neighbour; empty without a way."""
    row, column = costmap.to_cell(*goal)
    if not costmap.contains(row, column) or not math.isfinite(travel[row, column]):
        return []
    points = [costmap.to_point(row, column)]
    for _ in range(MAX_STEPS):
        if travel[row, column] <= 0.0:
            break
        r0, c0 = max(0, row - 1), max(0, column - 1)
        window = travel[r0 : row + 2, c0 : column + 2]
        best = int(np.argmin(window))
        r, c = r0 + best // window.shape[1], c0 + best % window.shape[1]
        if (r, c) == (row, column):
            break
        row, column = r, c
        points.append(costmap.to_point(row, column))
    return points[::-1]


def lengths_along(points: Sequence[tuple[float, float]]) -> list[float]:
    """How far along the polyline each point lies, metres."""
    along = [0.0]
    for a, b in itertools.pairwise(points):
        along.append(along[-1] + math.dist(a, b))
    return along


def farthest_visible(
    way: Sequence[tuple[float, float]], images: Sequence[RgbdImage], farthest_m: float, nearest_m: float = 0.6
) -> VisiblePoint | None:
    """The point furthest along the way, not beyond `farthest_m`, whose floor some image sees; None where none does."""
    along = lengths_along(way)
    for index in range(len(way) - 1, -1, -2):
        if along[index] > farthest_m:
            continue
        if along[index] < nearest_m:
            return None
        for image in images:
            seen = floor_in_view(image, way[index])
            if seen is not None:
                return VisiblePoint(image.view, seen[0], seen[1], along[index])
    return None


def floor_in_view(image: RgbdImage, place: tuple[float, float], margin_px: int = 4) -> tuple[float, float] | None:
    """Where the image shows the floor at a place of `map`; None where it is out of the picture or hidden."""
    point = image.camera_in_map.inverse().apply(np.array([place[0], place[1], FLOOR_M]))
    pixels, inside = image.camera.project(point)
    if not inside[0]:
        return None
    u, v = pixels[0, 0] / image.camera.width, pixels[0, 1] / image.camera.height
    height, width = image.depth.shape
    column, row = int(u * width), int(v * height)
    if not (margin_px <= column < width - margin_px and margin_px <= row < height - margin_px):
        return None
    z = float(point[2])
    window = image.depth[row - 2 : row + 3, column - 2 : column + 3]
    valid = window[np.isfinite(window) & (window > 0.0)]
    # The nearest surface in the window is what a visual point would take: it has to be the floor itself.
    if valid.size == 0 or float(valid.min()) < z - max(0.25, 0.12 * z):
        return None
    return float(u), float(v)


def bearing_of_way(pose: SE2, way: Sequence[tuple[float, float]], ahead_m: float = 1.0) -> float:
    """Direction, relative to the heading (rad, positive left), of the way's point `ahead_m` from its start."""
    along = lengths_along(way)
    index = next((i for i, length in enumerate(along) if length >= ahead_m), len(way) - 1)
    return pose.bearing_to(*way[index])
