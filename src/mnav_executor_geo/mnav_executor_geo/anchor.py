"""From a visual point to the place in space that it marks (SuperNav, geometric executor)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.sensing import RgbdImage
from mnav_executor_geo.settings import AnchorSettings

Array = NDArray[np.float64]
_MIN_SUPPORT = 3


@dataclass(frozen=True)
class Anchor:
    """What a visual point marks, in `map`: (x, y, z), depth along the optical axis, whether it lies on the floor.

    `offset_px` is how far from the asked pixel depth was found; `samples` how many pixels carry it.
    """

    x: float
    y: float
    z: float
    depth_m: float
    on_floor: bool
    offset_px: float
    samples: int


def find_anchor(image: RgbdImage, u: float, v: float, settings: AnchorSettings) -> Anchor | None:
    """The foreground surface at the normalised point (u, v); None when no depth is valid near it.

    Tries the point itself, then four more around it; in the window of each, the nearest cluster of depths within
    max(0.25 m, 20 %) that enough pixels support.
    """
    height, width = image.depth.shape
    side = min(width, height)
    cross = settings.cross_fraction * side
    centre = (u * width, v * height)
    for du, dv in ((0.0, 0.0), (0.0, cross), (-cross, 0.0), (cross, 0.0), (0.0, -cross)):
        pixel = (centre[0] + du, centre[1] + dv)
        if not (0.0 <= pixel[0] <= width and 0.0 <= pixel[1] <= height):
            continue
        found = _foreground(image, pixel, max(1, round(settings.window_fraction * side)), settings)
        if found is None:
            continue
        pixels, depths = found
        scale = (image.camera.width / width, image.camera.height / height)
        points = image.camera_in_map.apply(image.camera.unproject(pixels * np.asarray(scale), depths))
        x, y, z = (float(c) for c in np.median(points, axis=0))
        on_floor = abs(z) <= settings.floor_height_m
        return Anchor(x, y, z, float(np.median(depths)), on_floor, math.hypot(du, dv), len(depths))
    return None


def _foreground(
    image: RgbdImage, pixel: tuple[float, float], radius: int, settings: AnchorSettings
) -> tuple[Array, Array] | None:
    """Pixel centres (N, 2) and depths (N,) of the nearest supported cluster in a window, None without valid depth."""
    height, width = image.depth.shape
    column, row = min(int(pixel[0]), width - 1), min(int(pixel[1]), height - 1)
    r0, r1 = max(0, row - radius), min(height, row + radius + 1)
    c0, c1 = max(0, column - radius), min(width, column + radius + 1)
    window = image.depth[r0:r1, c0:c1].astype(float)
    valid = np.isfinite(window) & (window > settings.min_depth_m)
    if not valid.any():
        return None
    rows, columns = np.nonzero(valid)
    depths = window[valid]
    order = np.sort(depths)
    spans = np.maximum(settings.cluster_m, settings.cluster_fraction * order)
    members = np.searchsorted(order, order + spans, side="right") - np.arange(len(order))
    needed = min(len(order), max(_MIN_SUPPORT, math.ceil(settings.support_fraction * len(order))))
    first = int(np.argmax(members >= needed))
    chosen = (depths >= order[first]) & (depths <= order[first] + spans[first])
    pixels = np.stack([columns[chosen] + c0 + 0.5, rows[chosen] + r0 + 0.5], axis=1)
    return pixels, depths[chosen]
