"""Quality of service of every kind of topic."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

LOCKSTEP_DEPTH = 32


def sensor_qos(lockstep: bool = False, depth: int = 5) -> QoSProfile:
    """Best effort and shallow: a late measurement is worth less than the next. In lockstep nothing may be lost."""
    return lockstep_qos() if lockstep else _profile(ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE, depth)


def command_qos(lockstep: bool = False) -> QoSProfile:
    """Reliable, and only the newest counts."""
    return lockstep_qos() if lockstep else _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE, 1)


def transform_qos(lockstep: bool = False) -> QoSProfile:
    """As tf2 has it."""
    return lockstep_qos() if lockstep else _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE, 100)


def latched_qos(depth: int = 1) -> QoSProfile:
    """Reliable and kept for whoever comes later: maps, graphs, static transforms, the emergency stop."""
    return _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL, depth)


def stream_qos(depth: int = 100) -> QoSProfile:
    """Reliable and deep: every message counts."""
    return _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE, depth)


def lockstep_qos() -> QoSProfile:
    """Reliable and kept, so that a node which is discovered late still gets the first tick."""
    return _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL, LOCKSTEP_DEPTH)


def _profile(reliability: ReliabilityPolicy, durability: DurabilityPolicy, depth: int) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=reliability, durability=durability
    )
