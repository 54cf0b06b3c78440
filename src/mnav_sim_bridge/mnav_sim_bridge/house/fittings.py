"""Shelves, kitchen and bathroom fittings, media, and what hangs on walls or lies on floors."""

from __future__ import annotations

import math
from dataclasses import replace

from mnav_sim_bridge.house.furniture import Furniture, Surface
from mnav_sim_bridge.house.palette import (
    BLACK,
    CERAMIC_DARK,
    CHROME,
    GREEN_LEAF,
    PORCELAIN,
    SCREEN,
    SOIL,
    STEEL,
    WHITE,
    paint,
    textured,
)  # fmt: skip
from mnav_sim_bridge.house.rectangles import Rect
from mnav_sim_bridge.house.shapes import (
    Finish,
    Shape,
    box,
    capsule,
    cylinder,
    ellipsoid,
    multiplied,
    sphere,
    standing_box,
    tilted,
    yaw_quat,
)  # fmt: skip

SPINES = textured("spines", 255, 255, 255)


def bookshelf(width: float, height: float, wood: Finish, books: tuple[bool, ...]) -> Furniture:
    """Open shelves; `books[k]` fills half of level k with books, the rest carries things."""
    depth, board = 0.32, 0.022
    shapes = [
        standing_box((depth, board, height), 0, width / 2 - board / 2, 0, wood),
        standing_box((depth, board, height), 0, -width / 2 + board / 2, 0, wood),
        standing_box((0.012, width, height), -depth / 2 + 0.006, 0, 0, wood),
    ]
    surfaces = []
    levels = len(books)
    for k in range(levels + 1):
        z = 0.06 + (height - 0.06 - board) * k / levels
        shapes.append(standing_box((depth, width - 2 * board, board), 0, 0, z, wood))
        if k == levels:
            continue
        y0, head = -width / 2 + 0.06, (height - 0.06) / levels - 0.06
        if books[k]:
            span = width * 0.45
            shapes.append(box((0.2, span, head * 0.78), (-0.03, y0 + span / 2 - 0.02, z + board + head * 0.39), SPINES))
            y0 += span + 0.03
        surfaces.append(
            Surface("shelf", Rect(-depth / 2 + 0.05, y0, depth / 2 - 0.03, width / 2 - 0.06), z + board, head)
        )
    return Furniture("bookshelf", tuple(shapes), tuple(s for s in surfaces if s.z < 1.35), access=0.7)


def wall_shelf(width: float, wood: Finish) -> Furniture:
    """A board on brackets at 1.1 m; nothing below it is in the way."""
    shapes = (
        box((0.24, width, 0.025), (0, 0, 1.1), wood),
        box((0.18, 0.02, 0.1), (-0.03, width / 3, 1.04), STEEL),
        box((0.18, 0.02, 0.1), (-0.03, -width / 3, 1.04), STEEL),
    )
    surface = Surface("shelf", Rect(-0.08, -width / 2 + 0.05, 0.1, width / 2 - 0.05), 1.1125, 0.5)
    return Furniture("wall_shelf", shapes, (surface,), access=0.5)


def counter(width: float, front: Finish, top: Finish, depth: float = 0.6) -> Furniture:
    """A plain base unit whose fronts do not open."""
    shapes = (
        standing_box((depth - 0.08, width, 0.1), -0.04, 0, 0, CERAMIC_DARK),
        standing_box((depth - 0.02, width, 0.76), -0.01, 0, 0.1, front),
        standing_box((depth + 0.02, width, 0.04), 0.01, 0, 0.86, top),
        box((0.006, width - 0.02, 0.015), (depth / 2 - 0.02, 0, 0.78), CERAMIC_DARK, solid=False),
    )
    return Furniture("counter", shapes, (_top(depth, width, 0.9, "counter"),), access=0.8)


