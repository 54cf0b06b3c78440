"""The velocity gate: the last word on base velocity, between everything that wants to move a robot and the robot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from mnav_core.motion import STOP, Velocity
from mnav_core.robot import Limits

# The longest step that a ramp may make up for: after a pause the base must not leap.
_LONGEST_STEP_S = 0.2


class GateState(Enum):
    """What the gate does with commands."""

    IDLE = "idle"
    PASSING = "passing"
    STALE = "stale"
    EMERGENCY_STOP = "emergency_stop"


@dataclass(frozen=True)
class GateStep:
    """The velocity for the base in this tick and why it is what it is."""

    velocity: Velocity
    state: GateState


@dataclass(frozen=True)
class GateCounts:
    """How often the gate had to step in since it was made."""

    not_finite: int = 0
    clamped: int = 0
    stale: int = 0
    emergency_stops: int = 0


class VelocityGate:
    """Limits commands to what the robot may do and stops it when they cease.

    Times are monotonic seconds passed in. Commands are held until the next one, at most `timeout_s`; older than that,
    or stamped after `now_s`, they are stale and the base is commanded to rest. An emergency stop is latched until it is
    released explicitly, and what was commanded before the release does not count afterwards.
    """

    def __init__(self, limits: Limits, timeout_s: float = 0.3, period_s: float = 0.05) -> None:
        if not (math.isfinite(timeout_s) and timeout_s > 0.0):
            raise ValueError(f"timeout_s {timeout_s}: allowed: above 0")
        if not (math.isfinite(period_s) and period_s > 0.0):
            raise ValueError(f"period_s {period_s}: allowed: above 0")
        self._limits = limits
        self._timeout_s = timeout_s
        self._period_s = period_s
        self._wanted: Velocity | None = None
        self._wanted_s = 0.0
        self._last = STOP
        self._last_s: float | None = None
        self._stopped = False
        self._was_stale = False
        self._not_finite = self._clamped = self._stale = self._stops = 0

    @property
    def counts(self) -> GateCounts:
        """How often the gate had to step in."""
        return GateCounts(self._not_finite, self._clamped, self._stale, self._stops)

    def command(self, velocity: Velocity, now_s: float) -> None:
        """Take a command. One that is not finite counts as a command to rest."""
        if not all(math.isfinite(v) for v in (velocity.vx, velocity.vy, velocity.wz)):
            self._not_finite += 1
            velocity = STOP
        limited = self._clamp(velocity)
        self._clamped += limited != velocity
        self._wanted, self._wanted_s = limited, now_s

    def emergency_stop(self, active: bool) -> None:
        """Latch or release the emergency stop."""
        if active and not self._stopped:
            self._stops += 1
        self._stopped = active
        self._wanted = None

    def step(self, now_s: float) -> GateStep:
        """The velocity to publish now."""
        dt = self._period_s if self._last_s is None else now_s - self._last_s
        self._last_s = now_s
        if self._stopped:
            return self._rest(GateState.EMERGENCY_STOP)
        if self._wanted is None:
            return self._rest(GateState.IDLE)
        if not 0.0 <= now_s - self._wanted_s <= self._timeout_s:
            self._stale += not self._was_stale
            self._was_stale = True
            return self._rest(GateState.STALE)
        self._was_stale = False
        if self._wanted == STOP:
            # Rest is never ramped here: the base brakes by itself, and a ramp of ours would only delay it.
            return self._rest(GateState.PASSING)
        self._last = self._ramp(self._wanted, min(max(dt, 0.0), _LONGEST_STEP_S))
        return GateStep(self._last, GateState.PASSING)

    def _rest(self, state: GateState) -> GateStep:
        """Zero at once: the base brakes as fast as it can."""
        self._last = STOP
        return GateStep(STOP, state)

    def _clamp(self, velocity: Velocity) -> Velocity:
        limits = self._limits
        return Velocity(
            max(limits.vx_min, min(limits.vx_max, velocity.vx)),
            max(-limits.vy_max, min(limits.vy_max, velocity.vy)),
            max(-limits.wz_max, min(limits.wz_max, velocity.wz)),
        )

    def _ramp(self, wanted: Velocity, dt: float) -> Velocity:
        limits = self._limits
        faster, slower = limits.accel * dt, limits.decel * dt
        return Velocity(
            _towards(self._last.vx, wanted.vx, faster, slower),
            _towards(self._last.vy, wanted.vy, faster, slower),
            _towards(self._last.wz, wanted.wz, limits.angular_accel * dt, limits.angular_decel * dt),
        )


def _towards(now: float, wanted: float, faster: float, slower: float) -> float:
    """One step from `now` to `wanted`: at most `faster` away from zero, at most `slower` towards and not across it."""
    if now * wanted < 0.0:
        wanted = 0.0
    change = faster if abs(wanted) > abs(now) else slower
    return now + max(-change, min(change, wanted - now))
