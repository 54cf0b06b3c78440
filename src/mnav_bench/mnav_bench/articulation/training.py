"""Grows the forests that read articulation states, and calibrates them on houses that each forest has not seen."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnav_bench.articulation.views import PARTS, PER_PART, ArticulationView, views_of
from mnav_core.errors import UsageError
from mnav_core.geometry import Array
from mnav_core.randomness import derive_seed
from mnav_core.robot import find_robot
from mnav_perception.articulation.features import measure
from mnav_perception.articulation.forest import GrowthSettings, grow
from mnav_perception.articulation.model import (
    CLASSES,
    ArticulationModel,
    PartSort,
    Reading,
    class_of,
    save_model,
    sort_of,
)
from mnav_sim_bridge.house.generate import generate_house

FOLDS = 5
CALIBRATION_BINS = 8
# Of the calls that a part's forest makes, at least so many must have been right on unseen houses.
CALL_RIGHT = 0.98
CALL_GRID = np.arange(0.5, 0.96, 0.01)


@dataclass(frozen=True, eq=False)
class Sample:
    """Features of one view, the true class, and the house that it is from."""

    sort: PartSort
    values: Array
    label: int
    house: int


def samples_of(views: Iterable[ArticulationView], house: int) -> list[Sample]:
    """Samples of the views whose masks hold enough depth."""
    made = []
    for seen in views:
        measured = measure(seen.view, seen.detection)
        if measured is not None:
            sort = sort_of(seen.detection.kind, seen.category)
            made.append(Sample(sort, measured.values, class_of(seen.fraction), house))
    return made


def train(samples: Sequence[Sample], settings: GrowthSettings, seed: int) -> ArticulationModel:
    """A model from samples. Raises UsageError when a sort of part has samples from fewer houses than folds."""
    return ArticulationModel({sort: _reading(sort, samples, settings, seed) for sort in PartSort})


def _reading(sort: PartSort, samples: Sequence[Sample], settings: GrowthSettings, seed: int) -> Reading:
    own = [s for s in samples if s.sort is sort]
    houses = sorted({s.house for s in own})
    if len(houses) < FOLDS:
        raise UsageError(f"samples of {sort.value}: from {len(houses)} houses, allowed: at least {FOLDS}")
    values = np.array([s.values for s in own])
    labels = np.array([s.label for s in own], np.intp)
    fold = np.array([houses.index(s.house) % FOLDS for s in own])
    shares = np.zeros((len(own), len(CLASSES)))
    for k in range(FOLDS):
        learnt = grow(values[fold != k], labels[fold != k], len(CLASSES), settings, seed)
        for index in np.flatnonzero(fold == k):
            shares[index] = learnt.predict(values[index])
    best, sure = shares.argmax(axis=1), shares.max(axis=1)
    at, rates = _calibration(sure, best == labels)
    confidence = np.interp(sure, at, rates)
    is_call = best != CLASSES.index(CLASSES[1])
    return Reading(
        grow(values, labels, len(CLASSES), settings, seed), at, rates, _call_from(confidence, best == labels, is_call)
    )


def _calibration(sure: Array, right: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Mean share and rate of being right in bins of equal size, the rates made rising by pooling neighbours."""
    order = np.argsort(sure, kind="stable")
    blocks = [
        [float(sure[part].sum()), float(right[part].sum()), len(part)]
        for part in np.array_split(order, CALIBRATION_BINS)
        if len(part)
    ]
    pooled: list[list[float]] = []
    for block in blocks:
        pooled.append(list(block))
        while len(pooled) > 1 and pooled[-2][1] / pooled[-2][2] >= pooled[-1][1] / pooled[-1][2]:
            last = pooled.pop()
            pooled[-1] = [a + b for a, b in zip(pooled[-1], last, strict=True)]
    at = np.array([total / count for total, _, count in pooled])
    # One more success and failure than were seen: no rate is certain.
    rates = np.array([(hits + 1.0) / (count + 2.0) for _, hits, count in pooled])
    return at, np.maximum.accumulate(rates)


def _call_from(confidence: Array, right: NDArray[np.bool_], is_call: NDArray[np.bool_]) -> float:
    """The lowest confidence from which calls of closed and open are right often enough."""
    for limit in CALL_GRID:
        chosen = is_call & (confidence >= limit)
        if chosen.any() and right[chosen].mean() >= CALL_RIGHT:
            return float(limit)
    return float(CALL_GRID[-1])


def main(words: Sequence[str] | None = None) -> None:
    """Collect views in houses that no suite uses, train, write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--houses", type=int, default=90)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", type=int, default=PARTS, help="doors and containers of a house")
    parser.add_argument("--views", type=int, default=PER_PART, help="views of each")
    parser.add_argument("--robot", default="cobot_magic")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(words)
    robot, samples = find_robot(args.robot), list[Sample]()
    for index in range(args.houses):
        seed = derive_seed("articulation training", args.seed, index)
        house = generate_house(seed, robot, doors="mixed").house
        samples += samples_of(views_of(house, robot, seed, args.parts, args.views), index)
        print(f"house {index + 1} of {args.houses}: {len(samples)} samples", flush=True)
    save_model(args.out, train(samples, GrowthSettings(), args.seed))


if __name__ == "__main__":
    main()
