"""Which coordinates a model writes, found by letting it point at discs of a drawn picture."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mnav_core.chat import ChatModel, ChatRequest, ToolArguments, ToolSchema, ToolUse, TurnOutcome, user_message
from mnav_models.coordinates import AxisOrder, Convention, CoordinateFrame
from mnav_models.images import ImageBudget, encode_image

# Neither side is 100 or 1000, and no two of a disc's place, mirrored place and colour-swapped place fall together.
WIDTH, HEIGHT = 640, 360
DISC_RADIUS_PX = 22
BACKGROUND = (200, 200, 200)
DISCS: Mapping[str, tuple[float, float]] = {
    "red": (0.20, 0.25),
    "green": (0.45, 0.72),
    "blue": (0.86, 0.42),
    "magenta": (0.62, 0.14),
}
COLOURS: Mapping[str, tuple[int, int, int]] = {
    "red": (220, 20, 20),
    "green": (20, 170, 20),
    "blue": (20, 20, 220),
    "magenta": (200, 20, 200),
}
GOOD_RMS = 0.05
CLEAR_RATIO = 2.0
SCALE_TOLERANCE = 0.02


class Channels(Enum):
    """Order of the colour channels as the model sees them."""

    RGB = "rgb"
    BGR = "bgr"


class Mirroring(Enum):
    """Whether the model sees the picture mirrored."""

    NONE = "none"
    LEFT_RIGHT = "left_right"
    UP_DOWN = "up_down"


class CalibrationOutcome(Enum):
    """Whether the answers say how the model points."""

    CALIBRATED = "calibrated"
    UNCLEAR = "unclear"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True)
class Calibration:
    """How the model points; `rms` is the misfit in image sides. Only CALIBRATED carries a frame."""

    outcome: CalibrationOutcome
    frame: CoordinateFrame | None = None
    channels: Channels = Channels.RGB
    mirroring: Mirroring = Mirroring.NONE
    rms: float = math.inf
    reason: str = ""


class PointAnswer(ToolArguments):
    """Where the disc is, in the coordinates that the model is used to."""

    first: float = Field(ge=0.0, le=100_000.0, description="first coordinate")
    second: float = Field(ge=0.0, le=100_000.0, description="second coordinate")


@dataclass(frozen=True)
class _Hypothesis:
    frame: CoordinateFrame
    channels: Channels
    mirroring: Mirroring
    rms: float


def draw_picture() -> NDArray[np.uint8]:
    """The calibration picture, (HEIGHT, WIDTH, 3) uint8 RGB."""
    picture = np.full((HEIGHT, WIDTH, 3), BACKGROUND, dtype=np.uint8)
    for colour, (u, v) in DISCS.items():
        cv2.circle(picture, (round(u * WIDTH), round(v * HEIGHT)), DISC_RADIUS_PX, COLOURS[colour], cv2.FILLED)
    return picture


def calibrate(
    model: ChatModel,
    deadline_s: float,
    cancel: threading.Event | None = None,
    picture: NDArray[np.uint8] | None = None,
) -> Calibration:
    """Ask for each disc in turn, each within `deadline_s`, and fit.

    `picture` stands in for `draw_picture` where a camera's path is checked.
    """
    image = encode_image(draw_picture() if picture is None else picture, "calibration", "Picture:", ImageBudget())
    tool = ToolSchema("point", "Say where something is in the picture, in your usual image coordinates.", PointAnswer)
    answers: dict[str, tuple[float, float]] = {}
    reasons: list[str] = []
    for colour in DISCS:
        message = user_message(image, f"Point at the centre of the {colour} disc. Give its two image coordinates.")
        turn = model.ask(ChatRequest((message,), (tool,), ToolUse.REQUIRED, max_output_tokens=256), deadline_s, cancel)
        if turn.outcome is TurnOutcome.TOOL_CALLS:
            arguments = turn.tool_calls[0].arguments
            assert isinstance(arguments, PointAnswer)
            answers[colour] = (arguments.first, arguments.second)
        else:
            reasons.append(f"{colour}: {turn.outcome.value} {turn.reason}")
    if len(answers) < len(DISCS):
        return Calibration(CalibrationOutcome.NO_ANSWER, reason="; ".join(reasons)[:240])
    return fit(answers)


def fit(answers: Mapping[str, tuple[float, float]]) -> Calibration:
    """The simplest explanation of where the model says that the discs are, given one answer for each disc."""
    hypotheses = sorted(_hypotheses(answers), key=lambda item: item.rms)
    best = hypotheses[0]
    if best.rms > GOOD_RMS:
        return Calibration(CalibrationOutcome.UNCLEAR, rms=best.rms, reason=f"best fit misses by {best.rms:.2f} sides")
    rivals = (h for h in hypotheses if not _same_kind(h, best))
    rival = next(rivals, None)
    if rival is not None and rival.rms < CLEAR_RATIO * max(best.rms, GOOD_RMS / 4.0):
        reason = f"{_named(best)} and {_named(rival)} fit about equally"
        return Calibration(CalibrationOutcome.UNCLEAR, rms=best.rms, reason=reason)
    return Calibration(CalibrationOutcome.CALIBRATED, best.frame, best.channels, best.mirroring, best.rms)


def _same_kind(one: _Hypothesis, other: _Hypothesis) -> bool:
    """Whether two differ in nothing that matters:

    frames whose extents are the same within SCALE_TOLERANCE count as one.
    """
    if (one.channels, one.mirroring, one.frame.order) != (other.channels, other.mirroring, other.frame.order):
        return False
    extents = zip(one.frame.extent(WIDTH, HEIGHT), other.frame.extent(WIDTH, HEIGHT), strict=True)
    return all(abs(a / b - 1.0) <= 3.0 * SCALE_TOLERANCE for a, b in extents)


def _named(hypothesis: _Hypothesis) -> str:
    frame = hypothesis.frame
    seen = f"{hypothesis.channels.value}, mirrored {hypothesis.mirroring.value}"
    return f"{frame.convention.value} {frame.order.value} {seen}"


def _hypotheses(answers: Mapping[str, tuple[float, float]]) -> list[_Hypothesis]:
    found: list[_Hypothesis] = []
    for order, channels, mirroring in itertools.product(AxisOrder, Channels, Mirroring):
        pairs = [(_place(colour, channels, mirroring), _xy(written, order)) for colour, written in answers.items()]
        for frame in _frames(pairs, order):
            wide, high = frame.extent(WIDTH, HEIGHT)
            squares = [(x / wide - u) ** 2 + (y / high - v) ** 2 for (u, v), (x, y) in pairs]
            found.append(_Hypothesis(frame, channels, mirroring, math.sqrt(sum(squares) / len(squares))))
    return found


def _frames(pairs: list[tuple[tuple[float, float], tuple[float, float]]], order: AxisOrder) -> list[CoordinateFrame]:
    """The fixed conventions, and the pixels of a resized image if the best scales are neither of them nor distorted."""
    fixed = [CoordinateFrame(c, order) for c in Convention if c is not Convention.PIXELS_RESIZED]
    wide = sum(u * x for (u, _), (x, _) in pairs) / sum(u * u for (u, _), _ in pairs)
    high = sum(v * y for (_, v), (_, y) in pairs) / sum(v * v for (_, v), _ in pairs)
    if wide <= 0.0 or high <= 0.0:
        return fixed
    near = any(
        all(abs(a / b - 1.0) <= SCALE_TOLERANCE for a, b in zip((wide, high), f.extent(WIDTH, HEIGHT), strict=True))
        for f in fixed
    )
    ratios = (wide / WIDTH, high / HEIGHT)
    # A resize keeps the aspect but for rounding to patches, and leaves an image that still shows something.
    plausible = abs(ratios[0] / ratios[1] - 1.0) <= 0.15 and 0.1 <= ratios[0] <= 10.0
    return (
        fixed if near or not plausible else [*fixed, CoordinateFrame(Convention.PIXELS_RESIZED, order, measured=ratios)]
    )


def _place(colour: str, channels: Channels, mirroring: Mirroring) -> tuple[float, float]:
    swapped = {"red": "blue", "blue": "red"}.get(colour, colour) if channels is Channels.BGR else colour
    u, v = DISCS[swapped]
    if mirroring is Mirroring.LEFT_RIGHT:
        return 1.0 - u, v
    return (u, 1.0 - v) if mirroring is Mirroring.UP_DOWN else (u, v)


def _xy(written: tuple[float, float], order: AxisOrder) -> tuple[float, float]:
    return written if order is AxisOrder.XY else (written[1], written[0])
