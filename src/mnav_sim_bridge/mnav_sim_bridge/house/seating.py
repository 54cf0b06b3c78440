"""Sofas, chairs, beds and tables."""

from __future__ import annotations

from mnav_sim_bridge.house.furniture import Furniture, Surface
from mnav_sim_bridge.house.palette import BLACK, CHROME
from mnav_sim_bridge.house.rectangles import Rect
from mnav_sim_bridge.house.shapes import Finish, Shape, box, capsule, cylinder, standing_box, tilted


def sofa(seats: int, fabric: Finish, cushion: Finish) -> Furniture:
    """A sofa with arms, back cushions and seat cushions."""
    width, depth = 0.68 * seats + 0.4, 0.88
    shapes = [
        standing_box((depth, width, 0.26), 0, 0, 0.06, fabric),
        standing_box((0.2, width - 0.1, 0.52), -depth / 2 + 0.1, 0, 0.3, fabric),
        standing_box((depth - 0.04, 0.18, 0.52), 0, width / 2 - 0.09, 0.08, fabric),
        standing_box((depth - 0.04, 0.18, 0.52), 0, -width / 2 + 0.09, 0.08, fabric),
    ]
    for y in (width / 2 - 0.09, -width / 2 + 0.09):
        shapes.append(capsule(0.09, depth - 0.22, (0, y, 0.6), fabric, "x"))
    seat_w = (width - 0.38) / seats
    for k in range(seats):
        y = -width / 2 + 0.19 + seat_w * (k + 0.5)
        shapes.append(standing_box((depth - 0.24, seat_w - 0.015, 0.13), 0.11, y, 0.32, fabric))
        back = tilted(box((0.16, seat_w - 0.03, 0.42), (-depth / 2 + 0.27, y, 0.64), fabric), (0, 1, 0), -0.18)
        shapes.append(back)
    for x in (-depth / 2 + 0.08, depth / 2 - 0.08):
        for y in (-width / 2 + 0.08, width / 2 - 0.08):
            shapes.append(cylinder(0.025, 0.06, (x, y, 0.03), BLACK))
    seat = Surface("sofa", Rect(-0.02, -width / 2 + 0.24, depth / 2 - 0.08, width / 2 - 0.24), 0.45)
    return Furniture("sofa", tuple(shapes), (seat,), access=0.55)


def armchair(fabric: Finish, wood: Finish) -> Furniture:
    """A single upholstered chair."""
    shapes = [
        standing_box((0.74, 0.74, 0.16), 0, 0, 0.14, fabric),
        standing_box((0.56, 0.5, 0.14), 0.06, 0, 0.3, fabric),
        tilted(box((0.16, 0.7, 0.66), (-0.28, 0, 0.6), fabric), (0, 1, 0), -0.14),
        standing_box((0.66, 0.12, 0.42), 0.02, 0.31, 0.2, fabric),
        standing_box((0.66, 0.12, 0.42), 0.02, -0.31, 0.2, fabric),
    ]
    shapes += _legs(0.62, 0.62, 0.14, 0.022, wood)
    seat = Surface("sofa", Rect(0.0, -0.2, 0.28, 0.2), 0.44)
    return Furniture("armchair", tuple(shapes), (seat,), access=0.5)


def chair(wood: Finish, seat: Finish | None = None) -> Furniture:
    """A dining chair; its front faces the table."""
    shapes = [standing_box((0.42, 0.42, 0.03), 0, 0, 0.44, wood)]
    if seat is not None:
        shapes.append(standing_box((0.39, 0.39, 0.035), 0, 0, 0.465, seat))
    shapes += _legs(0.38, 0.38, 0.44, 0.018, wood)
    for y in (-0.19, 0.19):
        shapes.append(standing_box((0.03, 0.03, 0.46), -0.195, y, 0.44, wood))
    for z in (0.58, 0.7, 0.82):
        shapes.append(standing_box((0.02, 0.36, 0.06), -0.195, 0, z, wood))
    return Furniture("chair", tuple(shapes), wall=False)


def office_chair(fabric: Finish) -> Furniture:
    """A swivel chair on a five-star base."""
    shapes: list[Shape] = [
        standing_box((0.46, 0.46, 0.08), 0, 0, 0.44, fabric),
        tilted(box((0.07, 0.42, 0.52), (-0.25, 0, 0.82), fabric), (0, 1, 0), -0.12),
        cylinder(0.03, 0.36, (0, 0, 0.26), CHROME),
        standing_box((0.04, 0.05, 0.3), -0.24, 0, 0.4, BLACK),
    ]
    for x, y in ((0.25, 0.0), (0.08, 0.24), (-0.2, 0.15), (-0.2, -0.15), (0.08, -0.24)):
        shapes.append(capsule(0.018, 0.01, (x, y, 0.03), BLACK))
        shapes.append(box((abs(x) + 0.02, abs(y) + 0.02, 0.025), (x / 2, y / 2, 0.07), BLACK))
    return Furniture("office_chair", tuple(shapes), wall=False)


