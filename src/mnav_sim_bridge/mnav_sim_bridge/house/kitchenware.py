"""Food and kitchen things, built from primitives standing on z = 0."""

from __future__ import annotations

import numpy as np

from mnav_sim_bridge.house.palette import BLACK, CHROME, GLASS, STEEL, jittered, paint
from mnav_sim_bridge.house.shapes import (
    Finish,
    Shape,
    box,
    capsule,
    cylinder,
    ellipsoid,
    sphere,
    standing_box,
    tilted,
)  # fmt: skip

Rng = np.random.Generator
CUP_COLOURS = ((0.86, 0.3, 0.26), (0.24, 0.42, 0.7), (0.95, 0.93, 0.88), (0.25, 0.55, 0.45), (0.92, 0.72, 0.25))


def _colour(rng: Rng, choices: tuple[tuple[float, float, float], ...], shine: float = 0.3) -> Finish:
    return Finish(jittered(choices[int(rng.integers(len(choices)))], rng, 0.04), shine=shine)


def egg(rng: Rng) -> tuple[Shape, ...]:
    """A hen's egg, somewhat larger than life so that it is seen at 4 m."""
    shell = _colour(rng, ((0.95, 0.9, 0.8), (0.82, 0.62, 0.45)), 0.2)
    return (ellipsoid((0.06, 0.06, 0.078), (0, 0, 0.039), shell),)


def tomato(rng: Rng) -> tuple[Shape, ...]:
    """A red, flattened ball with a green star."""
    leaf = paint(60, 120, 50)
    return (
        ellipsoid((0.085, 0.085, 0.07), (0, 0, 0.035), _colour(rng, ((0.85, 0.13, 0.1),), 0.5)),
        box((0.045, 0.012, 0.004), (0, 0, 0.07), leaf),
        box((0.012, 0.045, 0.004), (0, 0, 0.07), leaf),
    )


def apple(rng: Rng) -> tuple[Shape, ...]:
    """A green or yellow-red apple with a stalk."""
    skin = _colour(rng, ((0.5, 0.72, 0.2), (0.75, 0.2, 0.22), (0.85, 0.75, 0.25)), 0.5)
    return (sphere(0.042, (0, 0, 0.042), skin), cylinder(0.004, 0.025, (0, 0, 0.09), paint(90, 60, 30)))


def lettuce(rng: Rng) -> tuple[Shape, ...]:
    """A head of lettuce: overlapping green balls."""
    made = [sphere(0.065, (0, 0, 0.065), paint(140, 190, 90))]
    for x, y in ((0.035, 0.02), (-0.03, 0.03), (0.0, -0.04)):
        made.append(
            ellipsoid((0.1, 0.1, 0.09), (x, y, 0.06), _colour(rng, ((0.42, 0.66, 0.25), (0.5, 0.75, 0.32)), 0.1))
        )
    return tuple(made)


def potato(rng: Rng) -> tuple[Shape, ...]:
    """A brown, lumpy ellipsoid."""
    skin = _colour(rng, ((0.66, 0.5, 0.3),), 0.05)
    return (ellipsoid((0.105, 0.07, 0.065), (0, 0, 0.033), skin), sphere(0.03, (0.025, 0.008, 0.034), skin))


def banana(rng: Rng) -> tuple[Shape, ...]:
    """Three capsules in a bow."""
    skin = _colour(rng, ((0.95, 0.82, 0.2),), 0.2)
    ends = [
        tilted(capsule(0.018, 0.06, (x, 0.018, 0.02), skin, "x"), (0, 0, 1), a) for x, a in ((-0.07, 0.5), (0.07, -0.5))
    ]
    return (capsule(0.019, 0.08, (0, 0.034, 0.02), skin, "x"), *ends)


def bread(rng: Rng) -> tuple[Shape, ...]:
    """A loaf: a box with a rounded crust."""
    crust = _colour(rng, ((0.75, 0.5, 0.25), (0.62, 0.4, 0.2)), 0.05)
    return (
        standing_box((0.24, 0.11, 0.07), 0, 0, 0, crust),
        tilted(ellipsoid((0.24, 0.125, 0.08), (0, 0, 0.075), crust), (0, 0, 1), 0.0),
        box((0.16, 0.012, 0.006), (0, 0, 0.115), paint(230, 200, 150)),
    )


