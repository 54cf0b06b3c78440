"""Times: seconds as a float in records, builtin_interfaces/Time in messages."""

from __future__ import annotations

from builtin_interfaces.msg import Time

_NS = 1_000_000_000


def to_nanoseconds(seconds: float) -> int:
    """Whole nanoseconds of a time in seconds."""
    return round(seconds * _NS)


def to_time(seconds: float) -> Time:
    """Message of a time in seconds. Raises ValueError when it is negative or not finite."""
    if not 0.0 <= seconds < 2.0**31:
        raise ValueError(f"time {seconds!r} s cannot be sent, allowed: 0 to 2^31 s")
    whole, rest = divmod(to_nanoseconds(seconds), _NS)
    return Time(sec=whole, nanosec=rest)


def nanoseconds_of(time: Time) -> int:
    """Whole nanoseconds of a message's time."""
    return int(time.sec) * _NS + int(time.nanosec)


def to_seconds(time: Time) -> float:
    """Seconds of a message's time."""
    return nanoseconds_of(time) / _NS
