"""How often the inference is right, how much of what is visible it calls, and what its confidence is worth."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mnav_bench.articulation.views import PARTS, PER_PART, ArticulationView, views_of
from mnav_bench.figures.rows import FigureRow, at_least, at_most, row_line, verdict_code
from mnav_core.randomness import derive_seed
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import ArticulationState
from mnav_perception.articulation.inference import infer_state
from mnav_perception.articulation.model import BUILT_IN, CLASSES, ArticulationModel, class_of, load_model
from mnav_sim_bridge.house.generate import generate_house

CALLED = (ArticulationState.CLOSED, ArticulationState.OPEN)
BINS = 10
# What is asked of the built-in model.
LEAST_VIEWS, LEAST_RIGHT, LEAST_CALLED, MOST_ERROR = 500, 0.97, 0.85, 0.05


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


def held_out_views(houses: int, seed: int, robot: RobotDescription) -> Iterator[ArticulationView]:
    """Views in houses that neither training nor a suite uses: their seeds are drawn under a name of their own."""
    for index in range(houses):
        own = derive_seed("articulation held out", seed, index)
        house = generate_house(own, robot, doors="mixed").house
        yield from views_of(house, robot, own, PARTS, PER_PART)


def figure_rows(figures: InferenceFigures) -> tuple[FigureRow, ...]:
    """The figures beside what is asked of them."""
    return (
        at_least("articulation states: views", figures.views, LEAST_VIEWS),
        at_least(
            "articulation states: right calls", _or_nan(figures.right), LEAST_RIGHT, detail=f"{figures.calls} calls"
        ),
        at_least("articulation states: called of what is open or closed", _or_nan(figures.called), LEAST_CALLED),
        at_most("articulation states: calibration error", _or_nan(figures.calibration_error), MOST_ERROR),
    )


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def main() -> int:
    """Measure a model on houses that it was not trained on; 1 when a figure misses its bound."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--houses", type=int, default=10)
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--robot", default="cobot_magic")
    parser.add_argument("--model", type=Path, default=BUILT_IN)
    args = parser.parse_args()
    views = held_out_views(args.houses, args.seed, find_robot(args.robot))
    rows = figure_rows(measure_inference(views, load_model(args.model)))
    print("\n".join(map(row_line, rows)))
    return verdict_code(rows)


if __name__ == "__main__":
    raise SystemExit(main())