def plate(rng: Rng) -> tuple[Shape, ...]:
    """A flat plate with a raised rim."""
    glaze = _colour(rng, ((0.93, 0.93, 0.92), (0.55, 0.68, 0.8), (0.88, 0.7, 0.55)), 0.6)
    return (cylinder(0.085, 0.012, (0, 0, 0.006), glaze), cylinder(0.135, 0.01, (0, 0, 0.017), glaze))


def bowl(rng: Rng) -> tuple[Shape, ...]:
    """A bowl: a foot, a wide body and a dark hollow."""
    glaze = _colour(rng, ((0.3, 0.5, 0.62), (0.9, 0.86, 0.78), (0.75, 0.4, 0.3)), 0.5)
    return (
        cylinder(0.045, 0.02, (0, 0, 0.01), glaze),
        cylinder(0.075, 0.03, (0, 0, 0.033), glaze),
        cylinder(0.1, 0.035, (0, 0, 0.062), glaze),
        cylinder(0.088, 0.003, (0, 0, 0.0815), Finish((0.25, 0.22, 0.2))),
    )


def mug(rng: Rng) -> tuple[Shape, ...]:
    """A straight mug with a handle and coffee in it."""
    glaze = _colour(rng, CUP_COLOURS, 0.5)
    return (
        cylinder(0.043, 0.105, (0, 0, 0.0525), glaze),
        cylinder(0.037, 0.003, (0, 0, 0.1055), paint(60, 38, 26)),
        box((0.012, 0.014, 0.07), (0.072, 0, 0.053), glaze),
        box((0.035, 0.014, 0.012), (0.055, 0, 0.083), glaze),
        box((0.035, 0.014, 0.012), (0.055, 0, 0.024), glaze),
    )


def cup(rng: Rng) -> tuple[Shape, ...]:
    """A paper cup: light sleeve, white lid, no handle."""
    return (
        cylinder(0.036, 0.13, (0, 0, 0.065), paint(238, 234, 226)),
        cylinder(0.04, 0.055, (0, 0, 0.07), _colour(rng, ((0.6, 0.42, 0.28), (0.35, 0.5, 0.38)), 0.05)),
        cylinder(0.041, 0.014, (0, 0, 0.137), paint(252, 252, 252)),
    )


def wine_glass(rng: Rng) -> tuple[Shape, ...]:
    """A stemmed glass."""
    return (
        cylinder(0.038, 0.006, (0, 0, 0.003), GLASS),
        cylinder(0.006, 0.09, (0, 0, 0.05), GLASS),
        ellipsoid((0.085, 0.085, 0.1), (0, 0, 0.14), GLASS),
        ellipsoid((0.07, 0.07, 0.05), (0, 0, 0.12), paint(120, 20, 40, 0.5)),
    )


def bottle(rng: Rng) -> tuple[Shape, ...]:
    """A tall bottle with a neck and a label."""
    glass = _colour(rng, ((0.16, 0.36, 0.22), (0.4, 0.24, 0.12), (0.2, 0.3, 0.5)), 0.7)
    return (
        cylinder(0.038, 0.19, (0, 0, 0.095), glass),
        cylinder(0.0385, 0.08, (0, 0, 0.09), paint(235, 226, 200)),
        sphere(0.038, (0, 0, 0.19), glass),
        cylinder(0.015, 0.1, (0, 0, 0.26), glass),
        cylinder(0.017, 0.02, (0, 0, 0.31), _colour(rng, ((0.7, 0.15, 0.15), (0.85, 0.7, 0.3)))),
    )


def kettle(rng: Rng) -> tuple[Shape, ...]:
    """A kettle with spout, lid knob and bow handle."""
    body = (STEEL, paint(190, 50, 46, 0.5), paint(60, 66, 72, 0.5))[int(rng.integers(3))]
    return (
        cylinder(0.085, 0.12, (0, 0, 0.06), body),
        ellipsoid((0.17, 0.17, 0.09), (0, 0, 0.12), body),
        sphere(0.014, (0, 0, 0.172), BLACK),
        tilted(capsule(0.014, 0.08, (0.1, 0, 0.1), body), (0, 1, 0), 0.9),
        box((0.02, 0.022, 0.14), (-0.12, 0, 0.11), BLACK),
        box((0.07, 0.022, 0.018), (-0.09, 0, 0.175), BLACK),
    )


