"""From a point of a view to the place in space that it marks."""

from __future__ import annotations

import math

import numpy as np

from mnav_core.sensing import RgbdImage

WINDOW_PX = 2


def point_of_view(image: RgbdImage, u: float, v: float) -> tuple[float, float, float] | None:
    """The surface (x, y, z in `map`) at (u, v), normalised from the top-left corner; None outside or without depth."""
    if not (math.isfinite(u) and math.isfinite(v) and 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0):
        return None
    height, width = image.depth.shape
    column, row = min(int(u * width), width - 1), min(int(v * height), height - 1)
    top, left = max(0, row - WINDOW_PX), max(0, column - WINDOW_PX)
    near = image.depth[top : row + WINDOW_PX + 1, left : column + WINDOW_PX + 1]
    valid = near[np.isfinite(near) & (near > 0.0)]
    if len(valid) == 0:
        return None
    pixel = np.array([[(column + 0.5) * image.camera.width / width, (row + 0.5) * image.camera.height / height]])
    x, y, z = image.camera_in_map.apply(image.camera.unproject(pixel, np.array([float(np.median(valid))])))[0]
    return float(x), float(y), float(z)