def sink_counter(
    width: float, front: Finish, top: Finish, tag: str, category: str = "sink", depth: float = 0.6
) -> Furniture:
    """A base unit with a basin and a tap; things stand beside the basin."""
    basin = 0.42
    rim = (width - basin) / 2
    shapes = [
        standing_box((depth - 0.08, width, 0.1), -0.04, 0, 0, CERAMIC_DARK),
        standing_box((depth - 0.02, width, 0.62), -0.01, 0, 0.1, front),
        standing_box((depth + 0.02, rim, 0.16), 0.01, width / 2 - rim / 2, 0.74, top),
        standing_box((depth + 0.02, rim, 0.16), 0.01, -width / 2 + rim / 2, 0.74, top),
        standing_box((0.1, basin, 0.16), -depth / 2 + 0.05, 0, 0.74, top),
        standing_box((0.1, basin, 0.16), depth / 2 - 0.03, 0, 0.74, top),
        standing_box((depth - 0.16, basin, 0.02), 0.01, 0, 0.74, STEEL if tag == "counter" else PORCELAIN),
        cylinder(0.014, 0.26, (-depth / 2 + 0.07, 0, 1.02), CHROME),
        capsule(0.012, 0.14, (-depth / 2 + 0.13, 0, 1.15), CHROME, "x"),
        box((0.006, 0.012, 0.5), (depth / 2 - 0.02, 0, 0.42), CERAMIC_DARK, solid=False),
    ]
    side = Rect(-depth / 2 + 0.08, -width / 2 + 0.03, depth / 2 - 0.05, -basin / 2 - 0.02)
    surfaces = (Surface(tag, side, 0.9), Surface(tag, Rect(side.x0, -side.y1, side.x1, -side.y0), 0.9))
    return Furniture(category, tuple(shapes), surfaces if rim > 0.12 else (), access=0.8)


def stove(hood: bool, width: float = 0.6, depth: float = 0.6) -> Furniture:
    """An oven with four rings on top, and a hood above where no window is in the way."""
    shapes = [
        standing_box((depth - 0.02, width, 0.88), -0.01, 0, 0, STEEL),
        standing_box((depth, width, 0.02), 0, 0, 0.88, BLACK),
        box((0.012, width - 0.08, 0.42), (depth / 2 - 0.015, 0, 0.44), BLACK),
        capsule(0.01, width - 0.2, (depth / 2 + 0.015, 0, 0.69), CHROME, "y"),
    ]
    if hood:
        shapes.append(standing_box((0.36, width, 0.05), -0.1, 0, 1.62, STEEL))
        shapes.append(standing_box((0.22, 0.24, 0.7), -0.17, 0, 1.67, STEEL))
    for x in (-0.13, 0.13):
        for y in (-0.14, 0.14):
            shapes.append(cylinder(0.09, 0.006, (x, y, 0.903), CERAMIC_DARK))
    for y in (-0.2, -0.1, 0.1, 0.2):
        shapes.append(cylinder(0.018, 0.02, (depth / 2 - 0.005, y, 0.79), BLACK, "x"))
    top = Surface("stove", Rect(-0.16, -0.18, 0.16, 0.18), 0.907, 0.6)
    return Furniture("stove", tuple(shapes), (top,), access=0.8)


def toilet() -> Furniture:
    """A toilet with its cistern against the wall."""
    shapes = (
        standing_box((0.2, 0.42, 0.42), -0.25, 0, 0.38, PORCELAIN),
        standing_box((0.22, 0.44, 0.03), -0.25, 0, 0.8, PORCELAIN),
        standing_box((0.5, 0.24, 0.34), -0.02, 0, 0, PORCELAIN),
        ellipsoid((0.52, 0.38, 0.2), (0.08, 0, 0.33), PORCELAIN),
        cylinder(0.185, 0.03, (0.12, 0, 0.42), WHITE),
        box((0.22, 0.36, 0.03), (-0.02, 0, 0.42), WHITE),
        cylinder(0.02, 0.01, (-0.25, 0, 0.835), CHROME),
    )
    lid = Surface("cistern", Rect(-0.33, -0.16, -0.18, 0.16), 0.83, 0.5)
    return Furniture("toilet", shapes, (lid,), access=0.6)


