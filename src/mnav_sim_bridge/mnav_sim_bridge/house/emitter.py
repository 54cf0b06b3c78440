"""Writing shapes and finishes into a MuJoCo specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

import mujoco
import numpy as np

from mnav_sim_bridge.house.shapes import IDENTITY, Finish, Primitive, Quaternion, Shape, Vector, multiplied
from mnav_sim_bridge.house.textures import CUBE_TEXTURES, texture_png


class Group(IntEnum):
    """Geom groups: what a renderer or ray caster may leave out."""

    STATIC = 0
    OBJECT = 1
    ARTICULATED = 2
    ROBOT = 3
    HIDDEN = 4
    CEILING = 5


class Touch(IntFlag):
    """Contact bits. Fixed things never meet each other; small things on furniture meet nothing."""

    NOTHING = 0
    FIXED = 1
    MOVING = 2
    ROBOT = 4


AFFINITY = {
    Touch.NOTHING: Touch.NOTHING,
    Touch.FIXED: Touch.NOTHING,
    Touch.MOVING: Touch.FIXED | Touch.MOVING,
    Touch.ROBOT: Touch.FIXED | Touch.MOVING | Touch.ROBOT,
}
_TYPES = {
    Primitive.BOX: mujoco.mjtGeom.mjGEOM_BOX,
    Primitive.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    Primitive.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    Primitive.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE,
    Primitive.ELLIPSOID: mujoco.mjtGeom.mjGEOM_ELLIPSOID,
}
_HALF = 0.7071067811865476
# Turns that bring a box's thin axis to local z, on whose plane flat textures lie, with the picture upright.
_THIN_X: Quaternion = (0.5, 0.5, 0.5, 0.5)
_THIN_Y: Quaternion = (_HALF, _HALF, 0.0, 0.0)


@dataclass
class Emitter:
    """Adds geoms to bodies of `spec`, creating each material and texture once."""

    spec: mujoco.MjSpec
    prefix: str = ""
    materials: dict[Finish, str] = field(default_factory=dict)
    textures: set[str] = field(default_factory=set)

    def geom(
        self, body: mujoco.MjsBody, shape: Shape, group: Group, touch: Touch, name: str = "", mass: float | None = None
    ) -> mujoco.MjsGeom:
        """One geom of `shape` on `body`; a shape that is not solid touches nothing."""
        half, quat = shape.half, shape.quat
        flat = shape.finish.texture is not None and shape.finish.texture not in CUBE_TEXTURES
        if flat and shape.kind is Primitive.BOX:
            thin = int(np.argmin(half))
            if thin == 0:
                half, quat = (half[1], half[2], half[0]), multiplied(quat, _THIN_X)
            elif thin == 1:
                half, quat = (half[0], half[2], half[1]), multiplied(quat, _THIN_Y)
        size = [half[0], half[2], 0.0] if shape.kind in (Primitive.CYLINDER, Primitive.CAPSULE) else list(half)
        contact = touch if shape.solid else Touch.NOTHING
        options: dict[str, object] = {} if mass is None else {"mass": mass}
        if name:
            options["name"] = name
        return body.add_geom(
            type=_TYPES[shape.kind], pos=list(shape.pos), size=size, quat=list(quat), group=int(group),
            material=self.material(shape.finish), contype=int(contact), conaffinity=int(AFFINITY[contact]), **options,
        )  # fmt: skip

    def shapes(
        self, body: mujoco.MjsBody, shapes: Sequence[Shape], group: Group, touch: Touch, mass: float | None = None
    ) -> None:
        """Every shape on `body`; `mass` is shared evenly."""
        share = None if mass is None else mass / len(shapes)
        for shape in shapes:
            self.geom(body, shape, group, touch, mass=share)

    def material(self, finish: Finish) -> str:
        """Name of the material of a finish."""
        known = self.materials.get(finish)
        if known is not None:
            return known
        name = f"{self.prefix}m{len(self.materials)}"
        self.materials[finish] = name
        made = self.spec.add_material(
            name=name, rgba=[*finish.rgb, finish.alpha], specular=finish.shine, shininess=finish.shine * 0.8,
            emission=finish.glow,
        )  # fmt: skip
        if finish.texture is not None:
            self._texture(finish.texture)
            made.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = finish.texture
            pictures = finish.repeat == 1.0 and finish.texture not in CUBE_TEXTURES
            made.texuniform = not pictures and finish.texture not in CUBE_TEXTURES
            made.texrepeat = [finish.repeat, finish.repeat]
        return name

    def _texture(self, name: str) -> None:
        if name in self.textures:
            return
        self.textures.add(name)
        cube = name in CUBE_TEXTURES
        self.spec.assets[f"{name}.png"] = texture_png(name)
        kind = mujoco.mjtTexture.mjTEXTURE_CUBE if cube else mujoco.mjtTexture.mjTEXTURE_2D
        self.spec.add_texture(name=name, type=kind, file=f"{name}.png")


def body_at(
    parent: mujoco.MjsBody, name: str, pos: Vector = (0.0, 0.0, 0.0), quat: Quaternion = IDENTITY
) -> mujoco.MjsBody:
    """A child body."""
    return parent.add_body(name=name, pos=list(pos), quat=list(quat))
