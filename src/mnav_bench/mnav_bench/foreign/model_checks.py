"""Opening what a foreign model can open, through the interface of the houses' doors."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import mujoco

from mnav_bench.figures.rows import FigureRow, at_least, skipped
from mnav_bench.foreign.mjcf import ForeignModel
from mnav_sim_bridge.articulation import Articulation
from mnav_sim_bridge.house.records import GENERATOR_VERSION, ContainerRecord, HouseRecord

OPEN_SHARE = 0.9
PUSH_SECONDS = 3.0
# Newton or newton metres: what opens a house's door, then harder.
FORCES = (6.0, 20.0, 60.0, 200.0)
MAX_JOINTS = 60
WALL_LIMIT_S = 60.0


@dataclass(frozen=True)
class Opened:
    """How far a joint came, 0 closed to 1, and the force that it took."""

    joint: str
    fraction: float
    force: float
    with_others: bool


def check_model(name: str, foreign: ForeignModel) -> list[FigureRow]:
    """One row: the least share of travel that any leaf or drawer of the model reaches under force."""
    notes = list(foreign.warnings)
    bodies = f"{foreign.model.nbody - 1} bodies"
    if not foreign.joints:
        return [skipped(f"{name}: opened", "; ".join([bodies, "no hinge or slide with a range", *notes]))]
    names = foreign.joints[:MAX_JOINTS]
    if len(names) < len(foreign.joints):
        notes.append(f"{len(foreign.joints) - len(names)} joints left out, at most {MAX_JOINTS} are opened")
    opened = open_joints(foreign, names)
    worst = min(opened, key=lambda o: o.fraction)
    travel = Articulation(foreign.model, record_of(foreign)).travel(worst.joint)
    hinge = foreign.model.jnt_type[foreign.model.joint(worst.joint).id] == mujoco.mjtJoint.mjJNT_HINGE
    unit = f"{math.degrees(travel):.1f} deg" if hinge else f"{travel:.3f} m"
    detail = f"{len(opened)} joints; worst {worst.joint!r} of {unit} under {worst.force:g} {'N m' if hinge else 'N'}"
    if worst.with_others:
        detail += ", all others pushed too"
    return [
        at_least(
            f"{name}: opened, share of travel", worst.fraction, OPEN_SHARE, detail="; ".join([detail, bodies, *notes])
        )
    ]


def open_joints(foreign: ForeignModel, names: tuple[str, ...]) -> list[Opened]:
    """Push each joint open from closed, alone first, then together with all others (a handle that frees a leaf)."""
    joints = Articulation(foreign.model, record_of(foreign))
    data = mujoco.MjData(foreign.model)
    deadline = time.monotonic() + WALL_LIMIT_S
    results = []
    for name in names:
        best = Opened(name, 0.0, 0.0, False)
        for force, together in [(f, t) for t in (False, True) for f in FORCES]:
            if time.monotonic() > deadline:
                break
            pushed = names if together else (name,)
            fraction = _push(foreign.model, data, joints, name, pushed, force, deadline)
            if fraction > best.fraction:
                best = Opened(name, fraction, force, together)
            if best.fraction >= OPEN_SHARE:
                break
        results.append(best)
    return results


def record_of(foreign: ForeignModel) -> HouseRecord:
    """The model as a house of one container, whose parts are the joints."""
    model = foreign.model
    travel = tuple(float(model.joint(name).range[1]) for name in foreign.joints)
    part = ContainerRecord(
        id="model", category="cabinet", body="world", room="", furniture="", joints=foreign.joints, travel=travel,
        interior=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), contents=(), front=(0.0, 0.0, 0.0), facing=0.0,
    )  # fmt: skip
    return HouseRecord(
        seed=0, sub_seed=0, generator_version=GENERATOR_VERSION, doors_mode="closed", size=(0.0, 0.0), rooms=(),
        doors=(), openings=(), windows=(), furniture=(), containers=(part,), objects=(), xml_sha256="",
    )  # fmt: skip


def _push(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    joints: Articulation,
    name: str,
    pushed: tuple[str, ...],
    force: float,
    deadline: float,
) -> float:
    """Largest fraction of `name` within PUSH_SECONDS of steady force on all of `pushed`."""
    mujoco.mj_resetData(model, data)
    for joint in joints.joints():
        joints.set_fraction(data, joint, 0.0)
    for joint in pushed:
        joints.release_latch(joint)
        data.qfrc_applied[model.joint(joint).dofadr[0]] = force
    best = 0.0
    for step in range(max(round(PUSH_SECONDS / model.opt.timestep), 1)):
        mujoco.mj_step(model, data)
        best = max(best, min(joints.fraction(data, name), 1.0))
        if best >= OPEN_SHARE or (step % 100 == 0 and time.monotonic() > deadline):
            break
    return best