def bathtub(length: float = 1.6) -> Furniture:
    """A tub, its long side along the wall."""
    w, h, t = 0.74, 0.56, 0.08
    shapes = (
        standing_box((w, length, 0.12), 0, 0, 0, PORCELAIN),
        standing_box((t, length, h), -w / 2 + t / 2, 0, 0, PORCELAIN),
        standing_box((t, length, h), w / 2 - t / 2, 0, 0, PORCELAIN),
        standing_box((w, t, h), 0, -length / 2 + t / 2, 0, PORCELAIN),
        standing_box((w, t, h), 0, length / 2 - t / 2, 0, PORCELAIN),
        standing_box((w - 0.16, length - 0.16, 0.01), 0, 0, 0.38, paint(196, 222, 230, 0.6)).ghost(),
        cylinder(0.016, 0.2, (0, -length / 2 + 0.05, 0.66), CHROME),
        capsule(0.014, 0.1, (0, -length / 2 + 0.1, 0.76), CHROME, "y"),
    )
    return Furniture("bathtub", shapes, (), access=0.55)


def washing_machine() -> Furniture:
    """A front loader."""
    shapes = (
        standing_box((0.58, 0.6, 0.86), 0, 0, 0, WHITE),
        cylinder(0.19, 0.03, (0.295, 0, 0.42), CHROME, "x"),
        cylinder(0.15, 0.04, (0.3, 0, 0.42), CERAMIC_DARK, "x"),
        box((0.01, 0.5, 0.1), (0.292, 0, 0.77), CERAMIC_DARK),
        cylinder(0.03, 0.03, (0.3, 0.18, 0.77), CHROME, "x"),
    )
    return Furniture("washing_machine", shapes, (_top(0.58, 0.6, 0.86, "counter"),), access=0.8)


def tv_stand(width: float, wood: Finish) -> Furniture:
    """A low bench that carries a television."""
    d, h = 0.4, 0.48
    screen_w = min(1.25, width - 0.25)
    screen_h = screen_w * 0.57
    shapes = [
        standing_box((d, width, 0.03), 0, 0, h - 0.03, wood),
        standing_box((d, width, 0.03), 0, 0, 0.08, wood),
        standing_box((0.015, width, h - 0.11), -d / 2 + 0.01, 0, 0.1, wood),
    ]
    for y in (-width / 2 + 0.015, 0.0, width / 2 - 0.015):
        shapes.append(standing_box((d, 0.03, h), 0, y, 0, wood))
    shapes += [
        standing_box((0.2, 0.34, 0.015), -0.04, 0, h, BLACK),
        standing_box((0.03, 0.08, 0.1), -0.06, 0, h, BLACK),
        box((0.035, screen_w, screen_h), (-0.05, 0, h + 0.08 + screen_h / 2), BLACK),
        box((0.004, screen_w - 0.03, screen_h - 0.03), (-0.03, 0, h + 0.08 + screen_h / 2), SCREEN, solid=False),
    ]
    front = Surface("tv_stand", Rect(0.02, -width / 2 + 0.06, d / 2 - 0.03, width / 2 - 0.06), h, 0.5)
    side = Rect(-d / 2 + 0.06, -width / 2 + 0.04, d / 2 - 0.03, width / 2 - 0.04)
    low = Surface("shelf", Rect(side.x0, 0.06, side.x1, side.y1), 0.11, h - 0.18)
    return Furniture("tv_stand", tuple(shapes), (front, low), access=0.7)


def floor_plant(height: float, pot: Finish) -> Furniture:
    """A leafy plant in a pot."""
    shapes: list[Shape] = [
        cylinder(0.15, 0.3, (0, 0, 0.15), pot),
        cylinder(0.13, 0.01, (0, 0, 0.302), SOIL),
        cylinder(0.014, height - 0.4, (0, 0, 0.3 + (height - 0.4) / 2), paint(108, 84, 56)),
    ]
    for k in range(7):
        turn = k * 2.4
        z = 0.48 + (height - 0.5) * k / 6
        leaf = ellipsoid((0.34, 0.14, 0.03), (0.1, 0, z), GREEN_LEAF)
        leaf = tilted(leaf, (0, 1, 0), -0.45)
        shapes.append(_spun(leaf, turn))
    return Furniture("plant", tuple(shapes), wall=False)


