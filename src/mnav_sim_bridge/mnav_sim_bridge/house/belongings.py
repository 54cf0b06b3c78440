"""Things that people leave about: living, sleeping, working and bathing."""

from __future__ import annotations

import numpy as np

from mnav_sim_bridge.house.palette import (
    BLACK,
    CHROME,
    GREEN_LEAF,
    SCREEN,
    SOIL,
    STEEL,
    WHITE,
    jittered,
    paint,
    textured,
)  # fmt: skip
from mnav_sim_bridge.house.shapes import (
    Finish,
    Shape,
    Vector,
    box,
    capsule,
    cylinder,
    ellipsoid,
    sphere,
    standing_box,
    tilted,
)  # fmt: skip

Rng = np.random.Generator


def _pick(rng: Rng, *choices: Vector, shine: float = 0.2, texture: str | None = None) -> Finish:
    return Finish(jittered(choices[int(rng.integers(len(choices)))], rng, 0.04), texture, 1.0, shine)


def book(rng: Rng) -> tuple[Shape, ...]:
    """A closed book lying flat: cover, pages."""
    cover = _pick(rng, (0.7, 0.2, 0.2), (0.2, 0.35, 0.6), (0.2, 0.5, 0.35), (0.8, 0.6, 0.2), texture="cover")
    return (
        box((0.24, 0.17, 0.006), (0, 0, 0.003), cover),
        box((0.23, 0.16, 0.028), (0, 0.002, 0.02), paint(240, 236, 222)),
        box((0.24, 0.17, 0.006), (0, 0, 0.037), cover),
        box((0.24, 0.006, 0.04), (0, -0.085, 0.02), cover),
    )


def newspaper(rng: Rng) -> tuple[Shape, ...]:
    """A folded newspaper."""
    return (box((0.36, 0.27, 0.016), (0, 0, 0.008), textured("newsprint", 255, 255, 255)),)


def laptop(rng: Rng) -> tuple[Shape, ...]:
    """An open laptop, its screen leaning back."""
    body = _pick(rng, (0.75, 0.76, 0.78), (0.3, 0.31, 0.33), shine=0.4)
    return (
        box((0.24, 0.34, 0.016), (0, 0, 0.008), body),
        box((0.15, 0.31, 0.003), (-0.03, 0, 0.017), textured("keyboard", 255, 255, 255)),
        tilted(box((0.01, 0.34, 0.23), (-0.155, 0, 0.12), body), (0, 1, 0), -0.3),
        tilted(box((0.004, 0.32, 0.205), (-0.147, 0, 0.122), SCREEN), (0, 1, 0), -0.3),
    )


def remote_control(rng: Rng) -> tuple[Shape, ...]:
    """A long black remote with rows of buttons."""
    return (
        box((0.2, 0.055, 0.022), (0, 0, 0.011), BLACK),
        box((0.18, 0.045, 0.003), (0, 0, 0.023), textured("buttons", 255, 255, 255)),
    )


def cell_phone(rng: Rng) -> tuple[Shape, ...]:
    """A slab with a bright screen in a coloured case."""
    case = _pick(rng, (0.85, 0.3, 0.45), (0.25, 0.6, 0.75), (0.12, 0.12, 0.13))
    return (box((0.165, 0.085, 0.012), (0, 0, 0.006), case), box((0.15, 0.074, 0.002), (0, 0, 0.013), SCREEN))


def pillow(rng: Rng) -> tuple[Shape, ...]:
    """A throw pillow leaning back."""
    cloth = _pick(rng, (0.85, 0.65, 0.25), (0.75, 0.35, 0.3), (0.3, 0.5, 0.55), (0.85, 0.8, 0.7), texture="fabric")
    return (
        ellipsoid((0.4, 0.4, 0.15), (0, 0, 0.075), cloth),
        box((0.34, 0.34, 0.06), (0, 0, 0.07), cloth),
    )


