"""Doors, fridges, cabinets and drawers of a running model: fractions, latches, forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import mujoco

from mnav_sim_bridge.house.records import HouseRecord

# A latched joint may move this share of its travel before its stop holds it.
LATCH_SLACK = 0.002
CLOSED_SHARE = 0.01
# Stiff, critically damped stops: a latch must hold the base's full force at the leaf's edge.
LATCH_SOLREF = (0.01, 1.0)
LATCH_SOLIMP = (0.99, 0.9999, 0.0005, 0.5, 2.0)


@dataclass
class Articulation:
    """The joints of one house in one model.

    A latch is a joint limit narrowed to nothing: it costs no constraint at rest.
    """

    model: mujoco.MjModel
    record: HouseRecord
    _ranges: dict[str, tuple[float, float]] = field(default_factory=dict, init=False, repr=False)
    _latched: set[str] = field(default_factory=set, init=False, repr=False)

    def joints(self) -> tuple[str, ...]:
        """Every joint of a leaf or drawer."""
        doors = tuple(d.joint for d in self.record.doors)
        return doors + tuple(j for c in self.record.containers for j in c.joints)

    def travel(self, joint: str) -> float:
        """Full travel of a joint, radians or metres. Raises KeyError for a joint that the house does not have."""
        low, high = self._range(joint)
        return high - low

    def fraction(self, data: mujoco.MjData, joint: str) -> float:
        """How far a joint is open, 0 closed to 1."""
        return float(data.joint(joint).qpos[0]) / self.travel(joint)

    def set_fraction(self, data: mujoco.MjData, joint: str, fraction: float) -> None:
        """Put a joint at a fraction of its travel, at rest; latches it when that closes it."""
        value = data.joint(joint)
        value.qpos[0] = fraction * self.travel(joint)
        value.qvel[0] = 0.0
        if fraction < CLOSED_SHARE:
            self.latch(joint)
        else:
            self.release_latch(joint)

    def reset(self, data: mujoco.MjData) -> None:
        """Every joint where the house starts; what is closed is latched."""
        for joint in self.joints():
            self.set_fraction(data, joint, 0.0)
        for door in self.record.doors:
            self.set_fraction(data, door.joint, door.initial_qpos / (door.open_qpos - door.closed_qpos))

    def latch(self, joint: str) -> None:
        """Hold a closed joint."""
        low, high = self._range(joint)
        row = self.model.joint(joint)
        row.range[:] = (low, low + LATCH_SLACK * (high - low))
        self.model.jnt_solref[row.id] = LATCH_SOLREF
        self.model.jnt_solimp[row.id] = LATCH_SOLIMP
        self._latched.add(joint)

    def release_latch(self, joint: str) -> None:
        """Let a joint move over its whole travel."""
        row = self.model.joint(joint)
        row.range[:] = self._range(joint)
        self._latched.discard(joint)

    def is_latched(self, joint: str) -> bool:
        """Whether a joint is held closed."""
        return joint in self._latched

    def latched(self) -> Sequence[str]:
        """The held joints, sorted."""
        return sorted(self._latched)

    def _range(self, joint: str) -> tuple[float, float]:
        known = self._ranges.get(joint)
        if known is None:
            if joint not in self.joints():
                raise KeyError(f"joint {joint!r} is not one of the house's doors or containers")
            low, high = self.model.joint(joint).range
            known = self._ranges[joint] = (float(low), float(high))
        return known