def floor_lamp(shade: Finish) -> Furniture:
    """A standing lamp."""
    shapes = (
        cylinder(0.14, 0.025, (0, 0, 0.0125), BLACK),
        cylinder(0.013, 1.4, (0, 0, 0.7), BLACK),
        cylinder(0.17, 0.26, (0, 0, 1.5), shade),
    )
    return Furniture("floor_lamp", shapes, wall=False)


def rug(length: float, width: float, finish: Finish) -> Furniture:
    """A rug, 8 mm thick, that nothing collides with."""
    return Furniture(
        "rug", (box((width, length, 0.008), (0, 0, 0.005), finish, solid=False),), wall=False, target=False
    )


def picture(width: float, height: float, motif: str, frame: Finish) -> Furniture:
    """A framed picture at eye height, on a wall."""
    z = 1.55
    shapes = (
        box((0.025, width + 0.05, height + 0.05), (0, 0, z), frame, solid=False),
        box((0.01, width, height), (0.012, 0, z), textured(motif, 255, 255, 255), solid=False),
    )
    return Furniture("picture", shapes, target=False)


def mirror(width: float = 0.6, height: float = 0.75) -> Furniture:
    """A mirror that reflects nothing, above a basin."""
    shapes = (
        box((0.02, width + 0.04, height + 0.04), (0, 0, 1.55), CHROME, solid=False),
        box((0.01, width, height), (0.01, 0, 1.55), paint(196, 212, 220, 0.8), solid=False),
    )
    return Furniture("mirror", shapes, target=False)


def coat_rack(wood: Finish, coat: Finish) -> Furniture:
    """Hooks on a board with a coat."""
    shapes = (
        box((0.025, 0.8, 0.1), (0, 0, 1.65), wood, solid=False),
        sphere(0.02, (0.04, -0.25, 1.63), CHROME).ghost(),
        sphere(0.02, (0.04, 0.25, 1.63), CHROME).ghost(),
        box((0.1, 0.36, 0.8), (0.06, 0.22, 1.2), coat, solid=False),
    )
    return Furniture("coat_rack", shapes, target=False)


def shoe_bench(wood: Finish, cushion: Finish) -> Furniture:
    """A low hallway bench with a shelf for shoes."""
    shapes = [standing_box((0.36, 0.9, 0.03), 0, 0, 0.41, wood), standing_box((0.34, 0.88, 0.05), 0, 0, 0.44, cushion)]
    shapes.append(standing_box((0.34, 0.86, 0.02), 0, 0, 0.14, wood))
    for y in (-0.43, 0.43):
        shapes.append(standing_box((0.36, 0.03, 0.42), 0, y, 0, wood))
    low = Surface("shoe_shelf", Rect(-0.12, -0.38, 0.12, 0.38), 0.16, 0.2)
    return Furniture(
        "bench", tuple(shapes), (Surface("bench", Rect(-0.12, -0.4, 0.12, 0.4), 0.49, 0.8), low), access=0.5
    )


def laundry_basket(finish: Finish) -> Furniture:
    """A wicker basket."""
    shapes = (
        standing_box((0.36, 0.46, 0.52), 0, 0, 0, finish),
        standing_box((0.38, 0.48, 0.03), 0, 0, 0.52, finish),
    )
    return Furniture("laundry_basket", shapes, wall=False)


def _top(depth: float, width: float, z: float, tag: str) -> Surface:
    return Surface(tag, Rect(-depth / 2 + 0.06, -width / 2 + 0.04, depth / 2 - 0.03, width / 2 - 0.04), z, 0.5)


def _spun(shape: Shape, angle: float) -> Shape:
    """`shape` carried around the body's z axis."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = shape.pos
    return replace(shape, pos=(c * x - s * y, s * x + c * y, z), quat=multiplied(yaw_quat(angle), shape.quat))
