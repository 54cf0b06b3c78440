"""Walls, floors, ceilings, windows, door frames and leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from mnav_sim_bridge.house.design import HouseDesign
from mnav_sim_bridge.house.emitter import Emitter, Group, Touch, body_at
from mnav_sim_bridge.house.openings import (
    DOOR_HEIGHT,
    LEAF_WIDTH,
    WALL,
    WALL_HEIGHT,
    Edge,
    Passage,
    Window,
    outer_edges,
)  # fmt: skip
from mnav_sim_bridge.house.palette import CHROME, WHITE, textured
from mnav_sim_bridge.house.rectangles import Rect
from mnav_sim_bridge.house.shapes import Finish, Shape, Vector, box, capsule, cylinder, yaw_quat

HALF_WALL = WALL / 2
DOOR_TRAVEL = 1.75
DOOR_MASS = 16.0
LEAF_THICKNESS = 0.04
WET = ("bathroom", "laundry", "kitchen")
CEILING_FINISH = Finish((0.96, 0.96, 0.95), shine=0.0, glow=0.35)
GRASS = textured("grass", 255, 255, 255, 0.25, 0.0)
FACADE = textured("plaster", 214, 204, 188)
GLOW = Finish((1.0, 0.97, 0.9), glow=0.9)


@dataclass(frozen=True)
class Hole:
    """A gap in a wall: from `start` to `end` along it, between two heights."""

    start: float
    end: float
    z0: float
    z1: float


def emit_shell(emitter: Emitter, design: HouseDesign) -> None:
    """Everything fixed that encloses rooms, on the world body."""
    world = emitter.spec.worldbody
    w, d = design.size
    emitter.geom(world, box((w + 40, d + 40, 0.1), (w / 2, d / 2, -0.25), GRASS), Group.STATIC, Touch.NOTHING, "ground")
    for index, room in enumerate(design.rooms):
        rect, kind = room.rect, room.kind
        finish = design.palette.wet_floor if kind in WET else design.palette.floor
        cx, cy = rect.centre
        name = design.room_names[index]
        emitter.geom(
            world,
            box((rect.width, rect.depth, 0.1), (cx, cy, -0.05), finish),
            Group.STATIC,
            Touch.NOTHING,
            f"floor_{name}",
        )
        top = box((rect.width + WALL, rect.depth + WALL, 0.06), (cx, cy, WALL_HEIGHT + 0.03), CEILING_FINISH)
        emitter.geom(world, top, Group.CEILING, Touch.NOTHING, f"ceiling_{name}")
        emitter.geom(
            world, cylinder(0.16, 0.05, (cx, cy, WALL_HEIGHT - 0.03), GLOW).ghost(), Group.CEILING, Touch.NOTHING
        )
        _emit_room_walls(emitter, design, index)
        for edge in outer_edges(index, design.rooms):
            _emit_facade(emitter, design, index, edge)
    for window in design.windows:
        _emit_window(emitter, design, window)


def _holes(design: HouseDesign, index: int, axis: str, at: float) -> list[Hole]:
    found = []
    for p in design.passages:
        if index in p.rooms and p.edge.axis == axis and abs(p.edge.at - at) < 1e-6:
            found.append(Hole(p.along - p.width / 2, p.along + p.width / 2, 0.0, DOOR_HEIGHT if p.leaf else 2.2))
    for w in design.windows:
        if w.room == index and w.edge.axis == axis and abs(w.edge.at - at) < 1e-6:
            found.append(Hole(w.along - w.width / 2, w.along + w.width / 2, w.sill, w.sill + w.height))
    return sorted(found, key=lambda h: h.start)


def _pieces(start: float, end: float, holes: Sequence[Hole]) -> list[tuple[float, float, float, float]]:
    """(from, to, z0, z1) of the wall that is left between `start` and `end`."""
    made, cursor = [], start
    for hole in holes:
        made.append((cursor, hole.start, 0.0, WALL_HEIGHT))
        made.append((hole.start, hole.end, hole.z1, WALL_HEIGHT))
        made.append((hole.start, hole.end, 0.0, hole.z0))
        cursor = hole.end
    made.append((cursor, end, 0.0, WALL_HEIGHT))
    return [p for p in made if p[1] - p[0] > 1e-3 and p[3] - p[2] > 1e-3]


def _slab(axis: str, a: float, b: float, near: float, far: float, z0: float, z1: float, finish: Finish) -> Shape:
    """A box from `a` to `b` along `axis`, between `near` and `far` across it."""
    low, high = min(near, far), max(near, far)
    along, across = (a + b) / 2, (low + high) / 2
    size: Vector = (b - a, high - low, z1 - z0) if axis == "x" else (high - low, b - a, z1 - z0)
    at: Vector = (along, across, (z0 + z1) / 2) if axis == "x" else (across, along, (z0 + z1) / 2)
    return box(size, at, finish)


def _emit_room_walls(emitter: Emitter, design: HouseDesign, index: int) -> None:
    """The inner half of each wall of a room, in the room's own colour, with a skirting board."""
    world, rect = emitter.spec.worldbody, design.rooms[index].rect
    tiled = design.rooms[index].kind == "bathroom"
    finish = design.palette.wall_tiles if tiled else design.palette.walls[design.wall_finish[index]]
    y0, y1 = rect.y0 + HALF_WALL, rect.y1 - HALF_WALL
    sides = (
        ("x", rect.y0, 1, rect.x0, rect.x1),
        ("x", rect.y1, -1, rect.x0, rect.x1),
        ("y", rect.x0, 1, y0, y1),
        ("y", rect.x1, -1, y0, y1),
    )
    for axis, at, inward, start, end in sides:
        face = at + inward * HALF_WALL
        for a, b, z0, z1 in _pieces(start, end, _holes(design, index, axis, at)):
            emitter.geom(world, _slab(axis, a, b, at, face, z0, z1, finish), Group.STATIC, Touch.FIXED)
            if z0 == 0.0 and z1 > 0.5:
                board = _slab(axis, a, b, face, face + inward * 0.012, 0.0, 0.09, design.palette.trim).ghost()
                emitter.geom(world, board, Group.STATIC, Touch.NOTHING)


