"""The inference on one house that it was not trained on, and the figures by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnav_bench.articulation.measuring import _calibration_error, measure_inference
from mnav_bench.articulation.training import _calibration
from mnav_bench.articulation.training import main as train_from_words
from mnav_bench.articulation.views import views_of
from mnav_core.robot import find_robot
from mnav_perception.articulation.model import load_model
from mnav_sim_bridge.house.generate import rebuild_house


@pytest.mark.sim
@pytest.mark.slow
def test_calls_on_an_unseen_house_are_right() -> None:
    house = next(h for h in (_house(sub) for sub in range(20)) if h is not None)
    figures = measure_inference(views_of(house, find_robot("cobot_magic"), 3, parts=12, per_part=4), load_model())
    assert figures.views >= 25
    assert figures.right is not None and figures.right >= 0.95
    assert figures.called is not None and figures.called >= 0.8


@pytest.mark.sim
@pytest.mark.slow
def test_training_from_houses_to_a_file_that_calls(tmp_path: Path) -> None:
    file = tmp_path / "small.npz"
    train_from_words(["--houses", "6", "--parts", "12", "--views", "2", "--out", str(file)])
    house = next(h for h in (_house(sub) for sub in range(20)) if h is not None)
    figures = measure_inference(views_of(house, find_robot("cobot_magic"), 3, parts=8, per_part=2), load_model(file))
    # A hundred views teach what is frequent, not what is rare.
    assert figures.calls >= 3 and figures.right is not None and figures.right >= 0.6


def _house(sub_seed: int):  # type: ignore[no-untyped-def]
    from mnav_core.errors import UsageError

    try:
        return rebuild_house(31_415, sub_seed, rooms=4, doors="mixed")
    except UsageError:
        return None


def test_calibration_by_hand() -> None:
    assert _calibration_error([(0.95, True)] * 19 + [(0.95, False)]) == pytest.approx(0.0)
    # Half at 0.95 that are always right, half at 0.65 that never are: 0.05 / 2 + 0.65 / 2.
    assert _calibration_error([(0.95, True)] * 5 + [(0.65, False)] * 5) == pytest.approx(0.35)


def test_calibrated_rates_rise_and_follow_what_was_right() -> None:
    rng = np.random.default_rng(5)
    sure = rng.uniform(0.4, 1.0, 4000)
    right = rng.uniform(size=4000) < sure**2
    at, rates = _calibration(sure, right)
    assert (np.diff(rates) >= 0).all()
    assert np.abs(np.interp(0.7, at, rates) - 0.49) < 0.05
