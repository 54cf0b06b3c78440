"""A house with robots in it, simulated by MuJoCo: the `World` of mnav_core."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE2, SE3, wrap_angle
from mnav_core.motion import RobotCommand, Velocity
from mnav_core.randomness import derive_seed
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame, Odometry, PointCloud, RgbdImage, SensorFrame, SensorRequest
from mnav_sim_bridge.articulation import Articulation
from mnav_sim_bridge.detector import DetectionSettings, Detector, Entity, entities_of
from mnav_sim_bridge.drive import DriveRamp
from mnav_sim_bridge.house.assembly import House
from mnav_sim_bridge.interaction import Interactions, InteractionSettings, RobotState
from mnav_sim_bridge.joint_log import JointLog
from mnav_sim_bridge.lidar import RayCaster, points_in_sensor
from mnav_sim_bridge.moving_parts import PartFinder
from mnav_sim_bridge.obstacles import ObstacleMapper
from mnav_sim_bridge.rendering import SceneRenderer
from mnav_sim_bridge.robots.bodies import RobotNames, add_robot, hull_height
from mnav_sim_bridge.swept_volume import SweptVolume
from mnav_sim_bridge.truth import MujocoTruth
from mnav_sim_bridge.visibility import ViewCuller

REST = RobotCommand()


@dataclass(frozen=True)
class WorldSettings:
    """How a world runs: control tick and physics step in seconds, noise in metres, detector limits, interactions."""

    tick_s: float = 0.1
    physics_s: float = 0.005
    lidar_noise_m: float = 0.0
    depth_max_m: float = 10.0
    detection: DetectionSettings = field(default_factory=DetectionSettings)
    interaction: InteractionSettings = field(default_factory=InteractionSettings)

    def __post_init__(self) -> None:
        steps = self.tick_s / self.physics_s
        if self.physics_s <= 0 or steps < 1 or abs(steps - round(steps)) > 1e-6:
            raise ValueError(f"tick_s: {self.tick_s} is not a whole number of physics steps of {self.physics_s} s")


@dataclass
class _Robot:
    """What one robot carries through an episode."""

    description: RobotDescription
    names: RobotNames
    start: SE2
    ramp: DriveRamp
    base_body: int
    hull: int
    pitch: float = 0.0
    scans: int = 0


@dataclass
class MujocoWorld:
    """One house and its robots; equal seeds and commands give equal states, bit for bit."""

    house: House
    settings: WorldSettings
    model: mujoco.MjModel
    data: mujoco.MjData
    articulation: Articulation
    detector: Detector
    obstacles: ObstacleMapper
    _robots: dict[str, _Robot]
    renderer: SceneRenderer = field(init=False)
    caster: RayCaster = field(init=False)
    culler: ViewCuller = field(init=False)
    joint_log: JointLog = field(init=False)
    interactions: Interactions = field(init=False)
    seed: int = field(default=0, init=False)
    _ticks: int = field(default=0, init=False, repr=False)
    _fresh: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self.renderer = SceneRenderer(self.model)
        self.caster = RayCaster(self.model)
        self.culler = ViewCuller(self.model, self.house.record)
        parts = PartFinder(self.model, self.articulation)
        self.joint_log = JointLog(self.model, self.articulation, parts)
        sweep = SweptVolume(self.model, self.articulation, parts, self.obstacles)
        self.interactions = Interactions(
            self.model, self.articulation, parts, sweep, self.joint_log, self.settings.interaction
        )

    @property
    def time_s(self) -> float:
        """Simulated time since reset, in whole nanoseconds as messages carry it."""
        return round(self._ticks * self.settings.tick_s, 9)

    @property
    def tick_s(self) -> float:
        """Length of one step."""
        return self.settings.tick_s

    @property
    def robots(self) -> Mapping[str, RobotDescription]:
        """The robots by name."""
        return {name: r.description for name, r in self._robots.items()}

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Everything that can be detected."""
        return self.detector.entities

    def entity(self, entity_id: str) -> Entity:
        """One entity by its true id. Raises KeyError when the house has none of that name."""
        for entity in self.detector.entities:
            if entity.id == entity_id:
                return entity
        raise KeyError(f"entity {entity_id!r} is not in this house")

    def reset(self, seed: int) -> None:
        """Robots at their start poses, joints where the house starts; `seed` drives scans, noise and opaque ids."""
        self.seed = seed
        self._ticks = 0
        mujoco.mj_resetData(self.model, self.data)
        self.articulation.reset(self.data)
        for robot in self._robots.values():
            robot.ramp.reset()
            robot.pitch, robot.scans = 0.0, 0
            self._put(robot, robot.start)
            self._tilt_head(robot)
        mujoco.mj_forward(self.model, self.data)
        self._fresh = True
        self.interactions.reset()
        self.joint_log.reset(self.data)

    def place(self, robot: str, pose: SE2) -> None:
        """Put a robot at rest at a pose, which becomes its start for later resets."""
        entry = self._robot(robot)
        entry.start = pose
        entry.ramp.reset()
        self._put(entry, pose)
        mujoco.mj_forward(self.model, self.data)
        self._fresh = True

    def step(self, commands: Mapping[str, RobotCommand]) -> None:
        """Advance one tick; a robot without a command is commanded to rest. Raises KeyError for an unknown robot."""
        for name in commands:
            self._robot(name)
        self._refresh()
        for name, robot in self._robots.items():
            command = commands.get(name, REST)
            self._turn_head(robot, command.camera_pitch)
            self._interact(name, robot, command)
        dt = self.settings.physics_s
        hulls = {r.hull: name for name, r in self._robots.items()}
        wanted = {
            name: self.interactions.base_velocity(name) or self._velocity(name, commands) for name in self._robots
        }
        for _ in range(round(self.settings.tick_s / dt)):
            for name, robot in self._robots.items():
                self._drive(robot, robot.ramp.advance(wanted[name], dt))
            self.interactions.push(self.data, dt)
            mujoco.mj_step(self.model, self.data)
            if self.data.ncon:
                self.joint_log.touched(self.data, hulls, self.time_s)
        self._ticks += 1
        self._fresh = False
        self.joint_log.note(self.data, self.time_s)

    def _velocity(self, name: str, commands: Mapping[str, RobotCommand]) -> Velocity:
        return commands.get(name, REST).velocity

    def _interact(self, name: str, robot: _Robot, command: RobotCommand) -> None:
        """Begin, let go of, and go on with what a robot works on."""
        if command.release:
            self.interactions.release(name, self.data, self.time_s)
        if command.interact is not None:
            self.interactions.begin(name, command.interact, self.data, self.time_s)
        if self.interactions.is_active(name):
            pose = self._pose(robot)
            state = RobotState(
                robot.description,
                pose,
                self.truth().robot_velocity(name),
                hull_height(robot.description),
                robot.hull,
                {view: self._optical(robot, pose, view) for view in robot.description.views},
            )
            self.interactions.advance(name, state, self.data, self.time_s)

    def sense(self, robot: str, request: SensorRequest) -> SensorFrame:
        """Read the asked sensors of one robot now. Raises KeyError for an unknown robot or view."""
        entry = self._robot(robot)
        self._refresh()
        pose = self._pose(entry)
        stamp = self.time_s
        images = tuple(self._image(entry, pose, v.view, v.width, v.height) for v in request.views)
        detections = tuple(self._detect(robot, entry, pose, view) for view in request.detect)
        scan = self._scan(robot, entry, pose) if request.scan and entry.description.lidar is not None else None
        odometry = Odometry(stamp, pose, self.truth().robot_velocity(robot))
        return SensorFrame(stamp, odometry, entry.pitch, scan, images, detections, self.interactions.drain(robot))

    def truth(self) -> MujocoTruth:
        """Private truth: for the evaluation alone."""
        self._refresh()
        return MujocoTruth(self)

    def state_hash(self) -> str:
        """SHA-256 of the physical state: time, positions, velocities, forces, latches, heads."""
        digest = hashlib.sha256()
        digest.update(np.int64(self._ticks).tobytes())
        for part in (self.data.qpos, self.data.qvel, self.data.ctrl, self.data.qfrc_applied):
            digest.update(np.ascontiguousarray(part).tobytes())
        digest.update("\x1f".join(self.articulation.latched()).encode())
        for robot in self._robots.values():
            digest.update(
                np.array([robot.pitch, robot.ramp.current.vx, robot.ramp.current.vy, robot.ramp.current.wz]).tobytes()
            )
        return digest.hexdigest()

    def close(self) -> None:
        """Free the renderer."""
        self.renderer.close()

    def release_latch(self, joint: str) -> None:
        """Let a closed leaf or drawer move. Raises KeyError for a joint that the house does not have."""
        self.articulation.release_latch(joint)

    def push_joint(self, joint: str, force: float) -> None:
        """Apply a force (N) or torque (N m) to a leaf or drawer until it is set again; 0 lets go."""
        self.articulation.travel(joint)
        self.data.qfrc_applied[self.model.joint(joint).dofadr[0]] = force

    def base_state(self, robot: str) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """(x, y, yaw) of the base in the map and their rates in the map."""
        names = self._robot(robot).names.joints
        position = tuple(float(self.data.joint(n).qpos[0]) for n in names)
        rate = tuple(float(self.data.joint(n).qvel[0]) for n in names)
        return (position[0], position[1], position[2]), (rate[0], rate[1], rate[2])

    def camera_in_map(self, robot: str, view: str) -> SE3:
        """Optical frame of a view in the map now. Raises KeyError for an unknown robot or view."""
        entry = self._robot(robot)
        return self._optical(entry, self._pose(entry), view)

    def visible_pixels(self, robot: str, view: str, entity_id: str) -> int:
        """Pixels of an entity in a view now, at the detector's resolution."""
        entry = self._robot(robot)
        self._refresh()
        optical = self._optical(entry, self._pose(entry), view)
        camera = entry.description.views[view].intrinsics()
        self._draw(camera, optical)
        return self.detector.pixels(self.renderer, camera, optical, entity_id)

    def _robot(self, name: str) -> _Robot:
        try:
            return self._robots[name]
        except KeyError:
            raise KeyError(f"robot {name!r} is not in this world, allowed: {', '.join(self._robots)}") from None

    def _put(self, robot: _Robot, pose: SE2) -> None:
        for name, value in zip(robot.names.joints, (pose.x, pose.y, pose.yaw), strict=True):
            self.data.joint(name).qpos[0] = value
            self.data.joint(name).qvel[0] = 0.0

    def _pose(self, robot: _Robot) -> SE2:
        x, y, yaw = (float(self.data.joint(n).qpos[0]) for n in robot.names.joints)
        return SE2(x, y, wrap_angle(yaw))

    def _drive(self, robot: _Robot, velocity: Velocity) -> None:
        """Servo targets are of the map's axes: the base's velocity turned by its heading."""
        yaw = float(self.data.joint(robot.names.joints[2]).qpos[0])
        c, s = math.cos(yaw), math.sin(yaw)
        x, y, turn = (self.data.actuator(n) for n in robot.names.actuators)
        x.ctrl[0] = c * velocity.vx - s * velocity.vy
        y.ctrl[0] = s * velocity.vx + c * velocity.vy
        turn.ctrl[0] = velocity.wz

    def _turn_head(self, robot: _Robot, target: float) -> None:
        tilt = robot.description.views[robot.description.success_view].tilt
        if tilt is None or not math.isfinite(target):
            return
        target = min(max(target, tilt.min_rad), tilt.max_rad)
        step = tilt.rate * self.settings.tick_s
        robot.pitch += min(max(target - robot.pitch, -step), step)
        self._tilt_head(robot)

    def _tilt_head(self, robot: _Robot) -> None:
        if robot.names.head is not None:
            self.model.body(robot.names.head).quat[:] = (math.cos(robot.pitch / 2), 0.0, math.sin(robot.pitch / 2), 0.0)

    def _refresh(self) -> None:
        """Poses of all bodies from the joints as they are now; a step leaves them one physics step behind."""
        if not self._fresh:
            mujoco.mj_kinematics(self.model, self.data)
            mujoco.mj_camlight(self.model, self.data)
            self._fresh = True

    def _draw(self, camera: PinholeCamera, optical: SE3) -> None:
        """Bring what the view can show into the renderer's scene."""
        self.culler.show(self.data, camera, optical)
        self.renderer.update(self.data)
        self.culler.restore()

    def _optical(self, robot: _Robot, pose: SE2, view: str) -> SE3:
        if view not in robot.description.views:
            raise KeyError(
                f"view {view!r} is not of robot {robot.description.name}, allowed: {', '.join(robot.description.views)}"
            )
        return pose.to_se3() @ robot.description.views[view].optical_in_base(robot.pitch)

    def _image(self, robot: _Robot, pose: SE2, view: str, width: int, height: int) -> RgbdImage:
        optical = self._optical(robot, pose, view)
        camera = robot.description.views[view].intrinsics(width, height)
        self._draw(camera, optical)
        rgb, depth = self.renderer.rgbd(camera, optical)
        depth[depth > self.settings.depth_max_m] = 0.0
        return RgbdImage(view, self.time_s, camera, optical, rgb, depth)

    def _detect(self, name: str, robot: _Robot, pose: SE2, view: str) -> DetectionFrame:
        optical = self._optical(robot, pose, view)
        salt = f"{derive_seed('entity', self.seed)}:{name}"
        camera = robot.description.views[view].intrinsics()
        self._draw(camera, optical)
        return self.detector.detect(self.renderer, self.data, view, camera, optical, self.time_s, salt)

    def _scan(self, name: str, robot: _Robot, pose: SE2) -> PointCloud:
        lidar = robot.description.lidar
        if lidar is None:
            raise KeyError(f"robot {name!r} has no LiDAR")
        sensor = pose.to_se3() @ lidar.pose_in_base()
        seed = derive_seed("scan", self.seed, name)
        points = points_in_sensor(
            self.caster, self.data, lidar, sensor, seed, robot.scans, robot.base_body, self.settings.lidar_noise_m
        )
        robot.scans += 1
        return PointCloud(self.time_s, points, sensor)


def make_world(
    house: House,
    robots: Mapping[str, tuple[RobotDescription, SE2]],
    settings: WorldSettings = WorldSettings(),
    seed: int = 0,
) -> MujocoWorld:
    """A world of `house` with robots at their start poses, reset with `seed`. Raises ValueError without a robot."""
    if not robots:
        raise ValueError("robots: none given, allowed: at least one")
    spec = house.spec()
    spec.option.timestep = settings.physics_s
    spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    names = {name: add_robot(spec, name, description) for name, (description, _) in robots.items()}
    model = spec.compile()
    data = mujoco.MjData(model)
    members = {
        name: _Robot(
            description,
            names[name],
            start,
            DriveRamp(description.limits),
            model.body(names[name].base).id,
            model.geom(f"{name}/hull").id,
        )
        for name, (description, start) in robots.items()
    }
    world = MujocoWorld(
        house=house,
        settings=settings,
        model=model,
        data=data,
        articulation=Articulation(model, house.record),
        detector=Detector(model, entities_of(model, house.record), settings.detection),
        obstacles=ObstacleMapper(model, house.record.size),
        _robots=members,
    )
    world.reset(seed)
    return world