def _emit_facade(emitter: Emitter, design: HouseDesign, index: int, edge: Edge) -> None:
    """The outer half of an outer wall."""
    cx, cy = design.rooms[index].rect.centre
    outward = -1 if (cy if edge.axis == "x" else cx) > edge.at else 1
    holes = [h for h in _holes(design, index, edge.axis, edge.at) if edge.start <= h.start and h.end <= edge.end]
    # A hair short of the corner, so that it stays inside the wall where the outline turns inwards.
    reach = HALF_WALL - 0.004
    for a, b, z0, z1 in _pieces(edge.start - reach, edge.end + reach, holes):
        shape = _slab(edge.axis, a, b, edge.at, edge.at + outward * HALF_WALL, z0, z1, FACADE)
        emitter.geom(emitter.spec.worldbody, shape, Group.STATIC, Touch.FIXED)


def _emit_window(emitter: Emitter, design: HouseDesign, window: Window) -> None:
    """Frame, mullion, sill and, in living rooms and bedrooms, curtains; the pane itself is open to light and rays."""
    world, edge, trim = emitter.spec.worldbody, window.edge, design.palette.trim
    a, b = window.along - window.width / 2, window.along + window.width / 2
    z0, z1 = window.sill, window.sill + window.height
    near, far = edge.at - 0.03, edge.at + 0.03
    bar = 0.045
    parts = [
        _slab(edge.axis, a, b, near, far, z0, z0 + bar, trim),
        _slab(edge.axis, a, b, near, far, z1 - bar, z1, trim),
        _slab(edge.axis, a, a + bar, near, far, z0, z1, trim),
        _slab(edge.axis, b - bar, b, near, far, z0, z1, trim),
        _slab(edge.axis, window.along - bar / 2, window.along + bar / 2, near, far, z0, z1, trim),
    ]
    cx, cy = design.rooms[window.room].rect.centre
    inward = 1 if (cy if edge.axis == "x" else cx) > edge.at else -1
    face = edge.at + inward * HALF_WALL
    parts.append(_slab(edge.axis, a - 0.04, b + 0.04, edge.at, face + inward * 0.05, z0 - 0.03, z0, trim))
    if design.rooms[window.room].kind in ("living_room", "bedroom", "dining_room"):
        cloth = design.palette.fabric_2
        for c0, c1 in ((a - 0.2, a + 0.08), (b - 0.08, b + 0.2)):
            for k in range(4):
                x0, x1 = c0 + (c1 - c0) * k / 4, c0 + (c1 - c0) * (k + 1) / 4
                depth = 0.03 if k % 2 == 0 else 0.05
                parts.append(
                    _slab(
                        edge.axis,
                        x0,
                        x1,
                        face + inward * 0.02,
                        face + inward * (0.02 + depth),
                        z0 - 0.3,
                        z1 + 0.14,
                        cloth,
                    )
                )
        parts.append(
            _slab(
                edge.axis,
                a - 0.25,
                b + 0.25,
                face + inward * 0.02,
                face + inward * 0.045,
                z1 + 0.14,
                z1 + 0.165,
                CHROME,
            )
        )
    for shape in parts:
        emitter.geom(world, shape.ghost(), Group.STATIC, Touch.NOTHING)


