"""Which positions of a run are saved for scoring: every 0.25 m or 10 degrees, as the released agents step."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from mnav_core.geometry import SE2, wrap_angle

# What a simulator reports as 0.25 m and 10 degrees is that up to rounding.
_EPSILON = 1e-9


@dataclass(frozen=True)
class SavingRule:
    """A pose is saved once it is this far, or turned this much, from the last saved one."""

    distance_m: float = 0.25
    angle_rad: float = math.radians(10.0)


def saved_positions(poses: Iterable[SE2], rule: SavingRule | None = None) -> list[SE2]:
    """The initial pose, every pose that the rule takes, and the final pose."""
    used = rule or SavingRule()
    kept: list[SE2] = []
    last: SE2 | None = None
    for pose in poses:
        last = pose
        if not kept or _is_apart(kept[-1], pose, used):
            kept.append(pose)
    if last is not None and kept[-1] != last:
        kept.append(last)
    return kept


def _is_apart(a: SE2, b: SE2, rule: SavingRule) -> bool:
    turned = abs(wrap_angle(b.yaw - a.yaw))
    return a.distance_to(b.x, b.y) >= rule.distance_m - _EPSILON or turned >= rule.angle_rad - _EPSILON
