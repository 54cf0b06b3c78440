"""The last captures, by reference: all readable, only the newest navigable."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from mnav_core.requests import Capture
from mnav_core.sensing import DetectionFrame, RgbdImage

KEPT = 16


@dataclass
class CaptureStore:
    """Keeps the newest `kept` captures. References are unique for the life of the store: `cap:<n>:<stamp>`."""

    kept: int = KEPT
    _count: int = 0
    _captures: OrderedDict[str, Capture] = field(default_factory=OrderedDict)

    def add(
        self,
        stamp_s: float,
        images: tuple[RgbdImage, ...],
        *,
        simultaneous: bool,
        detections: tuple[DetectionFrame, ...] = (),
    ) -> Capture:
        """Store images taken together and return the capture that refers to them. Raises ValueError without images."""
        if not images:
            raise ValueError("images = (), allowed: at least one image")
        capture = Capture(f"cap:{self._count}:{stamp_s:.3f}", stamp_s, simultaneous, images, detections)
        self._count += 1
        self._captures[capture.ref] = capture
        while len(self._captures) > self.kept:
            self._captures.popitem(last=False)
        return capture

    def get(self, ref: str) -> Capture | None:
        """The capture of a reference, None when it is unknown or no longer kept."""
        return self._captures.get(ref)

    @property
    def newest(self) -> Capture | None:
        """The newest capture."""
        return next(reversed(self._captures.values()), None)

    def is_navigable(self, ref: str) -> bool:
        """Whether a point of this capture may be driven to: only the newest one's."""
        return self.newest is not None and self.newest.ref == ref

    @property
    def refs(self) -> tuple[str, ...]:
        """References of all kept captures, oldest first."""
        return tuple(self._captures)
