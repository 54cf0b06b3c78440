"""Where to take hold: a pixel of the newest capture that shows the operable part (section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_core import masks
from mnav_core.geometry import SE2
from mnav_core.interaction import REACH_M
from mnav_planner.agents.multinav.scene import Shown

# The surface that the image shows must lie where the part is believed to be.
AGREE_M = 0.12
REACH_MARGIN_M = 0.05
# Along the rim of a mask, depth belongs to what is behind.
RIM_PX = 2
PLANE_M = 0.06
# Cosine above which two sides of a box are the same.
SAME_SIDE = 0.7


@dataclass(frozen=True)
class OperablePoint:
    """A pixel (normalised from the top-left corner) of a view, and the surface point in `map` that it shows."""

    view: str
    u: float
    v: float
    point: tuple[float, float, float]


def ground(shown: Sequence[Shown], success_view: str, attempt: int, front: tuple[float, float]) -> OperablePoint | None:
    """The point to take hold of, in the success view before others; later attempts take another part of the surface.

    `front`: the direction that the part faces. An inferred part on another side does not count. None when no view shows
    a surface with depth.
    """
    for one in sorted(shown, key=lambda s: (s.image.view != success_view, s.image.view)):
        found = _believed(one) if attempt % 2 == 0 and _faces(one, front) else None
        found = found or _on_surface(one, attempt, front)
        if found is not None:
            return found
    return None


def is_in_reach(point: OperablePoint, pose: SE2) -> bool:
    """Whether a base at a pose can work on the point."""
    return pose.distance_to(point.point[0], point.point[1]) < REACH_M - REACH_MARGIN_M


def _believed(shown: Shown) -> OperablePoint | None:
    """The inferred part, when the image shows a surface there."""
    evidence, image = shown.evidence, shown.image
    if evidence is None or evidence.part_point is None:
        return None
    x, y, z = image.camera_in_map.inverse().apply(np.asarray(evidence.part_point, float))
    if z < 0.1:
        return None
    column = image.camera.fx * x / z + image.camera.cx
    row = image.camera.fy * y / z + image.camera.cy
    if not (0.0 <= column < image.camera.width and 0.0 <= row < image.camera.height):
        return None
    depth = float(image.depth[int(row), int(column)])
    if depth <= 0.0 or abs(depth - z) > AGREE_M:
        return None
    return _point(shown, float(column), float(row), depth)


def _faces(shown: Shown, front: tuple[float, float]) -> bool:
    """Whether the inferred part is on the front."""
    facing = shown.evidence.facing if shown.evidence is not None else None
    return facing is None or facing[0] * front[0] + facing[1] * front[1] > SAME_SIDE


def _on_surface(shown: Shown, attempt: int, front: tuple[float, float]) -> OperablePoint | None:
    """The middle of the foremost plane of what the detector marked, or beside it for later attempts."""
    mask = _mask(shown)
    depth = shown.image.depth
    inner = cv2.erode(mask.astype(np.uint8), np.ones((2 * RIM_PX + 1,) * 2, np.uint8)) > 0
    usable = (inner if inner.any() else mask) & (depth > 0.1)
    rows, columns = np.nonzero(usable)
    if not len(rows):
        return None
    image = shown.image
    points = image.camera.unproject(np.stack([columns + 0.5, rows + 0.5], axis=1), depth[rows, columns])
    ahead = np.asarray(image.camera_in_map.apply(points))[:, :2] @ np.array(front)
    # Handles stand out of the front, insides lie behind it.
    is_front = np.abs(ahead - np.quantile(ahead, 0.85)) < PLANE_M
    rows, columns = rows[is_front], columns[is_front]
    share = (0.5, 0.3, 0.7, 0.15, 0.85)[attempt % 5]
    middle = (np.quantile(rows, 0.5), np.quantile(columns, share))
    k = int(np.argmin((rows - middle[0]) ** 2 + (columns - middle[1]) ** 2))
    return _point(shown, columns[k] + 0.5, rows[k] + 0.5, float(depth[rows[k], columns[k]]))


def _mask(shown: Shown) -> NDArray[np.bool_]:
    """The detection's mask at the image's size; its box where there is none."""
    image, frame, detection = shown.image, shown.frame, shown.detection
    height, width = image.depth.shape
    if detection.mask is not None:
        full = masks.decode(detection.mask)
        resized = cv2.resize(full.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
        return np.asarray(resized > 0)
    x0, y0, x1, y1 = detection.box
    sx, sy = width / frame.camera.width, height / frame.camera.height
    made = np.zeros((height, width), np.bool_)
    made[int(y0 * sy) : int(y1 * sy) + 1, int(x0 * sx) : int(x1 * sx) + 1] = True
    return made


def _point(shown: Shown, column: float, row: float, depth: float) -> OperablePoint:
    image = shown.image
    camera = image.camera
    x, y, z = image.camera_in_map.apply(camera.unproject([column, row], depth)[0])
    at = (float(x), float(y), float(z))
    return OperablePoint(image.view, column / camera.width, row / camera.height, at)
