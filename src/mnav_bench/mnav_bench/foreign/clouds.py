"""A point cloud made by others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE3


@dataclass(frozen=True, eq=False)
class ForeignCloud:
    """Points (N, 3) float32 of the sensor frame, NaN kept, and that frame in the file's world (PCD: VIEWPOINT)."""

    points: NDArray[np.float32]
    sensor: SE3
    warnings: tuple[str, ...]

    @property
    def finite(self) -> NDArray[np.bool_]:
        """Which points (N,) are finite."""
        return np.asarray(np.isfinite(self.points).all(axis=1))
