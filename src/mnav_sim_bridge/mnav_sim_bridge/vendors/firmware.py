"""How the robots' own software treats commands: what it takes, drops and forgets. Times are robot seconds.

Each `velocity(now_s)` is what the legs or wheels are asked for at that time.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from enum import Enum

from mnav_core.motion import STOP, Velocity

MOVE_HOLDS_S = 1.0
TRACER_SILENCE_S = 0.5
# The Go1's watchdog acts while the last command is this old, and looks once in a loop that is longer than that.
WATCHDOG_S = (0.400, 0.402)
LOOP_S = 0.005


class Stance(Enum):
    """How a legged robot is."""

    STANDING = "standing"
    LYING = "lying"
    LIMP = "limp"


@dataclass
class Go2Firmware:
    """The sport service. An all-zero Move is dropped; a Move holds for 1 s; nothing walks unless it stands."""

    stance: Stance = Stance.STANDING
    dropped: int = 0
    stops: int = 0
    _velocity: Velocity = STOP
    _since_s: float = 0.0

    def request(self, api_id: int, parameter: str, now_s: float) -> None:
        """A request came. An unknown one is dropped."""
        if api_id == 1008:
            self._move(parameter, now_s)
        elif api_id == 1003:
            self.stops += 1
            self._velocity = STOP
        elif api_id in (1001, 1005):
            self._velocity, self.stance = STOP, Stance.LIMP if api_id == 1001 else Stance.LYING
        elif api_id in (1004, 1006):
            self.stance = Stance.STANDING
        elif api_id != 1002:
            self.dropped += 1

    def _move(self, parameter: str, now_s: float) -> None:
        try:
            asked = json.loads(parameter)
            velocity = Velocity(float(asked["x"]), float(asked["y"]), float(asked["z"]))
        except (ValueError, KeyError, TypeError):
            self.dropped += 1
            return
        if velocity == STOP:
            self.dropped += 1
            return
        self._velocity, self._since_s = velocity, now_s

    def velocity(self, now_s: float) -> Velocity:
        """What the legs are asked for."""
        if self.stance is not Stance.STANDING or now_s - self._since_s > MOVE_HOLDS_S:
            return STOP
        return self._velocity


@dataclass
class Go1Firmware:
    """High-level commands in frames of 129 bytes. A frame with a wrong checksum is dropped.

    The watchdog looks every 5 ms whether the last command is 400 to 402 ms old, and so mostly never sees it.
    """

    stance: Stance = Stance.STANDING
    mode: int = 0
    dropped: int = 0
    frames: int = 0
    _velocity: Velocity = STOP
    _since_s: float = 0.0
    _looked_s: float = 0.0

    def frame(self, data: bytes, now_s: float) -> None:
        """A frame came."""
        if len(data) != 129 or data[:2] != b"\xfe\xef" or struct.unpack("<I", data[125:])[0] != _crc(data[:124]):
            self.dropped += 1
            return
        self.frames += 1
        self.mode = data[22]
        vx, vy, wz = struct.unpack("<fff", data[53:65])
        if self.mode == 5:
            self.stance = Stance.LYING
        elif self.mode == 6:
            self.stance = Stance.STANDING
        walks = self.mode == 2 and self.stance is Stance.STANDING
        self._velocity, self._since_s = Velocity(vx, vy, wz) if walks else STOP, now_s

    def velocity(self, now_s: float) -> Velocity:
        """What the legs are asked for; advances the watchdog's loop to this time."""
        while self._looked_s + LOOP_S <= now_s:
            self._looked_s += LOOP_S
            if WATCHDOG_S[0] <= self._looked_s - self._since_s <= WATCHDOG_S[1]:
                self._velocity = STOP
        return self._velocity


@dataclass
class TracerFirmware:
    """The base's controller behind its driver node: no sideways motion, and rest after 500 ms of silence."""

    ignored_sideways: int = 0
    _velocity: Velocity = STOP
    _since_s: float | None = None

    def twist(self, velocity: Velocity, now_s: float) -> None:
        """A Twist came."""
        self.ignored_sideways += velocity.vy != 0.0
        self._velocity, self._since_s = Velocity(velocity.vx, 0.0, velocity.wz), now_s

    def velocity(self, now_s: float) -> Velocity:
        """What the wheels are asked for."""
        if self._since_s is None or now_s - self._since_s > TRACER_SILENCE_S:
            return STOP
        return self._velocity


def _crc(data: bytes) -> int:
    """CRC-32/MPEG-2 of the bytes of each little-endian word, highest first, a bit at a time."""
    crc = 0xFFFFFFFF
    for start in range(0, len(data), 4):
        for byte in reversed(data[start : start + 4]):
            for bit in range(7, -1, -1):
                top = (crc >> 31) ^ (byte >> bit & 1)
                crc = (crc << 1 & 0xFFFFFFFF) ^ (0x04C11DB7 if top else 0)
    return crc
