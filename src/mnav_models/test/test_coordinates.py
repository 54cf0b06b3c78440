"""Points of every family, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mnav_models.coordinates import (
    AxisOrder,
    Convention,
    CoordinateFrame,
    OutOfImage,
    Resizing,
    frame_of_family,
    point_of,
)

WIDTH, HEIGHT = 640, 480
UNIT = st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("frame", "written", "unit"),
    [
        (CoordinateFrame(Convention.UNIT), (0.25, 0.5), (0.25, 0.5)),
        (CoordinateFrame(Convention.PERCENT), (25.0, 50.0), (0.25, 0.5)),
        (CoordinateFrame(Convention.PER_MILLE), (250.0, 500.0), (0.25, 0.5)),
        (CoordinateFrame(Convention.PIXELS_SENT), (160.0, 240.0), (0.25, 0.5)),
        (CoordinateFrame(Convention.PER_MILLE, AxisOrder.YX), (500.0, 250.0), (0.25, 0.5)),
        # 640 x 480 in steps of 28: 23 and 17 patches, 644 x 476.
        (CoordinateFrame(Convention.PIXELS_RESIZED), (161.0, 238.0), (0.25, 0.5)),
        (CoordinateFrame(Convention.PIXELS_RESIZED, measured=(0.5, 0.5)), (80.0, 120.0), (0.25, 0.5)),
    ],
)
def test_known_points(frame: CoordinateFrame, written: tuple[float, float], unit: tuple[float, float]) -> None:
    assert frame.to_unit(written, WIDTH, HEIGHT) == pytest.approx(unit)
    assert frame.from_unit(*unit, WIDTH, HEIGHT) == pytest.approx(written)


@given(
    UNIT, UNIT, st.sampled_from(Convention), st.sampled_from(AxisOrder), st.integers(32, 4_000), st.integers(32, 4_000)
)
def test_there_and_back(u: float, v: float, convention: Convention, order: AxisOrder, width: int, height: int) -> None:
    frame = CoordinateFrame(convention, order)
    assert frame.to_unit(frame.from_unit(u, v, width, height), width, height) == pytest.approx((u, v), abs=1e-9)


@pytest.mark.parametrize(
    ("size", "limits", "expected"),
    [
        ((640, 480), Resizing(), (644, 476)),
        ((28, 28), Resizing(), (56, 56)),
        # 1280 x 960 over 500,000 px: shrink by sqrt(1228800 / 500000) = 1.5677; 816.5 and 612.4 give 29 and 21 patches.
        ((1280, 960), Resizing(max_pixels=500_000), (812, 588)),
        ((10, 10), Resizing(multiple=32, min_pixels=1_024), (32, 32)),
    ],
)
def test_resized_sizes(size: tuple[int, int], limits: Resizing, expected: tuple[int, int]) -> None:
    assert limits.size(*size) == expected


@pytest.mark.parametrize("written", [(1003.0, 10.0), (-3.0, 10.0), (500.0, 1400.0)])
def test_outside_is_refused_not_moved(written: tuple[float, float]) -> None:
    with pytest.raises(OutOfImage, match="outside the image"):
        CoordinateFrame(Convention.PER_MILLE).to_unit(written, WIDTH, HEIGHT)


def test_edge_is_inside() -> None:
    assert CoordinateFrame(Convention.PER_MILLE).to_unit((1001.0, 0.0), WIDTH, HEIGHT) == (1.0, 0.0)


def test_boxes() -> None:
    frame = CoordinateFrame(Convention.PER_MILLE, AxisOrder.YX)
    assert frame.box_to_unit((100.0, 200.0, 300.0, 400.0), WIDTH, HEIGHT) == pytest.approx((0.2, 0.1, 0.4, 0.3))
    with pytest.raises(OutOfImage, match="second corner"):
        frame.box_to_unit((300.0, 200.0, 100.0, 400.0), WIDTH, HEIGHT)


def test_schema_has_the_frames_bounds_and_order() -> None:
    schema = CoordinateFrame(Convention.PIXELS_SENT, AxisOrder.YX).point_arguments(WIDTH, HEIGHT)
    properties = schema.model_json_schema()["properties"]
    assert list(properties) == ["y", "x"]
    assert (properties["x"]["maximum"], properties["y"]["maximum"]) == (640.0, 480.0)
    assert point_of(schema.model_validate_json('{"y": 480, "x": 1}')) == (1.0, 480.0)
    with pytest.raises(ValidationError):
        schema.model_validate_json('{"y": 481, "x": 1}')


def test_prompt_names_the_edges() -> None:
    text = CoordinateFrame(Convention.PER_MILLE, AxisOrder.YX).describe(WIDTH, HEIGHT)
    assert "1000 (right)" in text and "y, then x" in text


@pytest.mark.parametrize(
    ("model", "convention"),
    [
        ("Qwen/Qwen2.5-VL-7B-Instruct", Convention.PIXELS_RESIZED),
        ("Qwen3-VL-8B", Convention.PER_MILLE),
        ("gemini-2.5-pro", Convention.PER_MILLE),
        ("allenai/Molmo-7B-D", Convention.PERCENT),
    ],
)
def test_families(model: str, convention: Convention) -> None:
    frame = frame_of_family(model)
    assert frame is not None and frame.convention is convention


def test_unknown_family() -> None:
    assert frame_of_family("some-text-model") is None
