"""Depth images as points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnav_core.cameras import PinholeCamera
from mnav_perception.compiled import compiled

FAR_M = 1e4  # where a ray without return is taken to end: past every marking range


@compiled
def _unproject(
    depth: NDArray[np.float32], fx: float, fy: float, cx: float, cy: float, stride: int, no_return_clears: bool
) -> NDArray[np.float32]:
    rows, columns = (depth.shape[0] + stride - 1) // stride, (depth.shape[1] + stride - 1) // stride
    out = np.empty((rows * columns, 3), np.float32)
    k = 0
    for v in range(0, depth.shape[0], stride):
        for u in range(0, depth.shape[1], stride):
            z = depth[v, u]
            if np.isinf(z) and z > 0 and no_return_clears:
                z = np.float32(FAR_M)
            elif not z > 0.0:
                z = np.float32(np.nan)
            out[k, 0] = (u + 0.5 - cx) / fx * z
            out[k, 1] = (v + 0.5 - cy) / fy * z
            out[k, 2] = z
            k += 1
    return out


def depth_points(
    depth: NDArray[np.float32], camera: PinholeCamera, stride: int = 1, no_return_clears: bool = False
) -> NDArray[np.float32]:
    """Points (N, 3) float32 of the optical frame for every `stride`-th row and column of a depth image (H, W), metres.

    Pixels without depth (0, negative, NaN) become NaN; infinite ones too unless `no_return_clears`, which puts them
    far away. `camera` may be of another resolution than the image and is then scaled to it.
    """
    if stride < 1:
        raise ValueError(f"stride = {stride}, allowed: at least 1")
    height, width = depth.shape
    fitted = camera if (camera.width, camera.height) == (width, height) else camera.scaled(width, height)
    return _unproject(
        np.ascontiguousarray(depth, np.float32), fitted.fx, fitted.fy, fitted.cx, fitted.cy, stride, no_return_clears
    )
