"""The newest base command and whether it still counts: what every driver asks before it tells its robot anything."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mnav_core.motion import STOP, Velocity


@dataclass
class HeldCommand:
    """Times are seconds of one clock, passed in.

    A command is older than `timeout_s`, or stamped after the time asked about: the base is to rest. While the
    emergency stop is active nothing else counts, nor does afterwards what came before its release.
    """

    timeout_s: float = 0.25
    _velocity: Velocity = STOP
    _stamp_s: float | None = None
    _is_stopped: bool = False

    @property
    def is_stopped(self) -> bool:
        """Whether the emergency stop is active."""
        return self._is_stopped

    def take(self, velocity: Velocity, now_s: float) -> None:
        """A command came. One that is not finite is a command to rest."""
        finite = all(math.isfinite(v) for v in (velocity.vx, velocity.vy, velocity.wz))
        self._velocity, self._stamp_s = velocity if finite else STOP, now_s

    def emergency_stop(self, active: bool) -> None:
        """Latch or release."""
        self._is_stopped = active
        self._stamp_s = None

    def wanted(self, now_s: float) -> Velocity:
        """What the base is to do now."""
        if self._is_stopped or self._stamp_s is None or not 0.0 <= now_s - self._stamp_s <= self.timeout_s:
            return STOP
        return self._velocity
