"""What moved which leaf or drawer, and when: private, for the evaluation alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco

from mnav_sim_bridge.articulation import Articulation
from mnav_sim_bridge.moving_parts import PartFinder

STEP = 0.01
# A leaf that swings on after a push still moves because of it, for as long as it does not pause this long.
LINGER_S = 2.0
OTHER = "other"


def cause_of_attempt(robot: str, attempt_id: int) -> str:
    """Cause of a joint that an attempt moved."""
    return f"attempt:{robot}:{attempt_id}"


def cause_of_body(robot: str) -> str:
    """Cause of a joint that a robot's hull pushed."""
    return f"body:{robot}"


@dataclass(frozen=True)
class JointMotion:
    """A joint went from one fraction to another by `time_s`: `cause` is an attempt, a robot's body, or other."""

    time_s: float
    joint: str
    before: float
    after: float
    cause: str

    def crosses(self, threshold: float) -> bool:
        """Whether it opened: from below a fraction to at least it."""
        return self.before < threshold <= self.after


@dataclass
class JointLog:
    """Notes every motion of at least STEP of a joint's travel, tick by tick.

    Extremes between two notes are kept, so that a short opening is not lost.
    """

    model: mujoco.MjModel
    articulation: Articulation
    parts: PartFinder
    motions: list[JointMotion] = field(default_factory=list)
    _last: dict[str, float] = field(default_factory=dict)
    _cause: dict[str, tuple[str, float]] = field(default_factory=dict)

    def reset(self, data: mujoco.MjData) -> None:
        """Forget everything; the joints are where they start."""
        self.motions.clear()
        self._cause.clear()
        self._last = {j: self.articulation.fraction(data, j) for j in self.articulation.joints()}

    def moved_by(self, joint: str, cause: str, now_s: float) -> None:
        """Something works on a joint now."""
        self._cause[joint] = (cause, now_s)

    def touched(self, data: mujoco.MjData, hulls: dict[int, str], now_s: float) -> None:
        """Note which parts the hulls (geom to robot) touch; an attempt on the part goes before."""
        for contact in data.contact[: data.ncon]:
            for hull, other in ((contact.geom1, contact.geom2), (contact.geom2, contact.geom1)):
                robot = hulls.get(int(hull))
                if robot is None or contact.dist > 0:
                    continue
                joint = self.parts.joint_of_geom(int(other))
                if joint is not None and self._cause.get(joint, ("", -1.0))[1] < now_s:
                    self._cause[joint] = (cause_of_body(robot), now_s)

    def note(self, data: mujoco.MjData, now_s: float) -> None:
        """Compare every joint with what was noted last."""
        for joint, before in self._last.items():
            after = self.articulation.fraction(data, joint)
            if abs(after - before) < STEP:
                continue
            cause, since_s = self._cause.get(joint, (OTHER, now_s))
            if now_s - since_s > LINGER_S:
                cause = OTHER
            self.motions.append(JointMotion(now_s, joint, before, after, cause))
            self._cause[joint] = (cause, now_s)
            self._last[joint] = after
