"""Whether a LiDAR sits as its robot file says: gravity by its IMU, the driver's setting by its points' elevations.

A setting of the driver rotates the cloud and leaves the IMU as it is, so that each check sees another mistake. A turn
about the vertical axis shows in neither.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE3
from mnav_core.robot import LidarDescription

MARGIN_DEG = 1.5
MOST_OUTSIDE = 0.02
MOST_TILT_DEG = 5.0


def cloud_pose(lidar: LidarDescription, cloud_rpy: tuple[float, float, float]) -> SE3:
    """The frame in which the driver tells points, in the base: the mount less the rotation it has already applied."""
    applied = SE3.from_rpy((0.0, 0.0, 0.0), cloud_rpy)
    return lidar.pose_in_base() @ applied.inverse()


def gravity_tilt_deg(acceleration: NDArray[np.float64], mount: SE3) -> float:
    """Angle between the base's up and the acceleration (3,) that a resting IMU at `mount` feels, degrees.

    Raises ValueError when it feels none.
    """
    length = float(np.linalg.norm(acceleration))
    if not length > 0.0:
        raise ValueError("acceleration 0, allowed: what a resting IMU feels")
    up = mount.rotation @ (acceleration / length)
    return math.degrees(math.acos(min(1.0, max(-1.0, float(up[2])))))


def share_outside(
    points: NDArray[np.float32], lidar: LidarDescription, cloud_rpy: tuple[float, float, float]
) -> float | None:
    """Share of the points (N, 3) at elevations that the sensor does not have, once the setting is undone.

    None for a cloud without points.
    """
    own = SE3.from_rpy((0.0, 0.0, 0.0), cloud_rpy).inverse().apply(points)
    length = np.linalg.norm(own, axis=1)
    own, length = own[length > lidar.min_range], length[length > lidar.min_range]
    if len(own) == 0:
        return None
    elevation = np.degrees(np.arcsin(own[:, 2] / length))
    low, high = lidar.min_elevation_deg - MARGIN_DEG, lidar.max_elevation_deg + MARGIN_DEG
    return float(((elevation < low) | (elevation > high)).mean())


def complaint(tilt_deg: float | None, outside: float | None) -> str:
    """What is wrong, "" when nothing is to be seen. None: that check could not be made."""
    found = []
    if outside is not None and outside > MOST_OUTSIDE:
        found.append(f"vendor.cloud_rpy: {outside:.0%} of the points are where the sensor, rotated so, cannot see")
    if tilt_deg is not None and tilt_deg > MOST_TILT_DEG:
        found.append(f"lidar.rpy: by its IMU the LiDAR leans {tilt_deg:.0f} deg against that")
    return "; ".join(found)