def pot(rng: Rng) -> tuple[Shape, ...]:
    """A cooking pot with a lid and two side handles."""
    body = (STEEL, paint(176, 58, 40, 0.5), paint(58, 84, 110, 0.5))[int(rng.integers(3))]
    return (
        cylinder(0.11, 0.13, (0, 0, 0.065), body),
        cylinder(0.113, 0.012, (0, 0, 0.136), CHROME),
        sphere(0.016, (0, 0, 0.155), BLACK),
        box((0.04, 0.07, 0.014), (0.125, 0, 0.1), BLACK),
        box((0.04, 0.07, 0.014), (-0.125, 0, 0.1), BLACK),
    )


def pan(rng: Rng) -> tuple[Shape, ...]:
    """A frying pan with one long handle."""
    return (
        cylinder(0.125, 0.04, (0, 0, 0.02), BLACK),
        cylinder(0.113, 0.003, (0, 0, 0.0415), paint(86, 86, 90, 0.4)),
        tilted(
            capsule(0.012, 0.17, (0.21, 0, 0.045), _colour(rng, ((0.14, 0.14, 0.15), (0.45, 0.28, 0.16))), "x"),
            (0, 1, 0),
            -0.12,
        ),
    )


def fork(rng: Rng) -> tuple[Shape, ...]:
    """A serving fork."""
    made = [box((0.13, 0.014, 0.008), (-0.06, 0, 0.006), CHROME), box((0.02, 0.04, 0.008), (0.01, 0, 0.006), CHROME)]
    made += [box((0.06, 0.007, 0.008), (0.045, y, 0.006), CHROME) for y in (-0.0165, 0, 0.0165)]
    return tuple(made)


def spoon(rng: Rng) -> tuple[Shape, ...]:
    """A wooden or steel serving spoon."""
    finish = (CHROME, paint(176, 128, 80))[int(rng.integers(2))]
    return (
        box((0.18, 0.016, 0.01), (-0.06, 0, 0.008), finish),
        ellipsoid((0.08, 0.055, 0.022), (0.06, 0, 0.011), finish),
    )


def toaster(rng: Rng) -> tuple[Shape, ...]:
    """A toaster with two slots and a lever."""
    body = (STEEL, paint(200, 66, 56, 0.5), paint(226, 218, 196, 0.4))[int(rng.integers(3))]
    return (
        standing_box((0.17, 0.28, 0.18), 0, 0, 0.01, body),
        box((0.03, 0.22, 0.004), (0.035, 0, 0.191), BLACK),
        box((0.03, 0.22, 0.004), (-0.035, 0, 0.191), BLACK),
        box((0.05, 0.02, 0.02), (0, 0.15, 0.12), BLACK),
        standing_box((0.16, 0.27, 0.012), 0, 0, 0, BLACK),
    )


def cereal_box(rng: Rng) -> tuple[Shape, ...]:
    """A bright upright carton."""
    face = _colour(rng, ((0.9, 0.6, 0.1), (0.2, 0.45, 0.75), (0.75, 0.2, 0.3)), 0.1)
    return (
        standing_box((0.07, 0.19, 0.28), 0, 0, 0, face),
        box((0.004, 0.13, 0.09), (0.036, 0, 0.18), paint(250, 246, 230)),
        box((0.004, 0.1, 0.04), (0.036, 0, 0.07), paint(250, 220, 90)),
    )


def milk(rng: Rng) -> tuple[Shape, ...]:
    """A gabled carton, white above blue."""
    return (
        standing_box((0.085, 0.085, 0.1), 0, 0, 0, _colour(rng, ((0.2, 0.42, 0.75), (0.3, 0.62, 0.4)))),
        standing_box((0.085, 0.085, 0.1), 0, 0, 0.1, paint(245, 245, 245)),
        tilted(box((0.06, 0.085, 0.06), (0, 0, 0.2), paint(245, 245, 245)), (0, 1, 0), 0.785),
    )
