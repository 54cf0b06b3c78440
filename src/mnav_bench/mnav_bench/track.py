"""The true planar path of one robot, one pose a tick: what every score of a path rests on."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnav_core.geometry import SE2


@dataclass
class Track:
    """Poses so far and the length of the way between them, metres."""

    poses: list[SE2] = field(default_factory=list)
    path_m: float = 0.0

    def add(self, pose: SE2) -> None:
        """One more pose."""
        if self.poses:
            self.path_m += self.poses[-1].distance_to(pose.x, pose.y)
        self.poses.append(pose)
