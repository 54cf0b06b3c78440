"""The picture beside a question: the view with the candidate outlined, and its region enlarged (G.1)."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_planner.agents.multinav.scene import Shown

INSET = 0.4
PAD = 0.15
OUTLINE = (255, 210, 0)


def composite(shown: Shown) -> NDArray[np.uint8]:
    """(H, W, 3) RGB: the whole view with the entity's box outlined, its padded crop in the upper right corner."""
    picture = np.ascontiguousarray(shown.image.rgb).copy()
    height, width = picture.shape[:2]
    x0, y0, x1, y1 = _box(shown, width, height)
    crop = _crop(shown.image.rgb, (x0, y0, x1, y1))
    cv2.rectangle(picture, (x0, y0), (x1 - 1, y1 - 1), OUTLINE, max(1, width // 160))
    inset_h, inset_w = int(height * INSET), int(width * INSET)
    picture[:inset_h, width - inset_w :] = cv2.resize(crop, (inset_w, inset_h), interpolation=cv2.INTER_AREA)
    cv2.rectangle(picture, (width - inset_w, 0), (width - 1, inset_h - 1), OUTLINE, 1)
    return np.asarray(picture, np.uint8)


def best_shown(shown: Sequence[Shown]) -> Shown | None:
    """The view that shows an entity largest."""
    return max(shown, key=lambda s: _area(s), default=None)


def _area(shown: Shown) -> float:
    x0, y0, x1, y1 = shown.detection.box
    return (x1 - x0) * (y1 - y0)


def _box(shown: Shown, width: int, height: int) -> tuple[int, int, int, int]:
    sx, sy = width / shown.frame.camera.width, height / shown.frame.camera.height
    x0, y0, x1, y1 = shown.detection.box
    left, top = min(max(int(x0 * sx), 0), width - 1), min(max(int(y0 * sy), 0), height - 1)
    return left, top, max(min(round(x1 * sx), width), left + 1), max(min(round(y1 * sy), height), top + 1)


def _crop(rgb: NDArray[np.uint8], box: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    x0, y0, x1, y1 = box
    pad_x, pad_y = int((x1 - x0) * PAD) + 1, int((y1 - y0) * PAD) + 1
    return np.asarray(rgb[max(y0 - pad_y, 0) : y1 + pad_y, max(x0 - pad_x, 0) : x1 + pad_x], np.uint8)
