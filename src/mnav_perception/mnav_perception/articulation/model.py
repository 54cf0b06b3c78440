"""The trained reading of the features: a forest per sort of part, and what its shares are worth."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from mnav_core.errors import UsageError
from mnav_core.geometry import Array
from mnav_core.sensing import ArticulationState, InteractionKind
from mnav_perception.articulation.forest import Forest

CLASSES = (ArticulationState.CLOSED, ArticulationState.PARTIAL, ArticulationState.OPEN)
CLOSED_TO, OPEN_FROM = 0.05, 0.8
BUILT_IN = Path(__file__).parent / "views.npz"
PARTS = ("roots", "feature", "threshold", "below", "above", "shares")


class PartSort(Enum):
    """What moves: a room's door, a hinged leaf of furniture, a drawer."""

    DOOR = "door"
    LEAF = "leaf"
    DRAWER = "drawer"


def sort_of(kind: InteractionKind, category: str) -> PartSort:
    """The sort by kind and category; whatever has `drawer` or `dresser` in its name slides."""
    if kind is InteractionKind.CHANNEL:
        return PartSort.DOOR
    slides = any(word in category.lower() for word in ("drawer", "dresser"))
    return PartSort.DRAWER if slides else PartSort.LEAF


def class_of(fraction: float) -> int:
    """Index into `CLASSES` of an open fraction: closed to 0.05, open from 0.8, else partial."""
    return 0 if fraction <= CLOSED_TO else 2 if fraction >= OPEN_FROM else 1


@dataclass(frozen=True, eq=False)
class Reading:
    """One forest, and its calibration: rising shares and the rate at which the winning class is then right.

    Below `call_from`, a calibrated confidence, nothing is called.
    """

    forest: Forest
    shares: Array
    rates: Array
    call_from: float

    def read(self, values: Array) -> tuple[int, float]:
        """The winning class and its calibrated confidence."""
        shares = self.forest.predict(values)
        best = int(np.argmax(shares))
        return best, float(np.interp(shares[best], self.shares, self.rates))


@dataclass(frozen=True, eq=False)
class ArticulationModel:
    """A reading per sort of part."""

    readings: Mapping[PartSort, Reading]


def save_model(file: Path, model: ArticulationModel) -> None:
    """Write a model as one compressed file."""
    arrays: dict[str, Any] = {}
    for sort, reading in model.readings.items():
        for part in PARTS:
            arrays[f"{sort.value}.{part}"] = getattr(reading.forest, part)
        arrays[f"{sort.value}.calibration"] = np.stack([reading.shares, reading.rates])
        arrays[f"{sort.value}.call_from"] = np.array(reading.call_from)
    np.savez_compressed(file, **arrays)


def load_model(file: Path = BUILT_IN) -> ArticulationModel:
    """Read a model; the built-in one by default. Raises UsageError naming the file."""
    try:
        with np.load(file, allow_pickle=False) as data:
            return ArticulationModel({sort: _reading(data, sort.value) for sort in PartSort})
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UsageError(f"articulation model {file}: {error}") from error


def _reading(data: Mapping[str, Any], name: str) -> Reading:
    shares, rates = data[f"{name}.calibration"]
    forest = Forest(*(data[f"{name}.{part}"] for part in PARTS))
    return Reading(forest, shares, rates, float(data[f"{name}.call_from"]))