def door_frame_pose(design: HouseDesign, passage: Passage) -> tuple[Vector, float, int]:
    """Hinge point, heading from hinge to latch, and the sign of the opening turn about z."""
    edge, side = passage.edge, passage.side(design.rooms, passage.into)
    hinge = passage.along + passage.hinge_sign * (LEAF_WIDTH / 2 + 0.005)
    face = edge.at + side * HALF_WALL
    heading_x = -passage.hinge_sign
    if edge.axis == "x":
        pos, yaw = (hinge, face, 0.0), (0.0 if heading_x > 0 else math.pi)
        # The left of the heading is +y when it points to +x.
        turn = side * heading_x
    else:
        pos, yaw = (face, hinge, 0.0), (math.pi / 2 if heading_x > 0 else -math.pi / 2)
        # The left of the heading is -x when it points to +y.
        turn = -side * heading_x
    return pos, yaw, turn


def emit_door(emitter: Emitter, design: HouseDesign, passage: Passage, name: str) -> mujoco.MjsBody:
    """Frame and hinged leaf of a passage. The leaf's body is `name`, its joint `<name>_hinge`."""
    world = emitter.spec.worldbody
    trim, leaf_finish = design.palette.trim, design.palette.leaf
    axis, at = passage.edge.axis, passage.edge.at
    a, b = passage.along - passage.width / 2, passage.along + passage.width / 2
    depth = HALF_WALL + 0.012
    for x0, x1, z0, z1 in (
        (a - 0.05, a + 0.02, 0.0, DOOR_HEIGHT),
        (b - 0.02, b + 0.05, 0.0, DOOR_HEIGHT),
        (a - 0.05, b + 0.05, DOOR_HEIGHT - 0.02, DOOR_HEIGHT + 0.05),
    ):
        emitter.geom(
            world, _slab(axis, x0, x1, at - depth, at + depth, z0, z1, trim).ghost(), Group.STATIC, Touch.NOTHING
        )
    pos, yaw, turn = door_frame_pose(design, passage)
    frame = body_at(world, f"{name}_frame", pos, yaw_quat(yaw))
    leaf = body_at(frame, name)
    joint = leaf.add_joint(
        name=f"{name}_hinge", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, turn], range=[0, DOOR_TRAVEL]
    )
    joint.limited, joint.damping, joint.frictionloss, joint.armature = True, 1.5, 0.4, 0.02
    y = -turn * (LEAF_THICKNESS / 2 + 0.002)
    width, height = LEAF_WIDTH - 0.01, DOOR_HEIGHT - 0.05
    panel = box((width, LEAF_THICKNESS, height), (0.005 + width / 2, y, 0.015 + height / 2), leaf_finish)
    emitter.geom(leaf, panel, Group.ARTICULATED, Touch.MOVING, f"{name}_leaf", DOOR_MASS)
    inset = Finish(tuple(c * 0.93 for c in leaf_finish.rgb), leaf_finish.texture, leaf_finish.repeat, leaf_finish.shine)  # type: ignore[arg-type]
    for z, h in ((0.55, 0.75), (1.45, 0.85)):
        emitter.geom(
            leaf,
            box((width - 0.24, LEAF_THICKNESS + 0.006, h), (0.005 + width / 2, y, z), inset).ghost(),
            Group.ARTICULATED,
            Touch.NOTHING,
            mass=0.01,
        )
    for s in (-1, 1):
        at_y = y + s * (LEAF_THICKNESS / 2 + 0.03)
        lever = capsule(0.009, 0.1, (width - 0.1, at_y, 1.0), CHROME, "x")
        emitter.geom(
            leaf, lever.ghost(), Group.ARTICULATED, Touch.NOTHING, f"{name}_handle_{'front' if s > 0 else 'back'}", 0.1
        )
        stem = cylinder(0.012, 0.03, (width - 0.05, y + s * (LEAF_THICKNESS / 2 + 0.015), 1.0), CHROME, "y")
        emitter.geom(leaf, stem.ghost(), Group.ARTICULATED, Touch.NOTHING, mass=0.05)
    emitter.spec.add_exclude(bodyname1=name, bodyname2="world")
    return leaf


def emit_arch(emitter: Emitter, design: HouseDesign, passage: Passage) -> None:
    """The lining of an archway."""
    axis, at, depth = passage.edge.axis, passage.edge.at, HALF_WALL + 0.012
    a, b = passage.along - passage.width / 2, passage.along + passage.width / 2
    for x0, x1, z0, z1 in (
        (a - 0.04, a + 0.01, 0.0, 2.2),
        (b - 0.01, b + 0.04, 0.0, 2.2),
        (a - 0.04, b + 0.04, 2.19, 2.25),
    ):
        shape = _slab(axis, x0, x1, at - depth, at + depth, z0, z1, WHITE).ghost()
        emitter.geom(emitter.spec.worldbody, shape, Group.STATIC, Touch.NOTHING)


def room_interior(design: HouseDesign, index: int) -> Rect:
    """The floor between the faces of a room's walls."""
    return design.rooms[index].rect.grown(-HALF_WALL)
