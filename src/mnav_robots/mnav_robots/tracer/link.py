"""What a Tracer's driver is told: a Twist at a steady rate, since the base halts after 500 ms of silence."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnav_core.motion import Velocity
from mnav_robots.held_command import HeldCommand


@dataclass
class TracerLink:
    """Turns held commands into the velocity to send; `step` is called at a steady rate, at least at 2 Hz."""

    held: HeldCommand = field(default_factory=HeldCommand)

    def step(self, now_s: float) -> Velocity:
        """The velocity to send now. A differential base has no sideways motion: its driver would ignore it."""
        wanted = self.held.wanted(now_s)
        return Velocity(wanted.vx, 0.0, wanted.wz)