def vase(rng: Rng) -> tuple[Shape, ...]:
    """A bellied vase with three flowers."""
    glaze = _pick(rng, (0.3, 0.45, 0.65), (0.85, 0.82, 0.75), (0.6, 0.3, 0.35), shine=0.6)
    bloom = _pick(rng, (0.9, 0.5, 0.6), (0.95, 0.85, 0.3), (0.7, 0.45, 0.8))
    made = [
        ellipsoid((0.13, 0.13, 0.16), (0, 0, 0.08), glaze),
        cylinder(0.035, 0.1, (0, 0, 0.18), glaze),
        cylinder(0.048, 0.012, (0, 0, 0.232), glaze),
    ]
    for x, y, z in ((0.05, 0.0, 0.38), (-0.03, 0.04, 0.4), (-0.02, -0.05, 0.36)):
        made.append(cylinder(0.005, 0.16, (x / 2, y / 2, 0.29), GREEN_LEAF))
        made.append(sphere(0.032, (x, y, z), bloom))
    return tuple(made)


def candle(rng: Rng) -> tuple[Shape, ...]:
    """A thick candle on a saucer."""
    wax = _pick(rng, (0.95, 0.92, 0.82), (0.8, 0.3, 0.3), (0.55, 0.45, 0.65))
    return (
        cylinder(0.055, 0.012, (0, 0, 0.006), CHROME),
        cylinder(0.036, 0.13, (0, 0, 0.075), wax),
        cylinder(0.003, 0.02, (0, 0, 0.148), BLACK),
        ellipsoid((0.014, 0.014, 0.03), (0, 0, 0.165), Finish((1.0, 0.75, 0.25), glow=0.8)),
    )


def desk_lamp(rng: Rng) -> tuple[Shape, ...]:
    """A lamp with a bent arm and a cone-like shade."""
    metal = _pick(rng, (0.15, 0.15, 0.16), (0.8, 0.65, 0.25), (0.25, 0.5, 0.45), shine=0.5)
    return (
        cylinder(0.08, 0.02, (0, 0, 0.01), metal),
        tilted(capsule(0.009, 0.24, (-0.04, 0, 0.14), metal), (0, 1, 0), -0.35),
        tilted(capsule(0.009, 0.2, (-0.01, 0, 0.31), metal), (0, 1, 0), 1.1),
        cylinder(0.07, 0.07, (0.09, 0, 0.34), metal),
        cylinder(0.06, 0.004, (0.09, 0, 0.304), Finish((1.0, 0.93, 0.7), glow=0.8)),
    )


def table_lamp(rng: Rng) -> tuple[Shape, ...]:
    """A lamp with a cloth shade on a round foot."""
    return (
        ellipsoid(
            (0.16, 0.16, 0.2),
            (0, 0, 0.1),
            _pick(rng, (0.85, 0.85, 0.82), (0.35, 0.45, 0.55), (0.7, 0.45, 0.3), shine=0.5),
        ),
        cylinder(0.01, 0.1, (0, 0, 0.23), CHROME),
        cylinder(0.13, 0.17, (0, 0, 0.33), Finish((0.98, 0.93, 0.8), glow=0.4)),
    )


def alarm_clock(rng: Rng) -> tuple[Shape, ...]:
    """A round clock with two bells on legs."""
    body = _pick(rng, (0.8, 0.2, 0.2), (0.2, 0.55, 0.55), (0.85, 0.7, 0.3), shine=0.5)
    return (
        cylinder(0.06, 0.045, (0, 0, 0.08), body, "x"),
        cylinder(0.052, 0.006, (0.023, 0, 0.08), textured("clock_face", 255, 255, 255), "x"),
        sphere(0.026, (0, 0.035, 0.15), CHROME),
        sphere(0.026, (0, -0.035, 0.15), CHROME),
        box((0.02, 0.02, 0.035), (0, 0.04, 0.0175), body),
        box((0.02, 0.02, 0.035), (0, -0.04, 0.0175), body),
    )


def soap_bottle(rng: Rng) -> tuple[Shape, ...]:
    """A pump dispenser."""
    body = _pick(rng, (0.5, 0.75, 0.85), (0.9, 0.6, 0.7), (0.6, 0.8, 0.55), shine=0.5)
    return (
        cylinder(0.04, 0.13, (0, 0, 0.065), body),
        cylinder(0.016, 0.03, (0, 0, 0.145), WHITE),
        cylinder(0.006, 0.04, (0, 0, 0.175), WHITE),
        box((0.07, 0.02, 0.014), (0.022, 0, 0.198), WHITE),
    )


