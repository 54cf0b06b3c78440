"""One frame of a recording: the house from above, what the robot sees, what it knows, what it decided."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, LETHAL, UNKNOWN, GridMap

Image = NDArray[np.uint8]
Color = tuple[int, int, int]
Point = tuple[float, float]

WIDTH, HEIGHT = 960, 540
BACKGROUND, PANEL = (15, 19, 27), (24, 30, 41)
TEXT, MUTED, WHITE = (240, 244, 250), (148, 160, 180), (255, 255, 255)
SEEN, UNSEEN, WALL = (214, 235, 226), (232, 234, 238), (58, 70, 90)
PATH, ROBOT, TARGET = (37, 120, 235), (245, 130, 32), (226, 38, 84)
SUCCESS, FAILURE = (28, 150, 90), (196, 48, 62)
CORNER = 10
# Sub-pixel bits of OpenCV's drawing.
SHIFT = 4


@dataclass(frozen=True)
class Box:
    """Where a panel lies: left, top, width, height, pixels."""

    x: int
    y: int
    width: int
    height: int


HOUSE_BOX = Box(16, 56, 618, 428)
VIEW_BOX = Box(644, 56, 300, 225)
MAP_BOX = Box(644, 291, 300, 193)


@dataclass(frozen=True)
class Verdict:
    """How the episode ended."""

    success: bool
    text: str


@dataclass(frozen=True, eq=False)
class FrameContent:
    """What a frame shows. Pixels of `house_*` are of the house's picture; `view_boxes` of the view's, as fractions."""

    task: str
    robot: str
    time_s: float
    decision: str
    house: Image
    house_path: NDArray[np.float64]
    house_target: Point | None
    view: Image | None
    view_boxes: tuple[tuple[float, float, float, float], ...]
    map_size_m: tuple[float, float]
    occupancy: GridMap | None
    inspected: GridMap | None
    path: NDArray[np.float64]
    pose: SE2
    footprint: tuple[Point, ...]
    target: Point | None
    verdict: Verdict | None = None


def compose(content: FrameContent) -> Image:
    """The frame, RGB (HEIGHT, WIDTH, 3)."""
    canvas = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    canvas[:] = BACKGROUND
    _put(canvas, _house_panel(content), HOUSE_BOX)
    _put(canvas, _view_panel(content), VIEW_BOX)
    _put(canvas, _map_panel(content), MAP_BOX)
    picture = Picture.fromarray(canvas)
    _write(ImageDraw.Draw(picture), content)
    return np.asarray(picture, np.uint8)


def _house_panel(content: FrameContent) -> Image:
    panel = content.house.copy()
    _polyline(panel, content.house_path, PATH, 2)
    if content.house_target is not None:
        _pin(panel, content.house_target)
    return panel


def _view_panel(content: FrameContent) -> Image:
    if content.view is None:
        return np.full((VIEW_BOX.height, VIEW_BOX.width, 3), PANEL, np.uint8)
    panel = np.asarray(
        cv2.resize(content.view, (VIEW_BOX.width, VIEW_BOX.height), interpolation=cv2.INTER_AREA), np.uint8
    )
    scale = np.array([VIEW_BOX.width, VIEW_BOX.height] * 2)
    for box in content.view_boxes:
        x0, y0, x1, y1 = (int(v) for v in np.round(np.array(box) * scale))
        cv2.rectangle(panel, (x0 - 3, y0 - 3), (x1 + 3, y1 + 3), WHITE, 4, cv2.LINE_AA)
        cv2.rectangle(panel, (x0 - 3, y0 - 3), (x1 + 3, y1 + 3), TARGET, 2, cv2.LINE_AA)
    return panel


def _map_panel(content: FrameContent) -> Image:
    """The robot's map: x right, y up, the house in the middle."""
    width, depth = content.map_size_m
    scale = min((MAP_BOX.width - 16) / width, (MAP_BOX.height - 16) / depth)
    left, bottom = MAP_BOX.width / 2 - scale * width / 2, MAP_BOX.height / 2 + scale * depth / 2
    panel = np.full((MAP_BOX.height, MAP_BOX.width, 3), PANEL, np.uint8)
    if content.occupancy is not None:
        grid = content.occupancy
        colored = _map_colors(grid, content.inspected)
        step = grid.resolution * scale
        # From cell centres to pixel centres.
        x = left + scale * (grid.origin[0] + 0.5 * grid.resolution) - 0.5
        y = bottom - scale * (grid.origin[1] + 0.5 * grid.resolution) - 0.5
        matrix = np.array([[step, 0.0, x], [0.0, -step, y]])
        panel = np.asarray(
            cv2.warpAffine(
                colored, matrix, (MAP_BOX.width, MAP_BOX.height), flags=cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_CONSTANT, borderValue=PANEL,
            ),
            np.uint8,
        )  # fmt: skip

    def pixels(points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([left + scale * points[:, 0], bottom - scale * points[:, 1]], axis=1)

    _polyline(panel, pixels(content.path.reshape(-1, 2)), PATH, 2)
    pose = content.pose
    corners = [pose @ SE2(*corner) for corner in content.footprint]
    _polygon(panel, pixels(np.array([(c.x, c.y) for c in corners])), ROBOT)
    reach = max(x for x, _ in content.footprint)
    nose = pose @ SE2(reach + 0.22, 0.0)
    sides = [pose @ SE2(reach - 0.02, side * 0.16) for side in (1, -1)]
    _polygon(panel, pixels(np.array([(p.x, p.y) for p in (nose, *sides)])), ROBOT)
    if content.target is not None:
        _pin(panel, tuple(pixels(np.array([content.target]))[0]))
    return panel


def _map_colors(grid: GridMap, inspected: GridMap | None) -> Image:
    data = grid.data
    colored = np.empty((*data.shape, 3), np.uint8)
    colored[:] = UNSEEN
    if inspected is not None and inspected.shape == grid.shape:
        colored[inspected.data > FREE] = SEEN
    colored[data >= LETHAL] = WALL
    colored[data == UNKNOWN] = PANEL
    return colored


def _write(draw: ImageDraw.ImageDraw, content: FrameContent) -> None:
    margin = HOUSE_BOX.x
    draw.text((margin, 29), content.task, TEXT, _font(22, True), "lm")
    clock = f"{int(content.time_s) // 60}:{content.time_s % 60:04.1f}"
    draw.text((WIDTH - margin, 29), clock, TEXT, _font(20, True), "rm")
    draw.text((WIDTH - margin - 84, 29), content.robot.replace("_", " "), MUTED, _font(17, False), "rm")
    _label(draw, VIEW_BOX, "camera")
    _label(draw, MAP_BOX, "map so far")
    left = margin
    if content.verdict is not None:
        font = _font(16, True)
        word = "SUCCESS" if content.verdict.success else "FAILED"
        wide = draw.textlength(word, font) + 24
        color = SUCCESS if content.verdict.success else FAILURE
        draw.rounded_rectangle((margin, 497, margin + wide, 527), 8, color)
        draw.text((margin + wide / 2, 512), word, WHITE, font, "mm")
        left = round(margin + wide + 12)
    line = content.decision if content.verdict is None else content.verdict.text
    draw.text((left, 512), _fitted(draw, line, WIDTH - margin - left), TEXT, _font(17, False), "lm")


def _label(draw: ImageDraw.ImageDraw, box: Box, text: str) -> None:
    font = _font(13, True)
    wide = draw.textlength(text, font) + 14
    draw.rounded_rectangle((box.x + 7, box.y + 7, box.x + 7 + wide, box.y + 27), 6, BACKGROUND)
    draw.text((box.x + 14, box.y + 17), text, TEXT, font, "lm")


def _fitted(draw: ImageDraw.ImageDraw, text: str, width: float) -> str:
    """The text, cut where it would be wider than `width` pixels."""
    font = _font(17, False)
    if draw.textlength(text, font) <= width:
        return text
    while text and draw.textlength(text + "…", font) > width:
        text = text[:-1]
    return text + "…"


@lru_cache(maxsize=16)
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), size)


