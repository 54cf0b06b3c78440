"""Odometry as vendors send it, made into the contract's."""

from __future__ import annotations

from dataclasses import dataclass

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.motion import STOP, Velocity
from mnav_core.sensing import Odometry

# A pose from longer ago says little about the velocity now.
LONGEST_S = 0.5
SHORTEST_S = 1e-3


@dataclass
class VendorOdometry:
    """Gives a vendor's planar pose a velocity where its message has none.

    A twist that is zero throughout is taken for missing while the pose moves: the velocity is then the mean since the
    pose before, in the base frame half way between the two.
    """

    _last: Odometry | None = None

    def add(self, stamp_s: float, pose: SE2, twist: Velocity) -> Odometry | None:
        """The next odometry; None for a stamp that is not after the last one's."""
        last = self._last
        if last is not None and 0.0 <= last.stamp_s - stamp_s < LONGEST_S:
            return None
        velocity = _difference(last, stamp_s, pose) if twist == STOP else twist
        self._last = Odometry(stamp_s, pose, velocity)
        return self._last


def _difference(last: Odometry | None, stamp_s: float, pose: SE2) -> Velocity:
    if last is None or not SHORTEST_S <= stamp_s - last.stamp_s <= LONGEST_S:
        return STOP
    dt = stamp_s - last.stamp_s
    turned = wrap_angle(pose.yaw - last.pose.yaw)
    middle = SE2(last.pose.x, last.pose.y, last.pose.yaw + 0.5 * turned)
    moved = middle.inverse() @ pose
    return Velocity(moved.x / dt, moved.y / dt, turned / dt)
