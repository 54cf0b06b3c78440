"""Pictures for a model: JPEG within a budget, labelled, colours in the right order."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_core.chat import ImagePart
from mnav_core.errors import UsageError

SHRINK = 0.8
SMALLEST_SIDE_PX = 32


@dataclass(frozen=True)
class ImageBudget:
    """`max_images` a request carries, longest side in pixels and bytes of each; JPEG quality starts at `quality` and
    gives way to `quality_floor`."""

    max_images: int = 8
    max_side_px: int = 768
    max_bytes: int = 120_000
    quality: int = 85
    quality_floor: int = 40

    def __post_init__(self) -> None:
        if self.max_images < 0 or self.max_side_px < SMALLEST_SIDE_PX or self.max_bytes < 2_000:
            raise UsageError(
                f"image budget {self}: allowed are images >= 0, side >= {SMALLEST_SIDE_PX} px, bytes >= 2000"
            )
        if not 1 <= self.quality_floor <= self.quality <= 100:
            raise UsageError(f"image budget {self}: allowed is 1 <= quality_floor <= quality <= 100")


def encode_image(rgb: NDArray[np.uint8], image_id: str, label: str, budget: ImageBudget) -> ImagePart:
    """JPEG of an (H, W, 3) uint8 RGB image, aspect kept, within the budget's bytes.

    Raises UsageError for another shape or type.
    """
    if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8 or 0 in rgb.shape:
        raise UsageError(
            f"image {image_id!r}: {rgb.dtype} of shape {rgb.shape}, allowed is uint8 (H, W, 3) in RGB order"
        )
    scale = min(1.0, budget.max_side_px / max(rgb.shape[:2]))
    quality = budget.quality
    while True:
        bgr = cv2.cvtColor(_scaled(rgb, scale), cv2.COLOR_RGB2BGR)
        done, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
        if not done:
            raise UsageError(f"image {image_id!r}: could not be encoded as JPEG")
        if data.size <= budget.max_bytes or max(bgr.shape[:2]) <= SMALLEST_SIDE_PX:
            return ImagePart(data.tobytes(), image_id, label, int(bgr.shape[1]), int(bgr.shape[0]))
        # Quality first, then pixels: both only shrink, so that this ends.
        if quality > budget.quality_floor:
            quality = max(budget.quality_floor, quality - 15)
        else:
            scale *= SHRINK


def _scaled(rgb: NDArray[np.uint8], scale: float) -> NDArray[np.uint8]:
    if scale >= 1.0:
        return rgb
    height, width = rgb.shape[:2]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
