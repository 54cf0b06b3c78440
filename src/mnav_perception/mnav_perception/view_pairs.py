"""Colour and depth of one view that belong together, from topics that arrive in any order."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE3
from mnav_core.sensing import RgbdImage

KEPT = 8


@dataclass(eq=False)
class _Parts:
    rgb: NDArray[np.uint8] | None = None
    depth: NDArray[np.float32] | None = None
    camera: PinholeCamera | None = None
    pose: SE3 | None = None


@dataclass
class ViewPairs:
    """Gathers the parts of `RgbdImage`s of one view by stamp; keeps the last 8 stamps.

    Parts whose stamps differ by at most `slop_s` belong together, so that cameras which stamp colour and depth apart
    still make images; the depth's stamp counts.
    """

    view: str
    slop_s: float = 0.02
    _parts: OrderedDict[float, _Parts] = field(default_factory=OrderedDict)

    def add_rgb(self, stamp_s: float, rgb: NDArray[np.uint8]) -> RgbdImage | None:
        """A colour image (H, W, 3); the whole image if that completes one."""
        key = self._key(stamp_s)
        self._parts[key].rgb = rgb
        return self._complete(key)

    def add_depth(
        self, stamp_s: float, depth: NDArray[np.float32], camera: PinholeCamera, pose: SE3
    ) -> RgbdImage | None:
        """Depth (H, W), its camera and the optical frame in `map`; the whole image if that completes one."""
        key = self._key(stamp_s)
        parts = self._parts[key]
        parts.depth, parts.camera, parts.pose = depth, camera, pose
        return self._complete(key)

    def _key(self, stamp_s: float) -> float:
        for known in self._parts:
            if abs(known - stamp_s) <= self.slop_s:
                return known
        self._parts[stamp_s] = _Parts()
        while len(self._parts) > KEPT:
            self._parts.popitem(last=False)
        return stamp_s

    def _complete(self, key: float) -> RgbdImage | None:
        parts = self._parts[key]
        if parts.rgb is None or parts.depth is None or parts.camera is None or parts.pose is None:
            return None
        del self._parts[key]
        return RgbdImage(self.view, key, parts.camera, parts.pose, parts.rgb, parts.depth)


@dataclass
class PanoramaGathering:
    """The newest image of every view, taken together once all are younger than the request and near each other."""

    views: tuple[str, ...]
    spread_s: float = 0.3
    simultaneous_s: float = 0.05
    _newest: dict[str, RgbdImage] = field(default_factory=dict)

    def add(self, image: RgbdImage) -> None:
        """An image of one view."""
        self._newest[image.view] = image

    def take(self, after_s: float) -> tuple[tuple[RgbdImage, ...], bool] | None:
        """Images of all views in the robot's order, and whether they are simultaneous; None while one is missing."""
        images = tuple(self._newest[view] for view in self.views if view in self._newest)
        if len(images) < len(self.views) or not images:
            return None
        stamps = [image.stamp_s for image in images]
        spread = max(stamps) - min(stamps)
        if min(stamps) < after_s or spread > self.spread_s:
            return None
        return images, spread <= self.simultaneous_s