def _put(canvas: Image, panel: Image, box: Box) -> None:
    """A panel with round corners."""
    window = canvas[box.y : box.y + box.height, box.x : box.x + box.width]
    window[:] = panel
    for rows in (slice(0, CORNER), slice(-CORNER, None)):
        for columns in (slice(0, CORNER), slice(-CORNER, None)):
            mask = _rounded()[rows, columns]
            window[rows, columns] = np.round(mask * window[rows, columns] + (1.0 - mask) * np.array(BACKGROUND))


@lru_cache(maxsize=1)
def _rounded() -> NDArray[np.float32]:
    """How much of each pixel a square with round corners covers, (4 CORNER, 4 CORNER, 1)."""
    side = 4 * CORNER
    picture = Picture.new("L", (4 * side, 4 * side), 0)
    ImageDraw.Draw(picture).rounded_rectangle((0, 0, 4 * side - 1, 4 * side - 1), 4 * CORNER, 255)
    small = picture.resize((side, side), Picture.Resampling.BOX)
    return (np.asarray(small, np.float32) / 255.0)[..., None]


def _fixed(points: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.round(np.asarray(points, float) * (1 << SHIFT)).astype(np.int32)


def _polyline(panel: Image, points: NDArray[np.float64], color: Color, width: int) -> None:
    if len(points) > 1:
        cv2.polylines(panel, [_fixed(points)], False, WHITE, width + 2, cv2.LINE_AA, SHIFT)
        cv2.polylines(panel, [_fixed(points)], False, color, width, cv2.LINE_AA, SHIFT)


def _polygon(panel: Image, corners: NDArray[np.float64], color: Color) -> None:
    cv2.fillPoly(panel, [_fixed(corners)], color, cv2.LINE_AA, SHIFT)


def _pin(panel: Image, at: Point) -> None:
    """A ring with a dot."""
    centre = tuple(int(v) for v in _fixed(np.array(at)))
    for radius, color in ((8.0, WHITE), (6.5, TARGET), (2.5, WHITE)):
        cv2.circle(panel, centre, round(radius * (1 << SHIFT)), color, -1, cv2.LINE_AA, SHIFT)
