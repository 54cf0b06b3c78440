"""Adding a robot to a specification: planar base, contact hull, looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco

from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.emitter import AFFINITY, Emitter, Group, Touch
from mnav_sim_bridge.house.palette import BLACK, CHROME, WHITE, paint
from mnav_sim_bridge.house.shapes import Shape, box, capsule, cylinder, sphere, standing_box, tilted

# A light base with stiff velocity servos follows its command within a few physics steps.
BASE_MASS = 15.0
LINEAR_GAIN, ANGULAR_GAIN = 800.0, 90.0
PUSH_FORCE, PUSH_TORQUE = 150.0, 40.0
ARMATURE = 0.5
HULL_BOTTOM = 0.03
HULL_INSET = 0.005
AXES = ("x", "y", "yaw")
DARK = paint(44, 46, 52, 0.3)
BODY = paint(206, 210, 214, 0.4)
ACCENT = paint(232, 122, 40, 0.3)
SENSOR = paint(24, 26, 30, 0.6)
_GO2_COLOURS = {
    "black": (0.06, 0.06, 0.07),
    "white": (0.9, 0.9, 0.9),
    "gray": (0.62, 0.66, 0.72),
    "metal": (0.8, 0.84, 0.84),
}


@dataclass(frozen=True)
class RobotNames:
    """Names of a robot's parts in the model."""

    base: str
    head: str | None
    joints: tuple[str, str, str]
    actuators: tuple[str, str, str]


def hull_height(robot: RobotDescription) -> float:
    """Top of the contact hull, metres."""
    return max(max(c.xyz[2] for c in robot.views.values()) + 0.08, 0.2)


def add_robot(spec: mujoco.MjSpec, name: str, robot: RobotDescription) -> RobotNames:
    """Add robot `name` to `spec` at the map's origin; its three base joints are the planar pose."""
    emitter = Emitter(spec, prefix=f"{name}/")
    base = spec.worldbody.add_body(name=f"{name}/base")
    joints, actuators = [], []
    for axis, direction in zip(AXES, ([1, 0, 0], [0, 1, 0], [0, 0, 1]), strict=True):
        kind = mujoco.mjtJoint.mjJNT_HINGE if axis == "yaw" else mujoco.mjtJoint.mjJNT_SLIDE
        joint = base.add_joint(name=f"{name}/{axis}", type=kind, axis=direction)
        joint.armature = ARMATURE
        actuator = spec.add_actuator(
            name=f"{name}/drive_{axis}", target=f"{name}/{axis}", trntype=mujoco.mjtTrn.mjTRN_JOINT
        )
        limit = PUSH_TORQUE if axis == "yaw" else PUSH_FORCE
        actuator.set_to_velocity(kv=ANGULAR_GAIN if axis == "yaw" else LINEAR_GAIN)
        actuator.forcelimited, actuator.forcerange = True, [-limit, limit]
        joints.append(joint.name)
        actuators.append(actuator.name)
    _add_hull(base, name, robot)
    looks, head = _looks(robot)
    emitter.shapes(base, [s.ghost() for s in looks], Group.ROBOT, Touch.NOTHING, 1.0)
    head_name = None
    if head:
        camera = robot.views[robot.success_view]
        head_name = f"{name}/head"
        # The head turns about the camera's mount; its shapes stay behind the lens.
        child = base.add_body(name=head_name, pos=list(camera.xyz))
        emitter.shapes(child, [s.ghost() for s in head], Group.ROBOT, Touch.NOTHING, 0.2)
    if robot.name == "go2":
        _add_go2_meshes(spec, base, name)
    return RobotNames(
        base.name, head_name, (joints[0], joints[1], joints[2]), (actuators[0], actuators[1], actuators[2])
    )


