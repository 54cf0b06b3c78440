"""From a velocity command to the base's servos: clamped to the robot's limits, limited in acceleration."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mnav_core.motion import STOP, Velocity
from mnav_core.robot import Limits


@dataclass
class DriveRamp:
    """The velocity that the base is asked for now, approaching the command within the limits."""

    limits: Limits
    current: Velocity = STOP

    def advance(self, command: Velocity, dt: float) -> Velocity:
        """The next velocity, `dt` seconds later. A command that is not finite counts as rest."""
        target = clamped(command, self.limits)
        lim = self.limits
        vx = _approach(self.current.vx, target.vx, lim.accel * dt, lim.decel * dt)
        vy = _approach(self.current.vy, target.vy, lim.accel * dt, lim.decel * dt)
        wz = _approach(self.current.wz, target.wz, lim.angular_accel * dt, lim.angular_decel * dt)
        self.current = Velocity(vx, vy, wz)
        return self.current

    def reset(self) -> None:
        """At rest."""
        self.current = STOP


def clamped(command: Velocity, limits: Limits) -> Velocity:
    """The command within the robot's limits; rest when any part is not finite."""
    if not (math.isfinite(command.vx) and math.isfinite(command.vy) and math.isfinite(command.wz)):
        return STOP
    return Velocity(
        min(max(command.vx, limits.vx_min), limits.vx_max),
        min(max(command.vy, -limits.vy_max), limits.vy_max),
        min(max(command.wz, -limits.wz_max), limits.wz_max),
    )


def _approach(now: float, target: float, accel: float, decel: float) -> float:
    """One step towards `target`; slowing down, or turning round through zero, takes the braking limit."""
    braking = abs(target) < abs(now) or now * target < 0
    step = decel if braking else accel
    if now * target < 0:
        target = 0.0
    return min(now + step, target) if target > now else max(now - step, target)
