"""How often the inference is right, how much of what is visible it calls, and what its confidence is worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mnav_bench.articulation.views import ArticulationView
from mnav_core.sensing import ArticulationState
from mnav_perception.articulation.inference import infer_state
from mnav_perception.articulation.model import CLASSES, ArticulationModel, class_of

CALLED = (ArticulationState.CLOSED, ArticulationState.OPEN)
BINS = 10


@dataclass(frozen=True)
class InferenceFigures:
    """Over `views`: `right` of the calls of closed and open, `called` of those that are closed or open, and the
    expected calibration error of all states given. Calling what is ajar either is wrong. None without any.
    """

    views: int
    calls: int
    right: float | None
    called: float | None
    calibration_error: float | None


def measure_inference(views: Iterable[ArticulationView], model: ArticulationModel) -> InferenceFigures:
    """Run the inference on views whose truth is known."""
    truth, given, sure = [], [], []
    for seen in views:
        told = infer_state(seen.view, seen.detection, model)
        truth.append(CLASSES[class_of(seen.fraction)])
        given.append(told.state)
        sure.append(told.confidence)
    hits = [a is b for a, b in zip(truth, given, strict=True)]
    calls = [hit for hit, state in zip(hits, given, strict=True) if state in CALLED]
    visible = [state in CALLED for state, actual in zip(given, truth, strict=True) if actual in CALLED]
    stated = [
        (c, hit) for c, hit, state in zip(sure, hits, given, strict=True) if state is not ArticulationState.UNKNOWN
    ]
    return InferenceFigures(
        len(truth),
        len(calls),
        float(np.mean(calls)) if calls else None,
        float(np.mean(visible)) if visible else None,
        _calibration_error(stated) if stated else None,
    )


def _calibration_error(told: list[tuple[float, bool]]) -> float:
    """Mean gap between confidence and rate over bins of equal width, weighted by their sizes."""
    confidence, hits = np.array([c for c, _ in told]), np.array([h for _, h in told], float)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(confidence[bins == b].mean() - hits[bins == b].mean()) * np.mean(bins == b) for b in np.unique(bins)]
    return float(np.sum(gaps))
