"""What a house must pass before anybody meets it: reachability, leaves, drawers, contents, latches, penetration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mnav_core.maps import GridMap
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.articulation import Articulation
from mnav_sim_bridge.house.assembly import House
from mnav_sim_bridge.house.emitter import Group
from mnav_sim_bridge.house.openings import LEAF_WIDTH
from mnav_sim_bridge.house.records import HouseRecord, RoomRecord
from mnav_sim_bridge.obstacles import ObstacleMapper
from mnav_sim_bridge.robots.bodies import PUSH_FORCE
from mnav_sim_bridge.triangles import geom_mesh, world_vertices

RESOLUTION = 0.05
REACH_MARGIN = 0.05
MIN_FLOOR_M2 = 0.6
OPEN_SHARE = 0.9
LATCH_SHARE = 0.02
PENETRATION_M = 0.001
MIN_CATEGORIES = 10
HINGE_TORQUE, LEAF_TORQUE, DRAWER_FORCE = 6.0, 3.0, 20.0
PUSH_SECONDS, LATCH_SECONDS = 3.0, 0.6
CONTENT_TOLERANCE = 0.01
ESSENTIALS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kitchen": ("fridge", "sink", "stove"),
        "bedroom": ("bed",),
        "bathroom": ("toilet", "sink"),
        "living_room": ("sofa",),
    }
)


@dataclass(frozen=True)
class Check:
    """One condition with its measured value and bound; `at_least` says which side of the bound is allowed."""

    name: str
    value: float
    bound: float
    at_least: bool = True

    @property
    def passed(self) -> bool:
        """Whether the value is on the allowed side."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def check_house(house: House, robot: RobotDescription) -> tuple[Check, ...]:
    """Every check of a house for a robot, cheap ones first; the physics is skipped once a cheap one failed."""
    model = house.spec().compile()
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    data = mujoco.MjData(model)
    joints = Articulation(model, house.record)
    checks = [
        *_floor_checks(house.record, robot, model, data, joints),
        _penetration(model, data, joints),
        _spread(house.record),
        _essentials(house.record),
    ]
    if not all(c.passed for c in checks):
        return tuple(checks)
    return (*checks, *_opening(house.record, model, data, joints), _latches(house.record, model, data, joints))


def _doors_open(record: HouseRecord, data: mujoco.MjData, joints: Articulation) -> None:
    for joint in joints.joints():
        joints.set_fraction(data, joint, 0.0)
    for door in record.doors:
        joints.set_fraction(data, door.joint, OPEN_SHARE)


def _floor_checks(
    record: HouseRecord, robot: RobotDescription, model: mujoco.MjModel, data: mujoco.MjData, joints: Articulation
) -> list[Check]:
    """With doors open: every room reached, and in every room a reached place to turn round in."""
    mujoco.mj_resetData(model, data)
    _doors_open(record, data, joints)
    mujoco.mj_kinematics(model, data)
    grid = ObstacleMapper(model, record.size).draw(data, robot.traversal.height_m, RESOLUTION, 0.0)
    reached, turning = reached_rooms(record, grid, robot.inscribed_radius + REACH_MARGIN, robot.circumscribed_radius)
    return [
        Check("rooms reached, share", reached, 1.0),
        Check("rooms with a reached turning place, share", turning, 1.0),
    ]


def reached_rooms(record: HouseRecord, grid: GridMap, radius: float, turn_radius: float) -> tuple[float, float]:
    """Share of rooms with MIN_FLOOR_M2 of floor connected for a disc of `radius`, and of those with room to turn."""
    clearance = ndimage.distance_transform_edt(grid.data == 0) * grid.resolution
    labels, count = ndimage.label(clearance > radius)
    if count == 0:
        return 0.0, 0.0
    floors = [_cells_of(room, grid) for room in record.rooms]
    per_room = [np.bincount(labels[f].ravel(), minlength=count + 1)[1:] for f in floors]
    best = int(np.argmax(np.sum([p * grid.resolution**2 >= MIN_FLOOR_M2 for p in per_room], axis=0)))
    reached = [p[best] * grid.resolution**2 >= MIN_FLOOR_M2 for p in per_room]
    turning = [bool(np.any((labels[f] == best + 1) & (clearance[f] > turn_radius))) for f in floors]
    return float(np.mean(reached)), float(np.mean(turning))


def _cells_of(room: RoomRecord, grid: GridMap) -> tuple[slice, slice]:
    r0, c0 = grid.to_cell(room.rect[0], room.rect[1])
    r1, c1 = grid.to_cell(room.rect[2], room.rect[3])
    return slice(r0, r1 + 1), slice(c0, c1 + 1)


def _penetration(model: mujoco.MjModel, data: mujoco.MjData, joints: Articulation) -> Check:
    """Deepest overlap of a leaf or drawer with anything, as the house starts and with every part closed."""
    worst = 0.0
    for closed in (False, True):
        mujoco.mj_resetData(model, data)
        joints.reset(data)
        for joint in joints.joints() if closed else ():
            joints.set_fraction(data, joint, 0.0)
        mujoco.mj_forward(model, data)
        worst = max([worst, *(-float(c.dist) for c in data.contact[: data.ncon])])
    return Check("initial penetration, m", round(worst, 6), PENETRATION_M, at_least=False)