def tissue_box(rng: Rng) -> tuple[Shape, ...]:
    """A box with a tissue standing out of it."""
    carton = _pick(rng, (0.55, 0.7, 0.85), (0.8, 0.6, 0.75), (0.6, 0.75, 0.6))
    return (
        standing_box((0.13, 0.24, 0.095), 0, 0, 0, carton),
        box((0.03, 0.12, 0.003), (0, 0, 0.096), BLACK),
        tilted(box((0.004, 0.09, 0.09), (0, 0, 0.125), WHITE), (0, 1, 0), 0.3),
    )


def toilet_paper(rng: Rng) -> tuple[Shape, ...]:
    """A white roll standing upright."""
    return (cylinder(0.06, 0.1, (0, 0, 0.05), WHITE), cylinder(0.022, 0.003, (0, 0, 0.101), paint(150, 120, 90)))


def towel(rng: Rng) -> tuple[Shape, ...]:
    """Two folded towels on each other."""
    first = _pick(rng, (0.4, 0.6, 0.7), (0.85, 0.75, 0.6), (0.7, 0.45, 0.5), texture="fabric")
    return (
        box((0.26, 0.36, 0.05), (0, 0, 0.025), first),
        box((0.25, 0.34, 0.045), (0, 0, 0.073), paint(235, 232, 226)),
    )


def toy_car(rng: Rng) -> tuple[Shape, ...]:
    """A toy car with four wheels and a cabin."""
    body = _pick(rng, (0.85, 0.2, 0.15), (0.15, 0.4, 0.8), (0.95, 0.75, 0.1), shine=0.5)
    made = [
        box((0.22, 0.1, 0.045), (0, 0, 0.05), body),
        box((0.11, 0.09, 0.045), (-0.01, 0, 0.093), paint(60, 80, 100, 0.6)),
    ]
    made += [cylinder(0.03, 0.025, (x, y, 0.03), BLACK, "y") for x in (-0.065, 0.065) for y in (-0.05, 0.05)]
    return tuple(made)


def teddy_bear(rng: Rng) -> tuple[Shape, ...]:
    """A sitting bear."""
    fur = _pick(rng, (0.62, 0.42, 0.25), (0.82, 0.7, 0.52), texture="fabric")
    snout = paint(222, 196, 160)
    made = [
        ellipsoid((0.16, 0.18, 0.2), (0, 0, 0.1), fur),
        sphere(0.075, (0.01, 0, 0.245), fur),
        ellipsoid((0.06, 0.06, 0.05), (0.075, 0, 0.235), snout),
        sphere(0.012, (0.105, 0, 0.245), BLACK),
    ]
    made += [sphere(0.028, (0, y, 0.315), fur) for y in (-0.055, 0.055)]
    made += [capsule(0.035, 0.08, (0.1, y, 0.036), fur, "x") for y in (-0.06, 0.06)]
    made += [tilted(capsule(0.028, 0.07, (0.04, y, 0.15), fur), (0, 1, 0), 0.9) for y in (-0.1, 0.1)]
    return tuple(made)


def basketball(rng: Rng) -> tuple[Shape, ...]:
    """An orange ball with dark seams."""
    return (
        sphere(0.12, (0, 0, 0.12), paint(214, 110, 44)),
        cylinder(0.1206, 0.005, (0, 0, 0.12), BLACK),
        cylinder(0.1206, 0.005, (0, 0, 0.12), BLACK, "x"),
    )


def hat(rng: Rng) -> tuple[Shape, ...]:
    """A brimmed hat with a band."""
    felt = _pick(rng, (0.6, 0.45, 0.3), (0.25, 0.28, 0.35), (0.8, 0.72, 0.55))
    return (
        cylinder(0.17, 0.012, (0, 0, 0.006), felt),
        cylinder(0.1, 0.09, (0, 0, 0.055), felt),
        cylinder(0.1015, 0.025, (0, 0, 0.026), BLACK),
        ellipsoid((0.2, 0.2, 0.05), (0, 0, 0.1), felt),
    )


def shoe(rng: Rng) -> tuple[Shape, ...]:
    """A pair of sneakers."""
    cloth = _pick(rng, (0.8, 0.2, 0.2), (0.2, 0.3, 0.55), (0.2, 0.2, 0.22), (0.3, 0.6, 0.5))
    made: list[Shape] = []
    for y in (-0.065, 0.065):
        made.append(box((0.29, 0.1, 0.028), (0, y, 0.014), WHITE))
        made.append(ellipsoid((0.16, 0.1, 0.1), (0.06, y, 0.045), cloth))
        made.append(box((0.15, 0.085, 0.09), (-0.06, y, 0.073), cloth))
    return tuple(made)


