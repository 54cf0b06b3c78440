"""JPEG within budgets, colours where they belong."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from mnav_core.errors import UsageError
from mnav_models.images import ImageBudget, encode_image

NOISE = np.random.default_rng(0).integers(0, 256, (480, 640, 3), dtype=np.uint8)


def decoded(jpeg: bytes) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)[:, :, ::-1]


def test_red_stays_red() -> None:
    red = np.zeros((40, 60, 3), np.uint8)
    red[:, :, 0] = 255
    part = encode_image(red, "front/1", "front", ImageBudget())
    assert np.abs(decoded(part.jpeg).reshape(-1, 3).mean(axis=0) - [255, 0, 0]).max() < 5
    assert (part.width, part.height, part.image_id, part.label) == (60, 40, "front/1", "front")


@pytest.mark.parametrize("max_bytes", [2_000, 10_000, 60_000, 200_000])
def test_bytes_are_within_budget(max_bytes: int) -> None:
    part = encode_image(NOISE, "n", "n", ImageBudget(max_bytes=max_bytes))
    assert len(part.jpeg) <= max_bytes
    assert decoded(part.jpeg).shape[:2] == (part.height, part.width)
    assert part.width / part.height == pytest.approx(4 / 3, rel=0.05)


def test_sides_are_within_budget() -> None:
    part = encode_image(NOISE, "n", "n", ImageBudget(max_side_px=320))
    assert (part.width, part.height) == (320, 240)


def test_small_pictures_are_not_blown_up() -> None:
    assert encode_image(NOISE[:50, :70], "n", "n", ImageBudget()).width == 70


@pytest.mark.parametrize(
    "picture", [NOISE[:, :, 0], NOISE.astype(np.float32), np.zeros((0, 5, 3), np.uint8), np.zeros((4, 4, 4), np.uint8)]
)
def test_other_arrays_are_refused(picture: np.ndarray) -> None:
    with pytest.raises(UsageError, match="RGB order"):
        encode_image(picture, "n", "n", ImageBudget())


@pytest.mark.parametrize("wrong", [{"max_bytes": 100}, {"quality": 10}, {"max_side_px": 1}, {"max_images": -1}])
def test_budgets_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="allowed"):
        ImageBudget(**wrong)
