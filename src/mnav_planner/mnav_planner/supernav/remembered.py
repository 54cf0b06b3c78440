"""What the detector has found since the session was opened, so that it can be gone back to by what is in view now."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from mnav_core.sensing import DetectionFrame

MAX_REMEMBERED = 512


@dataclass(frozen=True)
class Remembered:
    """The newest sighting of one entity; its place in `map` never leaves the session."""

    entity_id: str
    category: str
    place: tuple[float, float, float]
    stamp_s: float


@dataclass
class SightingMemory:
    """Newest sightings by entity, the longest unseen forgotten first."""

    _newest: dict[str, Remembered] = field(default_factory=dict)

    def add(self, frames: Iterable[DetectionFrame], views: Collection[str]) -> None:
        """Take in the frames of the given views."""
        for frame in frames:
            if frame.view not in views:
                continue
            for detection in frame.detections:
                x, y, z = (float(value) for value in frame.camera_in_map.apply(detection.center))
                self._newest.pop(detection.entity_id, None)
                self._newest[detection.entity_id] = Remembered(
                    detection.entity_id, detection.category, (x, y, z), frame.stamp_s
                )
        while len(self._newest) > MAX_REMEMBERED:
            del self._newest[next(iter(self._newest))]

    def all_but(self, entity_ids: Collection[str], categories: Collection[str] | None = None) -> tuple[Remembered, ...]:
        """Everything remembered, of these categories if given, except the given entities, the newest first."""
        return tuple(
            seen
            for key, seen in reversed(self._newest.items())
            if key not in entity_ids and (categories is None or seen.category in categories)
        )
