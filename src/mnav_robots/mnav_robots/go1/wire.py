"""The Go1's high-level UDP frames, byte for byte.

Layout: unitree_legged_sdk `comm.h`, packed, little endian: HighCmd 129 bytes, HighState 1087. The checksum is a CRC-32
(polynomial 0x04C11DB7, begun with ones, neither reflected nor inverted at the end) over the 32-bit words before it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import IntEnum

from mnav_core.geometry import SE2
from mnav_core.motion import STOP, Velocity

COMMAND_BYTES = 129
STATE_BYTES = 1087
HEAD = b"\xfe\xef"
POLYNOMIAL = 0x04C11DB7
_ONES = 0xFFFFFFFF
_CHECKED_WORDS = 31
# Offsets in HighCmd of what is set.
_MODE, _VELOCITY, _CRC = 22, 53, 125
# Offsets in HighState of what is read.
_QUATERNION, _ACCELERATION, _STATE_MODE, _POSITION, _STATE_VELOCITY = 22, 50, 885, 895, 911


class Mode(IntEnum):
    """Modes of the robot."""

    IDLE = 0
    STAND = 1
    WALK = 2
    STAND_DOWN = 5
    STAND_UP = 6
    DAMPING = 7


class Gait(IntEnum):
    """Gaits."""

    IDLE = 0
    TROT = 1


@dataclass(frozen=True)
class HighCommand:
    """What a robot is told: velocities in m/s and rad/s count in mode WALK."""

    mode: Mode
    gait: Gait = Gait.IDLE
    velocity: Velocity = STOP


@dataclass(frozen=True)
class HighState:
    """What a robot tells: its mode, pose (odometry) and velocity, and the accelerometer in m/s^2."""

    mode: int
    pose: SE2
    velocity: Velocity
    acceleration: tuple[float, float, float]


def checksum(words: bytes) -> int:
    """CRC of whole 32-bit little-endian words, most significant bit first. Raises ValueError for a part of a word."""
    if len(words) % 4:
        raise ValueError(f"{len(words)} bytes, allowed: whole words of 4 bytes")
    crc = _ONES
    for (word,) in struct.iter_unpack("<I", words):
        crc ^= word
        for _ in range(32):
            crc = ((crc << 1) ^ POLYNOMIAL if crc & 0x80000000 else crc << 1) & _ONES
    return crc


def encode(command: HighCommand) -> bytes:
    """The frame of a command."""
    frame = bytearray(COMMAND_BYTES)
    frame[0:2] = HEAD
    frame[_MODE], frame[_MODE + 1] = command.mode, command.gait
    velocity = command.velocity
    struct.pack_into("<3f", frame, _VELOCITY, velocity.vx, velocity.vy, velocity.wz)
    struct.pack_into("<I", frame, _CRC, checksum(bytes(frame[: 4 * _CHECKED_WORDS])))
    return bytes(frame)


def decode_state(frame: bytes) -> HighState:
    """The state in a frame. Raises ValueError for a frame of another length."""
    if len(frame) != STATE_BYTES:
        raise ValueError(f"state frame of {len(frame)} bytes, allowed: {STATE_BYTES}")
    w, x, y, z = struct.unpack_from("<4f", frame, _QUATERNION)
    px, py, _ = struct.unpack_from("<3f", frame, _POSITION)
    vx, vy, _, wz = struct.unpack_from("<4f", frame, _STATE_VELOCITY)
    ax, ay, az = struct.unpack_from("<3f", frame, _ACCELERATION)
    return HighState(frame[_STATE_MODE], SE2(px, py, _yaw(w, x, y, z)), Velocity(vx, vy, wz), (ax, ay, az))


def _yaw(w: float, x: float, y: float, z: float) -> float:
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
