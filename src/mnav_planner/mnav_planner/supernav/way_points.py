"""From a place that cannot be seen to a point of an image that lies on the way to it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2
from mnav_core.maps import INSCRIBED, GridMap
from mnav_core.sensing import RgbdImage
from mnav_perception.exploration.travel import travel_cost

MAX_STEPS = 4000
FLOOR_M = 0.02
FLOOR_TOLERANCE_M = 0.08
FLOOR_RANGE_M = 6.0


@dataclass(frozen=True)
class VisiblePoint:
    """A point (u, v), normalised from the top-left corner, of one view, and how far along the way it lies, metres."""

    view: str
    u: float
    v: float
    along_m: float


@dataclass(frozen=True)
class FloorPixel:
    """A pixel (u, v), normalised, of one view that shows floor, and its place in `map`."""

    view: str
    u: float
    v: float
    place: tuple[float, float]


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


def visible_floor(images: Sequence[RgbdImage], stride: int = 10, farthest_m: float = FLOOR_RANGE_M) -> list[FloorPixel]:
    """Floor that the images show up to a depth, as pixels on a lattice of `stride` and their places in `map`."""
    found: list[FloorPixel] = []
    for image in images:
        height, width = image.depth.shape
        rows, columns = np.mgrid[height // 3 : height : stride, stride // 2 : width : stride]
        z = image.depth[rows, columns].astype(float)
        ok = np.isfinite(z) & (z > 0.0) & (z < farthest_m)
        u, v = (columns[ok] + 0.5) / width, (rows[ok] + 0.5) / height
        pixels = np.stack([u * image.camera.width, v * image.camera.height], axis=1)
        places = image.camera_in_map.apply(image.camera.unproject(pixels, z[ok]))
        on_floor = np.abs(places[:, 2]) < FLOOR_TOLERANCE_M
        for k in np.flatnonzero(on_floor):
            place = (float(places[k, 0]), float(places[k, 1]))
            found.append(FloorPixel(image.view, float(u[k]), float(v[k]), place))
    return found


def nearest_floor(
    costmap: GridMap,
    travel: NDArray[np.float32],
    floor: Sequence[FloorPixel],
    goal: tuple[float, float],
    farthest_m: float,
    least_gain_m: float = 0.3,
) -> VisiblePoint | None:
    """The visible floor from which the way to `goal` is shortest; None where none brings the robot nearer to it."""
    row, column = costmap.to_cell(*goal)
    if not costmap.contains(row, column) or not math.isfinite(travel[row, column]):
        return None
    remaining = travel_cost(costmap, SE2(goal[0], goal[1]))
    best: tuple[float, FloorPixel, float] | None = None
    for pixel in floor:
        r, c = costmap.to_cell(*pixel.place)
        if not costmap.contains(r, c) or not 0 <= costmap.data[r, c] < INSCRIBED or travel[r, c] > farthest_m:
            continue
        if best is None or float(remaining[r, c]) < best[0]:
            best = (float(remaining[r, c]), pixel, float(travel[r, c]))
    if best is None or best[0] > float(travel[row, column]) - least_gain_m:
        return None
    return VisiblePoint(best[1].view, best[1].u, best[1].v, best[2])


def bearing_of_way(pose: SE2, way: Sequence[tuple[float, float]], ahead_m: float = 1.0) -> float:
    """Direction, relative to the heading (rad, positive left), of the way's point `ahead_m` from its start."""
    along = lengths_along(way)
    index = next((i for i, length in enumerate(along) if length >= ahead_m), len(way) - 1)
    return pose.bearing_to(*way[index])
