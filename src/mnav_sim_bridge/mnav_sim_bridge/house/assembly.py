"""From a design to a MuJoCo specification and the house record."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from mnav_core.randomness import generator
from mnav_sim_bridge.house.design import HouseDesign, NamedFurniture
from mnav_sim_bridge.house.emitter import Emitter, Group, Touch, body_at
from mnav_sim_bridge.house.furniture import Motion
from mnav_sim_bridge.house.objects import PlacedObject
from mnav_sim_bridge.house.openings import WALL_HEIGHT
from mnav_sim_bridge.house.records import (
    GENERATOR_VERSION,
    ContainerRecord,
    DoorRecord,
    FurnitureRecord,
    HouseRecord,
    ObjectRecord,
    OpeningRecord,
    Point3,
    RoomRecord,
    WindowRecord,
)  # fmt: skip
from mnav_sim_bridge.house.shapes import bounds, yaw_quat
from mnav_sim_bridge.house.shell import DOOR_TRAVEL, door_frame_pose, emit_arch, emit_door, emit_shell, room_interior

OPEN_SHARE = 0.9
DOOR_MODES = ("open", "closed", "mixed")


@dataclass(frozen=True, eq=False)
class House:
    """A house ready to be compiled: `xml` refers to the PNG files in `assets`."""

    record: HouseRecord
    xml: str
    assets: dict[str, bytes]

    def spec(self) -> mujoco.MjSpec:
        """A fresh specification, to which robots can be added."""
        return mujoco.MjSpec.from_string(self.xml, assets=self.assets)

    def write(self, directory: Path) -> Path:
        """Write model.xml, its textures and house.json; the path of the model."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, data in self.assets.items():
            (directory / name).write_bytes(data)
        (directory / "house.json").write_text(self.record.to_json())
        path = directory / "model.xml"
        path.write_text(self.xml)
        return path


def assemble(design: HouseDesign, doors: str = "open") -> House:
    """Compile-checked XML and record of a design. `doors`: open (at 90 %), closed, or mixed (each drawn)."""
    if doors not in DOOR_MODES:
        raise ValueError(f"doors: {doors!r} is unknown, allowed: {', '.join(DOOR_MODES)}")
    spec = _new_spec(design)
    emitter = Emitter(spec)
    emit_shell(emitter, design)
    door_records, openings = _emit_passages(emitter, design, doors)
    held = _by_carrier(design.objects)
    furniture: list[FurnitureRecord] = []
    containers: list[ContainerRecord] = []
    for named in design.furniture:
        piece, inside = _emit_furniture(emitter, design, named, held)
        furniture.append(piece)
        containers.extend(inside)
    for thing in held.get((None, None), []):
        body = body_at(spec.worldbody, thing.name, thing.position, yaw_quat(thing.yaw))
        emitter.shapes(body, thing.shapes, Group.OBJECT, Touch.FIXED)
    _emit_lights(spec, design)
    model = spec.compile()
    xml = spec.to_xml()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    record = HouseRecord(
        seed=design.seed,
        sub_seed=design.sub_seed,
        generator_version=GENERATOR_VERSION,
        doors_mode=doors,
        size=design.size,
        rooms=_room_records(design),
        doors=door_records,
        openings=openings,
        windows=_window_records(design),
        furniture=tuple(furniture),
        containers=tuple(containers),
        objects=tuple(_object_record(design, thing, containers, model, data) for thing in design.objects),
        xml_sha256=hashlib.sha256(xml.encode()).hexdigest(),
    )
    return House(record, xml, dict(spec.assets))


def _new_spec(design: HouseDesign) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.modelname = f"house_{design.seed}"
    spec.compiler.degree = False
    option, visual = spec.option, spec.visual
    option.timestep = 0.005
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    visual.global_.offwidth, visual.global_.offheight = 1280, 960
    visual.map.znear, visual.map.zfar = 0.004, 4.0
    visual.quality.offsamples, visual.quality.numquads, visual.quality.shadowsize = 0, 1, 2048
    visual.headlight.ambient = [0.47, 0.47, 0.47]
    visual.headlight.diffuse = [0.26, 0.26, 0.26]
    visual.headlight.specular = [0.05, 0.05, 0.05]
    w, d = design.size
    # znear and zfar are multiples of the extent: 2.4 cm and 24 m at 6 m.
    spec.stat.extent, spec.stat.center = 6.0, [w / 2, d / 2, 1.0]
    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        width=64, height=384, rgb1=[0.5, 0.68, 0.92], rgb2=[0.86, 0.92, 0.97],
    )  # fmt: skip
    return spec


