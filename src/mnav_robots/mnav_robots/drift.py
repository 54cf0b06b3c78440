"""Whether odometry wanders while the base is told to rest, as that of legged robots does."""

from __future__ import annotations

from dataclasses import dataclass

from mnav_core.geometry import SE2, wrap_angle

SETTLE_S = 1.0
WINDOW_S = 10.0
MOST_M = 0.05
MOST_RAD = 0.03


@dataclass(frozen=True)
class Drift:
    """How far the pose wandered in one window of rest."""

    distance_m: float
    yaw_rad: float

    @property
    def is_large(self) -> bool:
        """Whether maps would suffer from it."""
        return self.distance_m > MOST_M or self.yaw_rad > MOST_RAD


@dataclass
class DriftMonitor:
    """Measures over windows of 10 s, begun 1 s after the base was told to rest; `newest` is the last whole window's."""

    newest: Drift | None = None
    _rests_since_s: float | None = None
    _anchor: tuple[float, SE2] | None = None

    def add(self, stamp_s: float, is_told_to_rest: bool, pose: SE2) -> None:
        """The next pose, and what the base was told at that time."""
        if not is_told_to_rest:
            self._rests_since_s = self._anchor = None
            return
        if self._rests_since_s is None:
            self._rests_since_s = stamp_s
        if stamp_s - self._rests_since_s < SETTLE_S:
            return
        if self._anchor is None:
            self._anchor = (stamp_s, pose)
        since_s, start = self._anchor
        if stamp_s - since_s >= WINDOW_S:
            self.newest = Drift(start.distance_to(pose.x, pose.y), abs(wrap_angle(pose.yaw - start.yaw)))
            self._anchor = (stamp_s, pose)
