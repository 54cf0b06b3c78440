"""Reading states from a view."""

from __future__ import annotations

from collections.abc import Sequence

from mnav_core.sensing import DetectionFrame, RgbdImage
from mnav_perception.articulation.records import StateEvidence


def read_states(image: RgbdImage, frame: DetectionFrame) -> Sequence[StateEvidence | None]:
    """What the view says about each detection."""
    return [None] * len(frame.detections)
