"""What has been seen of a category, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mnav_core.sensing import Detection, DetectionFrame


@dataclass(frozen=True)
class Sighting:
    """The newest detection of one entity, with its centre in `map`."""

    entity_id: str
    category: str
    stamp_s: float
    view: str
    position: tuple[float, float, float]
    detection: Detection
    image_size: tuple[int, int]

    @property
    def uv(self) -> tuple[float, float]:
        """Middle of the box, normalised from the image's top-left corner."""
        x0, y0, x1, y1 = self.detection.box
        return (x0 + x1) / 2.0 / self.image_size[0], (y0 + y1) / 2.0 / self.image_size[1]


def sightings_of(frames: Iterable[DetectionFrame], category: str) -> list[Sighting]:
    """Every detection of the category in the frames, oldest frame first."""
    found = []
    for frame in frames:
        for detection in frame.detections:
            if detection.category == category:
                x, y, z = frame.camera_in_map.apply(detection.center)
                found.append(
                    Sighting(
                        detection.entity_id,
                        category,
                        frame.stamp_s,
                        frame.view,
                        (float(x), float(y), float(z)),
                        detection,
                        (frame.camera.width, frame.camera.height),
                    )
                )
    return found


class TargetMemory:
    """Entities of one category seen so far; a failed one is avoided until it expires."""

    def __init__(self, category: str) -> None:
        self._category = category
        self._newest: dict[str, Sighting] = {}
        self._avoid_until_s: dict[str, float] = {}

    def add(self, frames: Iterable[DetectionFrame]) -> None:
        """Take in detection frames."""
        for sighting in sightings_of(frames, self._category):
            self._newest[sighting.entity_id] = sighting

    def avoid(self, entity_id: str, until_s: float) -> None:
        """Do not return this entity as a candidate before `until_s`."""
        self._avoid_until_s[entity_id] = until_s

    def candidates(self, now_s: float) -> list[Sighting]:
        """Entities worth approaching now, in the order in which they were first seen."""
        return [s for s in self._newest.values() if self._avoid_until_s.get(s.entity_id, now_s) <= now_s]

    def newest(self, entity_id: str) -> Sighting | None:
        """The newest sighting of an entity."""
        return self._newest.get(entity_id)
