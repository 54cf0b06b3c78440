"""Pinhole cameras in the optical convention: x right, y down, z forward."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PinholeCamera:
    """Intrinsics in pixels. Pixel centres are at integer coordinates plus one half."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    @classmethod
    def from_hfov(cls, width: int, height: int, hfov_rad: float) -> PinholeCamera:
        """Square pixels, principal point in the middle."""
        f = width / 2.0 / math.tan(hfov_rad / 2.0)
        return cls(width, height, f, f, width / 2.0, height / 2.0)

    @property
    def hfov_rad(self) -> float:
        """Horizontal field of view of a camera whose principal point is central."""
        return 2.0 * math.atan(self.width / 2.0 / self.fx)

    @property
    def vfov_rad(self) -> float:
        """Vertical field of view of a camera whose principal point is central."""
        return 2.0 * math.atan(self.height / 2.0 / self.fy)

    def scaled(self, width: int, height: int) -> PinholeCamera:
        """The same view at another resolution."""
        sx, sy = width / self.width, height / self.height
        return PinholeCamera(width, height, self.fx * sx, self.fy * sy, self.cx * sx, self.cy * sy)

    def project(self, points: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
        """Pixels (N, 2) of points (N, 3) of the optical frame, and which are in front of it and inside the image."""
        p = np.atleast_2d(np.asarray(points, float))
        in_front = p[:, 2] > 1e-6
        z = np.where(in_front, p[:, 2], 1.0)
        pixels = np.stack([p[:, 0] / z * self.fx + self.cx, p[:, 1] / z * self.fy + self.cy], axis=1)
        inside = (pixels >= 0).all(axis=1) & (pixels[:, 0] < self.width) & (pixels[:, 1] < self.height)
        return pixels, in_front & inside

    def unproject(self, pixels: ArrayLike, depth: ArrayLike) -> Array:
        """Points (N, 3) of the optical frame at pixels (N, 2) and depths (N,) along z, in metres."""
        uv = np.atleast_2d(np.asarray(pixels, float))
        z = np.atleast_1d(np.asarray(depth, float))
        return np.stack([(uv[:, 0] - self.cx) / self.fx * z, (uv[:, 1] - self.cy) / self.fy * z, z], axis=1)

    def depth_to_points(self, depth: NDArray[np.float32], stride: int = 1) -> Array:
        """Points (N, 3) of the optical frame for every valid pixel of a depth image (H, W) in metres.

        Valid means finite and above zero; `stride` takes every n-th row and column.
        """
        v, u = np.mgrid[0 : depth.shape[0] : stride, 0 : depth.shape[1] : stride]
        z = depth[::stride, ::stride]
        ok = np.isfinite(z) & (z > 0)
        return self.unproject(np.stack([u[ok] + 0.5, v[ok] + 0.5], axis=1), z[ok])
