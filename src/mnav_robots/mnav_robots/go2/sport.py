"""What a Go2 is asked of its sport service, and when.

Call numbers: unitree_ros2, `ros2_sport_client`. A Move holds for 1 s after it was sent, and an all-zero velocity is
dropped by widespread drivers, so that rest is always a request of its own, StopMove.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from mnav_core.motion import STOP, Velocity
from mnav_robots.held_command import HeldCommand

# How many times a StopMove is said: one may be lost, and an endless row would fight the operator's remote.
STOPS = 4


class SportCall(IntEnum):
    """Calls of the sport service."""

    DAMP = 1001
    BALANCE_STAND = 1002
    STOP_MOVE = 1003
    STAND_UP = 1004
    STAND_DOWN = 1005
    MOVE = 1008


class Posture(Enum):
    """What the robot was last told to be."""

    STANDING = "standing"
    LYING = "lying"


@dataclass(frozen=True)
class SportRequest:
    """One request: the call and its arguments in JSON."""

    call: SportCall
    parameter: str = ""


def move_request(velocity: Velocity) -> SportRequest:
    """Move at a velocity that is not zero."""
    if velocity == STOP:
        raise ValueError("velocity 0, allowed: StopMove for rest, for an all-zero Move is dropped")
    return SportRequest(SportCall.MOVE, json.dumps({"x": velocity.vx, "y": velocity.vy, "z": velocity.wz}))


@dataclass
class SportLink:
    """Turns held commands into requests; `step` is called at a steady rate and whenever something changed."""

    held: HeldCommand = field(default_factory=HeldCommand)
    posture: Posture = Posture.STANDING
    _stops_left: int = STOPS

    def step(self, now_s: float) -> tuple[SportRequest, ...]:
        """The requests to send now."""
        wanted = self.held.wanted(now_s)
        if wanted != STOP and self.posture is Posture.STANDING:
            self._stops_left = STOPS
            return (move_request(wanted),)
        if self.held.is_stopped:
            self._stops_left = STOPS
        if self._stops_left == 0:
            return ()
        self._stops_left -= 1
        return (SportRequest(SportCall.STOP_MOVE),)

    def stand(self, up: bool) -> tuple[SportRequest, ...]:
        """Stand up, ready to walk, or lie down; the base rests first."""
        self.posture = Posture.STANDING if up else Posture.LYING
        calls = (SportCall.STAND_UP, SportCall.BALANCE_STAND) if up else (SportCall.STOP_MOVE, SportCall.STAND_DOWN)
        return tuple(SportRequest(call) for call in calls)

    def rest(self) -> tuple[SportRequest, ...]:
        """The last words of a driver that ends."""
        return (SportRequest(SportCall.STOP_MOVE),) * STOPS