def backpack(rng: Rng) -> tuple[Shape, ...]:
    """A standing backpack with a front pocket and a loop."""
    cloth = _pick(rng, (0.2, 0.4, 0.6), (0.65, 0.25, 0.25), (0.35, 0.45, 0.3), texture="fabric")
    return (
        standing_box((0.17, 0.31, 0.36), 0, 0, 0, cloth),
        capsule(0.085, 0.14, (0, 0, 0.36), cloth, "y"),
        standing_box((0.07, 0.24, 0.17), 0.115, 0, 0.03, cloth),
        box((0.004, 0.2, 0.01), (0.151, 0, 0.15), BLACK),
        box((0.02, 0.08, 0.02), (-0.05, 0, 0.455), BLACK),
    )


def tennis_racket(rng: Rng) -> tuple[Shape, ...]:
    """A racket lying flat: rim, strings, handle."""
    rim = _pick(rng, (0.85, 0.25, 0.2), (0.2, 0.5, 0.8), (0.9, 0.8, 0.2))
    return (
        cylinder(0.125, 0.018, (0.17, 0, 0.012), rim),
        cylinder(0.108, 0.022, (0.17, 0, 0.012), paint(228, 226, 210)),
        tilted(box((0.15, 0.02, 0.018), (0.0, 0, 0.012), rim), (0, 0, 1), 0.0),
        capsule(0.016, 0.17, (-0.17, 0, 0.017), BLACK, "x"),
    )


def cardboard_box(rng: Rng) -> tuple[Shape, ...]:
    """A parcel with tape and open flaps."""
    card = _pick(rng, (0.72, 0.56, 0.38))
    return (
        standing_box((0.3, 0.38, 0.26), 0, 0, 0, card),
        box((0.302, 0.05, 0.262), (0, 0, 0.132), paint(196, 168, 120)),
        tilted(box((0.12, 0.36, 0.006), (0.19, 0, 0.28), card), (0, 1, 0), 0.5),
    )


def watering_can(rng: Rng) -> tuple[Shape, ...]:
    """A can with a long spout and a bow."""
    tin = _pick(rng, (0.3, 0.6, 0.4), (0.25, 0.45, 0.7), (0.8, 0.5, 0.2), shine=0.4)
    return (
        cylinder(0.085, 0.17, (0, 0, 0.085), tin),
        tilted(capsule(0.014, 0.22, (0.15, 0, 0.14), tin), (0, 1, 0), 0.8),
        tilted(cylinder(0.035, 0.02, (0.24, 0, 0.225), tin), (0, 1, 0), 0.8),
        box((0.016, 0.02, 0.12), (-0.12, 0, 0.14), tin),
        box((0.08, 0.02, 0.016), (-0.09, 0, 0.2), tin),
    )


def plant_pot(rng: Rng) -> tuple[Shape, ...]:
    """A small potted plant."""
    pot = _pick(rng, (0.75, 0.45, 0.3), (0.85, 0.85, 0.82), (0.4, 0.5, 0.6))
    made: list[Shape] = [cylinder(0.06, 0.1, (0, 0, 0.05), pot), cylinder(0.052, 0.004, (0, 0, 0.101), SOIL)]
    for x, y, z in ((0, 0, 0.18), (0.05, 0.02, 0.15), (-0.04, 0.04, 0.16), (-0.01, -0.05, 0.15)):
        made.append(ellipsoid((0.09, 0.09, 0.11), (x, y, z), GREEN_LEAF))
    return tuple(made)


def picture_frame(rng: Rng) -> tuple[Shape, ...]:
    """A small standing photograph."""
    frame = _pick(rng, (0.35, 0.22, 0.14), (0.85, 0.85, 0.85), (0.75, 0.6, 0.3))
    return (
        tilted(box((0.015, 0.17, 0.22), (0, 0, 0.112), frame), (0, 1, 0), -0.2),
        tilted(box((0.004, 0.13, 0.18), (0.0085, 0, 0.113), textured("portrait", 255, 255, 255)), (0, 1, 0), -0.2),
    )


def waste_bin(rng: Rng) -> tuple[Shape, ...]:
    """A round bin."""
    return (cylinder(0.13, 0.32, (0, 0, 0.16), STEEL), cylinder(0.12, 0.004, (0, 0, 0.321), BLACK))
