"""Reading the states of doors and containers from a view: visual attribute inference (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mnav_core.sensing import DetectionFrame, RgbdImage
from mnav_perception.articulation.inference import infer_states
from mnav_perception.articulation.model import ArticulationModel, load_model
from mnav_perception.articulation.records import StateEvidence


def read_states(image: RgbdImage, frame: DetectionFrame) -> Sequence[StateEvidence | None]:
    """What the view says about each detection of the frame that was made in it, None for what cannot be opened."""
    return infer_states(image, frame.detections, _model())


@lru_cache(maxsize=1)
def _model() -> ArticulationModel:
    return load_model()