def _spread(record: HouseRecord) -> Check:
    shown = {o.category for o in record.objects if o.target and o.container is None}
    return Check("target categories in the open", float(len(shown)), MIN_CATEGORIES)


def _essentials(record: HouseRecord) -> Check:
    """Share of the furniture present that rooms of each kind cannot do without."""
    have = {(f.room, f.category) for f in record.furniture}
    wanted = [(r.id, c) for r in record.rooms for c in ESSENTIALS.get(r.kind, ())]
    return Check("essential furniture present, share", float(np.mean([w in have for w in wanted])), 1.0)


def _opening(record: HouseRecord, model: mujoco.MjModel, data: mujoco.MjData, joints: Articulation) -> list[Check]:
    """Push every leaf and drawer from closed; who does not get far among the others is pushed alone."""
    names = joints.joints()
    fractions, outside = _push(record, model, data, joints, names)
    for joint in [n for n in names if fractions[n] < OPEN_SHARE]:
        alone, more = _push(record, model, data, joints, (joint,))
        fractions[joint] = alone[joint]
        outside = max(outside, more)
    doors = [fractions[d.joint] for d in record.doors]
    others = [fractions[j] for c in record.containers for j in c.joints]
    return [
        Check("doors pushed open, least share of travel", round(min(doors, default=1.0), 4), OPEN_SHARE),
        Check("leaves and drawers pushed open, least share of travel", round(min(others, default=1.0), 4), OPEN_SHARE),
        Check("contents outside their container, m", round(outside, 4), CONTENT_TOLERANCE, at_least=False),
    ]


def _push(
    record: HouseRecord, model: mujoco.MjModel, data: mujoco.MjData, joints: Articulation, pushed: tuple[str, ...]
) -> tuple[dict[str, float], float]:
    """Fractions reached within PUSH_SECONDS of steady force, and how far contents stuck out on the way."""
    mujoco.mj_resetData(model, data)
    joints.reset(data)
    for joint in joints.joints():
        joints.set_fraction(data, joint, 0.0)
    doors = {d.joint for d in record.doors}
    for joint in pushed:
        joints.release_latch(joint)
        slide = model.jnt_type[model.joint(joint).id] == mujoco.mjtJoint.mjJNT_SLIDE
        force = HINGE_TORQUE if joint in doors else DRAWER_FORCE if slide else LEAF_TORQUE
        data.qfrc_applied[model.joint(joint).dofadr[0]] = force
    best = dict.fromkeys(pushed, 0.0)
    outside = 0.0
    steps = round(PUSH_SECONDS / model.opt.timestep)
    for step in range(steps):
        mujoco.mj_step(model, data)
        if step % 50 == 49 or step == steps - 1:
            for joint in pushed:
                best[joint] = max(best[joint], joints.fraction(data, joint))
            if all(f >= OPEN_SHARE for f in best.values()):
                break
    mujoco.mj_kinematics(model, data)
    outside = _sticking_out(record, model, data)
    return best, outside


def _sticking_out(record: HouseRecord, model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """How far any content reaches out of its container's interior, metres, in the frame of the container's body."""
    worst = 0.0
    for container in record.containers:
        if not container.contents:
            continue
        body = data.body(container.body)
        turn, origin = np.asarray(body.xmat).reshape(3, 3), np.asarray(body.xpos)
        low, high = np.array(container.interior[0]), np.array(container.interior[1])
        for name in container.contents:
            points = (_body_points(model, data, name) - origin) @ turn
            worst = max(worst, float((low - points.min(0)).max()), float((points.max(0) - high).max()))
    return worst


def _body_points(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> NDArray[np.float64]:
    body = model.body(name)
    first, count = int(body.geomadr[0]), int(body.geomnum[0])
    meshes = [(g, geom_mesh(model, g)) for g in range(first, first + count) if model.geom_group[g] != Group.HIDDEN]
    return np.concatenate([world_vertices(m, data, g) for g, m in meshes if m is not None])


def _latches(record: HouseRecord, model: mujoco.MjModel, data: mujoco.MjData, joints: Articulation) -> Check:
    """Largest movement of a closed door, as a share of its travel, under the base's full force at its free edge."""
    mujoco.mj_resetData(model, data)
    for joint in joints.joints():
        joints.set_fraction(data, joint, 0.0)
    for door in record.doors:
        data.qfrc_applied[model.joint(door.joint).dofadr[0]] = PUSH_FORCE * LEAF_WIDTH
    worst = 0.0
    for _ in range(round(LATCH_SECONDS / model.opt.timestep)):
        mujoco.mj_step(model, data)
        worst = max([worst, *(joints.fraction(data, d.joint) for d in record.doors)])
    return Check("latched door under the base's force, share of travel", round(worst, 5), LATCH_SHARE, at_least=False)