def _emit_lights(spec: mujoco.MjSpec, design: HouseDesign) -> None:
    """Two shadowless directional lights for sensors, and one lamp per room that pictures switch on."""
    for name, direction, level in (
        ("sun", (0.45, 0.3, -0.84), (0.36, 0.35, 0.32)),
        ("fill", (-0.5, -0.65, -0.57), (0.16, 0.17, 0.2)),
    ):
        spec.worldbody.add_light(
            name=name, type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, pos=[0, 0, 6], dir=list(direction),
            diffuse=list(level), specular=[0.04] * 3, ambient=[0.0] * 3, castshadow=False,
        )  # fmt: skip
    for name, room in zip(design.room_names, design.rooms, strict=True):
        x, y = room.rect.centre
        lamp = spec.worldbody.add_light(
            name=f"lamp_{name}", type=mujoco.mjtLightType.mjLIGHT_SPOT, pos=[x, y, WALL_HEIGHT - 0.1], dir=[0, 0, -1],
            diffuse=[0.27, 0.255, 0.22], specular=[0.12] * 3, castshadow=True, active=False,
        )  # fmt: skip
        lamp.cutoff, lamp.exponent, lamp.attenuation = 80, 1, [1, 0, 0.04]


def _emit_passages(
    emitter: Emitter, design: HouseDesign, doors: str
) -> tuple[tuple[DoorRecord, ...], tuple[OpeningRecord, ...]]:
    rng = generator("house-doors", design.seed, design.sub_seed)
    records: list[DoorRecord] = []
    openings: list[OpeningRecord] = []
    for passage in design.passages:
        names = (design.room_names[passage.rooms[0]], design.room_names[passage.rooms[1]])
        if not passage.leaf:
            emit_arch(emitter, design, passage)
            openings.append(OpeningRecord(names, passage.centre, passage.edge.axis, passage.width))
            continue
        name = f"door_{len(records) + 1}"
        emit_door(emitter, design, passage, name)
        is_open = doors == "open" or (doors == "mixed" and bool(rng.random() < 0.5))
        turn = door_frame_pose(design, passage)[2]
        records.append(
            DoorRecord(
                id=name,
                rooms=names,
                centre=passage.centre,
                axis=passage.edge.axis,
                body=name,
                joint=f"{name}_hinge",
                closed_qpos=0.0,
                open_qpos=DOOR_TRAVEL,
                initial_qpos=OPEN_SHARE * DOOR_TRAVEL if is_open else 0.0,
                opens_into=design.room_names[passage.into],
                hinge_side=passage.hinge_sign,
                handle=(0.74, -turn * 0.02, 1.0),
            )
        )
    return tuple(records), tuple(openings)


def _by_carrier(objects: tuple[PlacedObject, ...]) -> dict[tuple[str | None, str | None], list[PlacedObject]]:
    held: dict[tuple[str | None, str | None], list[PlacedObject]] = {}
    for thing in objects:
        held.setdefault((thing.furniture, thing.part), []).append(thing)
    return held


