"""Four views by a robot that has fewer cameras: the same camera after each quarter turn to the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mnav_core.sensing import RgbdImage

# Each one is what the one before it becomes after a quarter turn to the left.
AROUND = ("front", "left", "back", "right")
# The base may swing a little after its turn has ended, and images are stamped before they come.
SETTLE_S = 0.3


def lacks_views(own: Sequence[str]) -> bool:
    """Whether a robot with these cameras must turn to see all around."""
    return not set(AROUND) <= set(own)


@dataclass
class RotatedViews:
    """Gathers the images of one turn all around. `own`: the robot's cameras; times are the images' own.

    Images of a heading count from `after_s` on; once it is complete the robot is to turn on, `turned` says when it has.
    """

    own: tuple[str, ...]
    after_s: float
    quarter_turns: int = 0
    _found: dict[str, RgbdImage] = field(default_factory=dict)
    _here: dict[str, RgbdImage] = field(default_factory=dict)

    def add(self, image: RgbdImage) -> bool:
        """An image of an own camera; whether this heading is complete with it."""
        if image.stamp_s < self.after_s or image.view not in self.own or self._is_here_complete():
            return False
        self._here[image.view] = image
        if not self._is_here_complete():
            return False
        for view, seen in self._here.items():
            name = AROUND[(AROUND.index(view) + self.quarter_turns) % len(AROUND)]
            self._found.setdefault(name, replace(seen, view=name))
        return True

    def turned(self, now_s: float) -> None:
        """A quarter turn to the left has ended."""
        self.quarter_turns += 1
        self._here.clear()
        self.after_s = now_s + SETTLE_S

    @property
    def is_complete(self) -> bool:
        """Whether every view has been found."""
        return len(self._found) == len(AROUND)

    @property
    def images(self) -> tuple[RgbdImage, ...]:
        """What has been found, clockwise from the front."""
        return tuple(self._found[view] for view in (AROUND[0], *reversed(AROUND[1:])) if view in self._found)

    def _is_here_complete(self) -> bool:
        return len(self._here) == len(self.own)