def _add_hull(base: mujoco.MjsBody, name: str, robot: RobotDescription) -> None:
    """One box around the footprint, seen by nothing, that meets walls, furniture, leaves and other robots."""
    xs, ys = [c[0] for c in robot.footprint], [c[1] for c in robot.footprint]
    top = hull_height(robot)
    size = [(max(xs) - min(xs)) / 2 - HULL_INSET, (max(ys) - min(ys)) / 2 - HULL_INSET, (top - HULL_BOTTOM) / 2]
    at = [(max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2, (top + HULL_BOTTOM) / 2]
    base.add_geom(
        name=f"{name}/hull", type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=at, group=int(Group.HIDDEN), mass=BASE_MASS,
        contype=int(Touch.ROBOT), conaffinity=int(AFFINITY[Touch.ROBOT]), friction=[0.3, 0.005, 0.0001],
        rgba=[0.2, 0.6, 0.9, 0.2],
    )  # fmt: skip


def _looks(robot: RobotDescription) -> tuple[Sequence[Shape], Sequence[Shape]]:
    """Shapes of the base's frame, and of the tilting head about the camera's mount."""
    if robot.name == "cobot_magic":
        return _cobot_magic(), (
            box((0.05, 0.22, 0.06), (-0.035, 0, 0.0), SENSOR),
            sphere(0.025, (-0.026, 0.07, 0), CHROME),
        )
    if robot.name == "go2":
        return (
            cylinder(0.035, 0.05, (0.22, 0, 0.43), SENSOR),
            standing_box((0.06, 0.06, 0.02), 0.22, 0, 0.385, DARK),
        ), ()
    if robot.name == "go1":
        return _go1(), ()
    xs, ys = [c[0] for c in robot.footprint], [c[1] for c in robot.footprint]
    body = standing_box((max(xs) - min(xs), max(ys) - min(ys), 0.2), 0, 0, 0.06, BODY)
    return (body, cylinder(0.03, hull_height(robot) - 0.3, (-0.1, 0, hull_height(robot) / 2), DARK)), ()


def _go1() -> list[Shape]:
    """A trunk on four straight legs, a face, and a LiDAR on a plate."""
    made = [
        standing_box((0.5, 0.19, 0.11), 0, 0, 0.255, BODY),
        standing_box((0.08, 0.15, 0.09), 0.235, 0, 0.265, DARK),
        standing_box((0.1, 0.1, 0.03), 0.1, 0, 0.365, DARK),
        cylinder(0.035, 0.06, (0.1, 0, 0.45), SENSOR),
        standing_box((0.02, 0.02, 0.03), 0.1, 0, 0.395, DARK),
    ]
    for x in (-0.2, 0.2):
        for y in (-0.11, 0.11):
            made.append(standing_box((0.09, 0.035, 0.2), x, y, 0.13, DARK))
            made.append(standing_box((0.03, 0.03, 0.13), x, y, 0.0, BLACK))
    return made


def _cobot_magic() -> list[Shape]:
    """A two-wheeled base with a deck, a mast, and two folded arms."""
    made = [
        standing_box((0.68, 0.44, 0.1), 0, 0, 0.06, DARK),
        standing_box((0.7, 0.3, 0.03), 0, 0, 0.155, BODY),
        standing_box((0.02, 0.3, 0.04), 0.34, 0, 0.1, ACCENT),
        standing_box((0.32, 0.36, 0.5), -0.12, 0, 0.185, BODY),
        standing_box((0.3, 0.34, 0.02), -0.12, 0, 0.685, DARK),
        standing_box((0.06, 0.08, 0.5), -0.12, 0, 0.7, DARK),
        standing_box((0.08, 0.3, 0.05), -0.12, 0, 0.95, BODY),
        standing_box((0.2, 0.06, 0.025), -0.03, 0, 1.19, DARK),
        cylinder(0.036, 0.06, (0.30, 0, 0.31), SENSOR),
        standing_box((0.05, 0.05, 0.12), 0.30, 0, 0.18, DARK),
    ]
    for side in (-1, 1):
        made.append(cylinder(0.085, 0.05, (0, side * 0.225, 0.085), BLACK, "y"))
        for x in (-0.27, 0.27):
            made.append(sphere(0.04, (x, side * 0.15, 0.04), BLACK))
        y = side * 0.17
        made.append(sphere(0.05, (-0.1, y, 0.95), ACCENT))
        made.append(tilted(capsule(0.032, 0.24, (-0.07, y, 0.82), WHITE), (0, 1, 0), -0.25))
        made.append(sphere(0.04, (-0.03, y, 0.7), ACCENT))
        made.append(tilted(capsule(0.027, 0.2, (0.06, y, 0.77), WHITE), (0, 1, 0), 0.9))
        made.append(box((0.06, 0.05, 0.03), (0.15, y, 0.84), DARK))
        for f in (-0.02, 0.02):
            made.append(box((0.06, 0.008, 0.02), (0.2, y + f, 0.84), BLACK))
    return made


def _add_go2_meshes(spec: mujoco.MjSpec, base: mujoco.MjsBody, name: str) -> None:
    folder = Path(__file__).resolve().parent.parent / "assets" / "go2"
    for part, rgb in _GO2_COLOURS.items():
        file = f"go2_{part}.stl"
        if f"mesh_{file}" not in {m.name for m in spec.meshes}:
            spec.assets[file] = (folder / file).read_bytes()
            spec.add_mesh(name=f"mesh_{file}", file=file, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        base.add_geom(
            name=f"{name}/{part}", type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"mesh_{file}", group=int(Group.ROBOT),
            contype=0, conaffinity=0, mass=0.1, rgba=[*rgb, 1.0],
        )  # fmt: skip