def bed(width: float, wood: Finish, bedding: Finish, blanket: Finish, pillow: Finish) -> Furniture:
    """A bed, its headboard against the wall."""
    length = 2.05
    shapes = [
        standing_box((length, width, 0.22), 0, 0, 0.1, wood),
        standing_box((length - 0.06, width - 0.06, 0.2), 0.02, 0, 0.32, bedding),
        standing_box((length * 0.62, width + 0.01, 0.05), length * 0.17, 0, 0.5, blanket),
        standing_box((length * 0.6, 0.02, 0.22), length * 0.17, width / 2 + 0.005, 0.32, blanket),
        standing_box((length * 0.6, 0.02, 0.22), length * 0.17, -width / 2 - 0.005, 0.32, blanket),
        standing_box((0.06, width + 0.04, 0.95), -length / 2 + 0.0, 0, 0.05, wood),
    ]
    count = 2 if width > 1.2 else 1
    for k in range(count):
        y = (k - (count - 1) / 2) * 0.68
        shapes.append(tilted(box((0.4, 0.58, 0.13), (-length / 2 + 0.3, y, 0.58), pillow), (0, 1, 0), -0.2))
    shapes += _legs(length - 0.1, width - 0.1, 0.1, 0.03, wood)
    surface = Surface("bed", Rect(-0.2, -width / 2 + 0.12, length / 2 - 0.1, width / 2 - 0.12), 0.55, 1.0)
    return Furniture("bed", tuple(shapes), (surface,), access=0.0)


def table(
    length: float, width: float, height: float, wood: Finish, tag: str, category: str = "dining_table"
) -> Furniture:
    """A four-legged table; its long side along y."""
    shapes = [standing_box((width, length, 0.035), 0, 0, height - 0.035, wood)]
    shapes += _legs(width - 0.1, length - 0.1, height - 0.035, 0.03, wood, square=True)
    apron = height - 0.11
    for y in (-length / 2 + 0.07, length / 2 - 0.07):
        shapes.append(standing_box((width - 0.16, 0.02, 0.075), 0, y, apron, wood))
    for x in (-width / 2 + 0.07, width / 2 - 0.07):
        shapes.append(standing_box((0.02, length - 0.16, 0.075), x, 0, apron, wood))
    surface = Surface(
        tag, Rect(-width / 2 + 0.05, -length / 2 + 0.05, width / 2 - 0.05, length / 2 - 0.05), height, 1.0
    )
    return Furniture(category, tuple(shapes), (surface,), wall=False)


def round_table(radius: float, height: float, wood: Finish, tag: str, category: str) -> Furniture:
    """A pedestal table."""
    shapes = (
        cylinder(radius, 0.03, (0, 0, height - 0.015), wood),
        cylinder(0.04, height - 0.04, (0, 0, (height - 0.04) / 2), wood),
        cylinder(radius * 0.55, 0.025, (0, 0, 0.0125), wood),
    )
    r = radius * 0.66
    return Furniture(category, shapes, (Surface(tag, Rect(-r, -r, r, r), height, 1.0),), wall=False)


def desk(length: float, wood: Finish, metal: Finish) -> Furniture:
    """A writing desk against a wall."""
    depth, height = 0.62, 0.74
    shapes = [standing_box((depth, length, 0.03), 0, 0, height - 0.03, wood)]
    for y in (-length / 2 + 0.04, length / 2 - 0.04):
        for x in (-depth / 2 + 0.05, depth / 2 - 0.05):
            shapes.append(standing_box((0.04, 0.04, height - 0.03), x, y, 0, metal))
        shapes.append(standing_box((depth - 0.1, 0.03, 0.03), 0, y, 0.08, metal))
    shapes.append(standing_box((0.02, length - 0.12, 0.3), -depth / 2 + 0.05, 0, 0.4, wood))
    surface = Surface(
        "desk", Rect(-depth / 2 + 0.06, -length / 2 + 0.06, depth / 2 - 0.04, length / 2 - 0.06), height, 0.7
    )
    return Furniture("desk", tuple(shapes), (surface,), access=0.9)


def stool(wood: Finish) -> Furniture:
    """A round stool."""
    shapes = [cylinder(0.17, 0.035, (0, 0, 0.46), wood)]
    shapes += _legs(0.24, 0.24, 0.45, 0.016, wood)
    return Furniture("stool", tuple(shapes), wall=False)


def _legs(dx: float, dy: float, height: float, radius: float, finish: Finish, square: bool = False) -> list[Shape]:
    made = []
    for x in (-dx / 2, dx / 2):
        for y in (-dy / 2, dy / 2):
            if square:
                made.append(standing_box((radius * 2, radius * 2, height), x, y, 0, finish))
            else:
                made.append(cylinder(radius, height, (x, y, height / 2), finish))
    return made