def _emit_furniture(
    emitter: Emitter,
    design: HouseDesign,
    named: NamedFurniture,
    held: dict[tuple[str | None, str | None], list[PlacedObject]],
) -> tuple[FurnitureRecord, list[ContainerRecord]]:
    item, piece = named.item, named.item.furniture
    base = body_at(emitter.spec.worldbody, named.name, (item.x, item.y, 0.0), yaw_quat(item.yaw))
    emitter.shapes(base, piece.shapes, Group.STATIC, Touch.FIXED)
    for thing in held.get((named.name, None), []):
        body = body_at(base, thing.name, thing.position, yaw_quat(thing.yaw))
        emitter.shapes(body, thing.shapes, Group.OBJECT, Touch.NOTHING)
    part_names: dict[str, str] = {}
    for part in piece.parts:
        name = f"{named.name}_{part.name}"
        part_names[part.name] = name
        body = body_at(base, name, part.pos)
        hinge = part.motion is Motion.HINGE
        kind = mujoco.mjtJoint.mjJNT_HINGE if hinge else mujoco.mjtJoint.mjJNT_SLIDE
        joint = body.add_joint(name=f"{name}_joint", type=kind, axis=list(part.axis), range=[0.0, part.travel])
        joint.limited = True
        joint.damping, joint.frictionloss, joint.armature = (0.5, 0.25, 0.02) if hinge else (5.0, 1.5, 0.1)
        emitter.shapes(body, part.shapes, Group.ARTICULATED, Touch.MOVING, part.mass)
        for thing in held.get((named.name, part.name), []):
            inner = body_at(body, thing.name, thing.position, yaw_quat(thing.yaw))
            emitter.shapes(inner, thing.shapes, Group.OBJECT, Touch.NOTHING, 0.2)
        emitter.spec.add_exclude(bodyname1=name, bodyname2=named.name)
        for other in list(part_names.values())[:-1]:
            emitter.spec.add_exclude(bodyname1=name, bodyname2=other)
    rect = item.footprint
    record = FurnitureRecord(
        named.name, piece.category, design.room_names[named.room], named.name, (rect.x0, rect.y0, rect.x1, rect.y1),
        piece.height, item.yaw,
    )  # fmt: skip
    return record, _container_records(design, named, part_names)


def _container_records(design: HouseDesign, named: NamedFurniture, part_names: dict[str, str]) -> list[ContainerRecord]:
    item, piece = named.item, named.item.furniture
    parts = {p.name: p for p in piece.parts}
    made = []
    for k, container in enumerate(piece.containers):
        body = part_names[container.parts[0]] if container.category == "drawer" else named.name
        contents = tuple(o.name for o in design.objects if o.furniture == named.name and o.container == k)
        first = parts[container.parts[0]]
        x, y = item.point(first.pos[0], first.pos[1])
        made.append(
            ContainerRecord(
                id=body,
                category=container.category,
                body=body,
                room=design.room_names[named.room],
                furniture=named.name,
                joints=tuple(f"{part_names[p]}_joint" for p in container.parts),
                travel=tuple(parts[p].travel for p in container.parts),
                interior=container.interior,
                contents=contents,
                front=(x, y, first.pos[2]),
                facing=math.remainder(item.yaw, 2 * math.pi),
            )
        )
    return made


def _object_record(
    design: HouseDesign,
    thing: PlacedObject,
    containers: list[ContainerRecord],
    model: mujoco.MjModel,
    data: mujoco.MjData,
) -> ObjectRecord:
    body = data.body(thing.name)
    turn = np.array(body.xmat).reshape(3, 3)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for shape in thing.shapes:
        a, b = bounds((replace(shape, pos=(0.0, 0.0, 0.0)),))
        half = np.abs(turn) @ ((np.array(b) - np.array(a)) / 2)
        middle = np.array(body.xpos) + turn @ np.array(shape.pos)
        low, high = np.minimum(low, middle - half), np.maximum(high, middle + half)
    holder = next((c.id for c in containers if thing.name in c.contents), None)
    return ObjectRecord(
        thing.name, thing.kind.category, thing.name, design.room_names[thing.room], thing.support, thing.support_height,
        holder, _point((low + high) / 2), _point(high - low), thing.kind.target,
    )  # fmt: skip


def _point(values: np.ndarray) -> Point3:
    x, y, z = (round(float(v), 6) for v in values)
    return x, y, z


def _room_records(design: HouseDesign) -> tuple[RoomRecord, ...]:
    made = []
    for index, name in enumerate(design.room_names):
        near = sorted(
            {design.room_names[o] for p in design.passages if index in p.rooms for o in p.rooms if o != index}
        )
        r = room_interior(design, index)
        made.append(RoomRecord(name, design.rooms[index].kind, (r.x0, r.y0, r.x1, r.y1), tuple(near)))
    return tuple(made)


def _window_records(design: HouseDesign) -> tuple[WindowRecord, ...]:
    return tuple(
        WindowRecord(
            design.room_names[w.room], (*w.edge.point(w.along), w.sill + w.height / 2), w.edge.axis, w.width, w.height
        )
        for w in design.windows
    )
