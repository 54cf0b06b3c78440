"""Points and boxes as model families write them, and as mnav means them: u, v in 0..1 from the top-left corner."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

from pydantic import Field, create_model

from mnav_core.chat import ToolArguments

# Half a pixel of a small picture: a point on the very edge may be rounded over it.
EDGE_TOLERANCE = 0.002


class Convention(Enum):
    """What a coordinate counts."""

    UNIT = "unit"
    PERCENT = "percent"
    PER_MILLE = "per_mille"
    PIXELS_SENT = "pixels_sent"
    PIXELS_RESIZED = "pixels_resized"


class AxisOrder(Enum):
    """Whether x or y comes first in what the model writes."""

    XY = "xy"
    YX = "yx"


class OutOfImage(ValueError):
    """A point or box that is not in the image, or a box turned inside out; never moved silently."""


@dataclass(frozen=True)
class Resizing:
    """How a model's preprocessor resizes:

    sides to multiples of `multiple` px, the area between the two bounds (Qwen2-VL technical report, 2.1).
    """

    multiple: int = 28
    min_pixels: int = 3_136
    max_pixels: int = 12_845_056

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height that the model sees of an image of `width` x `height`."""
        step = self.multiple
        wide, high = max(step, round(width / step) * step), max(step, round(height / step) * step)
        if wide * high > self.max_pixels:
            shrink = math.sqrt(width * height / self.max_pixels)
            wide = max(step, math.floor(width / shrink / step) * step)
            high = max(step, math.floor(height / shrink / step) * step)
        elif wide * high < self.min_pixels:
            grow = math.sqrt(self.min_pixels / (width * height))
            wide, high = math.ceil(width * grow / step) * step, math.ceil(height * grow / step) * step
        return wide, high


@dataclass(frozen=True)
class CoordinateFrame:
    """How one model writes points.

    `resizing` or, where it was measured on images of one size, `measured` serves PIXELS_RESIZED.
    """

    convention: Convention
    order: AxisOrder = AxisOrder.XY
    resizing: Resizing = field(default_factory=Resizing)
    measured: tuple[float, float] | None = None

    def extent(self, width: int, height: int) -> tuple[float, float]:
        """What the model calls the right and the bottom edge of an image of `width` x `height` px."""
        if self.convention is Convention.PIXELS_SENT:
            return float(width), float(height)
        if self.convention is Convention.PIXELS_RESIZED:
            if self.measured is not None:
                return width * self.measured[0], height * self.measured[1]
            wide, high = self.resizing.size(width, height)
            return float(wide), float(high)
        most = {Convention.UNIT: 1.0, Convention.PERCENT: 100.0, Convention.PER_MILLE: 1000.0}[self.convention]
        return most, most

    def to_unit(self, point: tuple[float, float], width: int, height: int) -> tuple[float, float]:
        """(u, v) of a point as the model wrote it. Raises OutOfImage."""
        x, y = point if self.order is AxisOrder.XY else point[::-1]
        wide, high = self.extent(width, height)
        return _edge(x / wide, point), _edge(y / high, point)

    def from_unit(self, u: float, v: float, width: int, height: int) -> tuple[float, float]:
        """The point as the model would write it."""
        wide, high = self.extent(width, height)
        point = (_edge(u, (u, v)) * wide, _edge(v, (u, v)) * high)
        return point if self.order is AxisOrder.XY else point[::-1]

    def box_to_unit(
        self, box: tuple[float, float, float, float], width: int, height: int
    ) -> tuple[float, float, float, float]:
        """(u0, v0, u1, v1) of a box that the model wrote as two corners, top-left first. Raises OutOfImage."""
        u0, v0 = self.to_unit(box[:2], width, height)
        u1, v1 = self.to_unit(box[2:], width, height)
        if not (u0 < u1 and v0 < v1):
            raise OutOfImage(f"box {box}: its second corner must be right of and below its first")
        return u0, v0, u1, v1

    def describe(self, width: int, height: int) -> str:
        """What a prompt must say so that the model keeps to this frame."""
        wide, high = self.extent(width, height)
        order = "x, then y" if self.order is AxisOrder.XY else "y, then x"
        return f"x from 0 (left) to {wide:g} (right), y from 0 (top) to {high:g} (bottom), {order}"

    def point_arguments(self, width: int, height: int) -> type[ToolArguments]:
        """A schema with `x` and `y` bounded by the image's edges in this frame. `point_of` reads it."""
        wide, high = self.extent(width, height)
        x = (float, Field(ge=0.0, le=wide, description="from the left edge"))
        y = (float, Field(ge=0.0, le=high, description="from the top edge"))
        first, second = ({"x": x}, {"y": y}) if self.order is AxisOrder.XY else ({"y": y}, {"x": x})
        return create_model("Point", __base__=ToolArguments, **first, **second)  # type: ignore[call-overload,no-any-return]


def point_of(arguments: ToolArguments) -> tuple[float, float]:
    """(x, y) by name of arguments made by `point_arguments`; by name, the order of writing does not matter."""
    values = arguments.model_dump()
    return float(values["x"]), float(values["y"])


def _edge(value: float, written: tuple[float, ...]) -> float:
    if not -EDGE_TOLERANCE <= value <= 1.0 + EDGE_TOLERANCE:
        raise OutOfImage(f"point {written}: outside the image ({value:.3f} of its side)")
    return min(1.0, max(0.0, value))


def frame_of_family(model: str) -> CoordinateFrame | None:
    """The frame that a family is published to use, None for an unknown name.

    Unverified for a given server: calibrate.
    """
    families = {
        "qwen3-vl": CoordinateFrame(Convention.PER_MILLE),
        "qwen2.5-vl": CoordinateFrame(Convention.PIXELS_RESIZED),
        "qwen2-vl": CoordinateFrame(Convention.PER_MILLE),
        "internvl": CoordinateFrame(Convention.PER_MILLE),
        "molmo": CoordinateFrame(Convention.PERCENT),
        "gemini": CoordinateFrame(Convention.PER_MILLE, AxisOrder.YX),
    }
    name = model.lower().replace("_", "-")
    return next((frame for family, frame in families.items() if family in name), None)
