"""A single bare room with chosen things in it, as a `House`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import mujoco

from mnav_sim_bridge.house.assembly import House
from mnav_sim_bridge.house.emitter import Emitter, Group, Touch, body_at
from mnav_sim_bridge.house.palette import WHITE, paint
from mnav_sim_bridge.house.records import (
    GENERATOR_VERSION,
    ContainerRecord,
    DoorRecord,
    HouseRecord,
    ObjectRecord,
    Point3,
    RoomRecord,
)
from mnav_sim_bridge.house.shapes import Shape, box, yaw_quat

HEIGHT = 2.6
THICKNESS = 0.1
LEAF = (0.84, 0.04, 2.0)


@dataclass(frozen=True)
class Thing:
    """An object: shapes about `position` (its frame's origin in the map), turned by `yaw`; solid ones stop robots."""

    name: str
    category: str
    shapes: tuple[Shape, ...]
    position: Point3
    yaw: float = 0.0
    solid: bool = False


@dataclass(frozen=True)
class Leaf:
    """A free-standing door leaf, hinged at `hinge` and closed along `yaw`; opens counter-clockwise from `initial`."""

    name: str
    hinge: tuple[float, float]
    yaw: float = 0.0
    initial: float = 0.0
    travel: float = 1.75


@dataclass(frozen=True)
class Drawer:
    """A bare drawer at `position` that slides along +x by `travel` and holds one small cube."""

    name: str
    position: Point3
    travel: float = 0.4


def one_room(
    width: float,
    depth: float,
    things: tuple[Thing, ...] = (),
    leaves: tuple[Leaf, ...] = (),
    drawers: tuple[Drawer, ...] = (),
) -> House:
    """A room whose inner faces are x = 0 and `width`, y = 0 and `depth`, z = 0 and HEIGHT."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.visual.map.znear, spec.visual.map.zfar = 0.004, 10.0
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    spec.visual.quality.offsamples, spec.visual.quality.numquads = 0, 1
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.5] * 3, [0.4] * 3
    spec.stat.extent, spec.stat.center = 6.0, [width / 2, depth / 2, 1.0]
    emitter = Emitter(spec)
    _walls(emitter, width, depth)
    for thing in things:
        body = body_at(spec.worldbody, thing.name, thing.position, yaw_quat(thing.yaw))
        emitter.shapes(body, thing.shapes, Group.OBJECT, Touch.FIXED if thing.solid else Touch.NOTHING)
    for leaf in leaves:
        _leaf(emitter, leaf)
    for drawer in drawers:
        _drawer(emitter, drawer)
    spec.compile()
    xml = spec.to_xml()
    record = HouseRecord(
        seed=0,
        sub_seed=0,
        generator_version=GENERATOR_VERSION,
        doors_mode="mixed",
        size=(width, depth),
        rooms=(RoomRecord("room", "living_room", (0.0, 0.0, width, depth), ()),),
        doors=tuple(_door_record(leaf) for leaf in leaves),
        openings=(),
        windows=(),
        furniture=(),
        containers=tuple(_drawer_record(drawer) for drawer in drawers),
        objects=tuple(_object_record(thing) for thing in things) + tuple(_content_record(d) for d in drawers),
        xml_sha256=hashlib.sha256(xml.encode()).hexdigest(),
    )
    return House(record, xml, dict(spec.assets))


def _walls(emitter: Emitter, width: float, depth: float) -> None:
    world, t, grey = emitter.spec.worldbody, THICKNESS, paint(200, 200, 196)
    for size, at in (
        ((width + 2 * t, t, HEIGHT), (width / 2, -t / 2, HEIGHT / 2)),
        ((width + 2 * t, t, HEIGHT), (width / 2, depth + t / 2, HEIGHT / 2)),
        ((t, depth, HEIGHT), (-t / 2, depth / 2, HEIGHT / 2)),
        ((t, depth, HEIGHT), (width + t / 2, depth / 2, HEIGHT / 2)),
    ):
        emitter.geom(world, box(size, at, grey), Group.STATIC, Touch.FIXED)
    floor = box((width + 2 * t, depth + 2 * t, t), (width / 2, depth / 2, -t / 2), WHITE)
    emitter.geom(world, floor, Group.STATIC, Touch.NOTHING)
    ceiling = box((width + 2 * t, depth + 2 * t, t), (width / 2, depth / 2, HEIGHT + t / 2), WHITE)
    emitter.geom(world, ceiling, Group.CEILING, Touch.NOTHING)


def _leaf(emitter: Emitter, leaf: Leaf) -> None:
    frame = body_at(emitter.spec.worldbody, f"{leaf.name}_frame", (*leaf.hinge, 0.0), yaw_quat(leaf.yaw))
    body = body_at(frame, leaf.name)
    joint = body.add_joint(name=f"{leaf.name}_hinge", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    joint.limited, joint.range = True, [0.0, leaf.travel]
    joint.damping, joint.frictionloss, joint.armature = 1.5, 0.4, 0.02
    panel = box(LEAF, (LEAF[0] / 2, 0.0, 0.02 + LEAF[2] / 2), paint(170, 120, 70))
    emitter.geom(body, panel, Group.ARTICULATED, Touch.MOVING, f"{leaf.name}_leaf", 16.0)
    emitter.spec.add_exclude(bodyname1=leaf.name, bodyname2="world")


def _drawer(emitter: Emitter, drawer: Drawer) -> None:
    body = body_at(emitter.spec.worldbody, drawer.name, drawer.position)
    joint = body.add_joint(name=f"{drawer.name}_slide", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0])
    joint.limited, joint.range = True, [0.0, drawer.travel]
    joint.damping, joint.frictionloss, joint.armature = 5.0, 1.5, 0.1
    emitter.geom(body, box((0.02, 0.4, 0.2), (0, 0, 0), WHITE), Group.ARTICULATED, Touch.MOVING, mass=1.5)
    emitter.geom(body, box((0.4, 0.36, 0.01), (-0.21, 0, -0.08), WHITE), Group.ARTICULATED, Touch.MOVING, mass=1.0)
    inner = body_at(body, f"{drawer.name}_content", (-0.15, 0.0, -0.05))
    emitter.geom(inner, box((0.05, 0.05, 0.05), (0, 0, 0), paint(200, 40, 40)), Group.OBJECT, Touch.NOTHING, mass=0.2)


def _door_record(leaf: Leaf) -> DoorRecord:
    return DoorRecord(
        id=leaf.name,
        rooms=("room", "room"),
        centre=leaf.hinge,
        axis="x",
        body=leaf.name,
        joint=f"{leaf.name}_hinge",
        closed_qpos=0.0,
        open_qpos=leaf.travel,
        initial_qpos=leaf.initial,
        opens_into="room",
        hinge_side=-1,
        handle=(0.74, 0.0, 1.0),
    )


def _drawer_record(drawer: Drawer) -> ContainerRecord:
    return ContainerRecord(
        id=drawer.name,
        category="drawer",
        body=drawer.name,
        room="room",
        furniture=drawer.name,
        joints=(f"{drawer.name}_slide",),
        travel=(drawer.travel,),
        interior=((-0.41, -0.18, -0.08), (-0.01, 0.18, 0.1)),
        contents=(f"{drawer.name}_content",),
        front=drawer.position,
        facing=0.0,
    )


def _object_record(thing: Thing) -> ObjectRecord:
    return ObjectRecord(
        thing.name, thing.category, thing.name, "room", "floor", 0.0, None, thing.position, (0.0, 0.0, 0.0), True
    )


def _content_record(drawer: Drawer) -> ObjectRecord:
    name = f"{drawer.name}_content"
    x, y, z = drawer.position
    at = (x - 0.15, y, z - 0.05)
    return ObjectRecord(name, "cube", name, "room", drawer.name, at[2], drawer.name, at, (0.05, 0.05, 0.05), True)
