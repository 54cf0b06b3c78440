"""Primitive shapes and finishes: the vocabulary in which furniture and objects are described."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)


class Primitive(Enum):
    """The MuJoCo primitives in use."""

    BOX = "box"
    CYLINDER = "cylinder"
    SPHERE = "sphere"
    CAPSULE = "capsule"
    ELLIPSOID = "ellipsoid"


@dataclass(frozen=True)
class Finish:
    """What a surface looks like: a texture name (or none), a tint, and how it shines."""

    rgb: Vector
    texture: str | None = None
    repeat: float = 1.0
    shine: float = 0.1
    alpha: float = 1.0
    glow: float = 0.0


@dataclass(frozen=True)
class Shape:
    """One primitive in its body's frame; `half` holds half extents (radius, -, half length for round ones), metres."""

    kind: Primitive
    pos: Vector
    half: Vector
    finish: Finish
    quat: Quaternion = IDENTITY
    solid: bool = True

    def moved(self, dx: float, dy: float, dz: float) -> Shape:
        """The same shape displaced."""
        return replace(self, pos=(self.pos[0] + dx, self.pos[1] + dy, self.pos[2] + dz))

    def ghost(self) -> Shape:
        """The same shape, seen but never touched."""
        return replace(self, solid=False)


def box(size: Vector, at: Vector, finish: Finish, solid: bool = True) -> Shape:
    """An upright box of full extents `size` centred at `at`."""
    return Shape(Primitive.BOX, at, (size[0] / 2, size[1] / 2, size[2] / 2), finish, solid=solid)


def standing_box(size: Vector, x: float, y: float, z0: float, finish: Finish) -> Shape:
    """A box of full extents `size` whose bottom is at height `z0`."""
    return box(size, (x, y, z0 + size[2] / 2), finish)


def cylinder(radius: float, height: float, at: Vector, finish: Finish, axis: str = "z") -> Shape:
    """A cylinder centred at `at` along a local axis."""
    return Shape(Primitive.CYLINDER, at, (radius, radius, height / 2), finish, _along(axis))


def capsule(radius: float, length: float, at: Vector, finish: Finish, axis: str = "z") -> Shape:
    """A capsule whose straight part has `length`."""
    return Shape(Primitive.CAPSULE, at, (radius, radius, length / 2), finish, _along(axis))


def sphere(radius: float, at: Vector, finish: Finish) -> Shape:
    """A ball."""
    return Shape(Primitive.SPHERE, at, (radius, radius, radius), finish)


def ellipsoid(size: Vector, at: Vector, finish: Finish) -> Shape:
    """An ellipsoid of full extents `size`."""
    return Shape(Primitive.ELLIPSOID, at, (size[0] / 2, size[1] / 2, size[2] / 2), finish)


def tilted(shape: Shape, axis: Vector, angle: float) -> Shape:
    """`shape` turned by `angle` radians about `axis` through its own centre."""
    s = math.sin(angle / 2)
    turn = (math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s)
    return replace(shape, quat=multiplied(turn, shape.quat))


def multiplied(a: Quaternion, b: Quaternion) -> Quaternion:
    """Hamilton product of two (w, x, y, z) quaternions."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def yaw_quat(yaw: float) -> Quaternion:
    """The rotation by `yaw` radians about z."""
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


def rotation(quat: Quaternion) -> npt.NDArray[np.float64]:
    """The 3x3 matrix of a unit (w, x, y, z) quaternion."""
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def bounds(shapes: Sequence[Shape]) -> tuple[Vector, Vector]:
    """Lower and upper corner of the axis-aligned box around `shapes`, in their body's frame."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for shape in shapes:
        half = np.array(shape.half)
        if shape.kind is Primitive.CAPSULE:
            half[2] += half[0]
        reach = np.abs(rotation(shape.quat)) @ half
        low, high = np.minimum(low, np.array(shape.pos) - reach), np.maximum(high, np.array(shape.pos) + reach)
    return (float(low[0]), float(low[1]), float(low[2])), (float(high[0]), float(high[1]), float(high[2]))


def _along(axis: str) -> Quaternion:
    quarter = math.sqrt(0.5)
    return {"z": IDENTITY, "x": (quarter, 0.0, quarter, 0.0), "y": (quarter, quarter, 0.0, 0.0)}[axis]
