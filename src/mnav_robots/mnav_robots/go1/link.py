"""What a Go1 is told at each step.

Its own watchdog zeroes a velocity only while the last command is 400 to 402 ms old, so that it may miss a silence for
good: rest is told explicitly, and something is told at a steady rate as long as the driver lives.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mnav_core.motion import STOP
from mnav_robots.go1.wire import Gait, HighCommand, Mode
from mnav_robots.held_command import HeldCommand

REST = HighCommand(Mode.WALK)
# How often a driver that ends says so, for datagrams get lost.
LAST_WORDS = 5


@dataclass
class Go1Link:
    """Turns held commands into high-level commands; `step` is called at a steady rate."""

    held: HeldCommand = field(default_factory=HeldCommand)
    is_standing: bool = True

    def step(self, now_s: float) -> HighCommand:
        """The command to send now."""
        if not self.is_standing:
            return HighCommand(Mode.STAND_DOWN)
        wanted = self.held.wanted(now_s)
        return REST if wanted == STOP else HighCommand(Mode.WALK, Gait.TROT, wanted)

    def stand(self, up: bool) -> tuple[HighCommand, ...]:
        """Stand up or lie down; the base rests first."""
        self.is_standing = up
        return (HighCommand(Mode.STAND_UP),) if up else (REST, HighCommand(Mode.STAND_DOWN))
