"""A walled yard with boxes and robots that obey at once: a `World` without physics, to try a graph of nodes with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, SE3
from mnav_core.interaction import InteractionCause, InteractionEnd, InteractionStatus
from mnav_core.maps import FREE, LETHAL, GridMap
from mnav_core.motion import RobotCommand, Velocity
from mnav_core.randomness import derive_seed
from mnav_core.robot import RobotDescription
from mnav_core.sensing import (
    Detection,
    DetectionFrame,
    Odometry,
    PointCloud,
    RgbdImage,
    SensorFrame,
    SensorRequest,
    ViewRequest,
)
from mnav_sim_bridge.drive import DriveRamp

Array = NDArray[np.float64]
REST = RobotCommand()
RANGE_M = 10.0
DETECTOR_RANGE_M = 4.0
SUBSTEPS = 10
GOLDEN = (5.0**0.5 - 1.0) / 2.0


@dataclass(frozen=True)
class Box:
    """An obstacle between two corners (x, y, z), metres."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]


@dataclass(frozen=True)
class Target:
    """Something that the detector knows, a ball of `radius_m` around a centre."""

    id: str
    category: str
    center: tuple[float, float, float]
    radius_m: float = 0.1


@dataclass(frozen=True)
class Yard:
    """Floor from -x to x and -y to y, walls around it, boxes and targets in it."""

    half_size: tuple[float, float] = (3.0, 3.0)
    height_m: float = 2.0
    boxes: tuple[Box, ...] = ()
    targets: tuple[Target, ...] = ()


@dataclass
class _Robot:
    description: RobotDescription
    start: SE2
    ramp: DriveRamp
    pose: SE2
    pitch: float = 0.0
    refused: tuple[InteractionEnd, ...] = ()


@dataclass
class FlatWorld:
    """Robots that follow their commands within their limits and pass through each other and everything else."""

    yard: Yard
    starts: Mapping[str, tuple[RobotDescription, SE2]]
    tick_s: float = 0.1
    points: int = 4000
    seed: int = 0
    _ticks: int = 0
    _robots: dict[str, _Robot] = field(default_factory=dict)

    @property
    def time_s(self) -> float:
        """Simulated time since reset, in whole nanoseconds."""
        return round(self._ticks * self.tick_s, 9)

    @property
    def robots(self) -> Mapping[str, RobotDescription]:
        """The robots by name."""
        return {name: description for name, (description, _) in self.starts.items()}

    def reset(self, seed: int) -> None:
        """Robots at their starts; `seed` drives opaque ids."""
        self.seed, self._ticks = seed, 0
        self._robots = {
            name: _Robot(description, start, DriveRamp(description.limits), start)
            for name, (description, start) in self.starts.items()
        }

    def step(self, commands: Mapping[str, RobotCommand]) -> None:
        """Advance one tick."""
        dt = self.tick_s / SUBSTEPS
        for name, robot in self._robots.items():
            command = commands.get(name, REST)
            robot.pitch = command.camera_pitch
            if command.interact is not None:
                asked = command.interact.attempt_id
                robot.refused += (
                    InteractionEnd(
                        asked, InteractionStatus.REJECTED, InteractionCause.UNSUPPORTED, "nothing here can be opened"
                    ),
                )
            for _ in range(SUBSTEPS):
                v = robot.ramp.advance(command.velocity, dt)
                robot.pose = robot.pose @ SE2(v.vx * dt, v.vy * dt, v.wz * dt)
        self._ticks += 1

    def sense(self, robot: str, request: SensorRequest) -> SensorFrame:
        """Read the asked sensors. Raises KeyError for an unknown robot or view."""
        one, stamp_s = self._robots[robot], self.time_s
        refused, one.refused = one.refused, ()
        scan = None
        if request.scan and one.description.lidar is not None:
            scan = self._scan(one, stamp_s)
        return SensorFrame(
            stamp_s,
            Odometry(stamp_s, one.pose, one.ramp.current),
            one.pitch,
            scan,
            tuple(self._image(one, view, stamp_s) for view in request.views),
            tuple(self._detect(robot, one, view, stamp_s) for view in request.detect),
            refused,
        )

    def truth(self) -> FlatTruth:
        """Private truth."""
        return FlatTruth(self)

    def state_hash(self) -> str:
        """SHA-256 of time, poses and velocities."""
        parts = [self._ticks, *((r.pose, r.ramp.current, r.pitch) for r in self._robots.values())]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def close(self) -> None:
        """Nothing to free."""

    def ranges(self, origin: Array, directions: Array) -> Array:
        """Distance (N,) along unit directions (N, 3) from a place inside the yard to the first surface."""
        half = np.array([*self.yard.half_size, self.yard.height_m / 2.0])
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1.0 / directions
            local = origin - [0.0, 0.0, half[2]]
            distance = np.min(np.maximum((half - local) * inverse, (-half - local) * inverse), axis=1)
            for box in self.yard.boxes:
                a, b = (np.asarray(box.low) - origin) * inverse, (np.asarray(box.high) - origin) * inverse
                near, far = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
                distance = np.where((near > 0.0) & (near <= far), np.minimum(distance, near), distance)
        return np.asarray(distance, float)

    def _scan(self, robot: _Robot, stamp_s: float) -> PointCloud:
        lidar = robot.description.lidar
        assert lidar is not None
        index = np.arange(self.points) + 0.37 * self._ticks
        azimuth = 2.0 * np.pi * np.mod(index * GOLDEN, 1.0)
        low, high = np.sin(np.radians([lidar.min_elevation_deg, lidar.max_elevation_deg]))
        z = low + (high - low) * np.mod(index / self.points, 1.0)
        planar = np.sqrt(1.0 - z * z)
        directions = np.stack([planar * np.cos(azimuth), planar * np.sin(azimuth), z], axis=1)
        pose = robot.pose.to_se3() @ lidar.pose_in_base()
        distance = self.ranges(pose.translation, directions @ pose.rotation.T)
        kept = (distance >= lidar.min_range) & (distance <= lidar.max_range)
        return PointCloud(stamp_s, (directions[kept] * distance[kept, None]).astype(np.float32), pose)

    def _camera_pose(self, robot: _Robot, view: str) -> SE3:
        return robot.pose.to_se3() @ robot.description.views[view].optical_in_base(robot.pitch)

    def _image(self, robot: _Robot, view: ViewRequest, stamp_s: float) -> RgbdImage:
        camera = robot.description.views[view.view].intrinsics(view.width, view.height)
        pose = self._camera_pose(robot, view.view)
        rows, columns = np.mgrid[0 : view.height, 0 : view.width]
        pixels = np.stack([columns.ravel() + 0.5, rows.ravel() + 0.5], axis=1)
        rays = camera.unproject(pixels, np.ones(len(pixels)))
        length = np.linalg.norm(rays, axis=1)
        distance = self.ranges(pose.translation, (rays / length[:, None]) @ pose.rotation.T)
        depth = (distance / length).reshape(view.height, view.width)
        depth = np.where(depth <= RANGE_M, depth, 0.0).astype(np.float32)
        shade = np.clip(255.0 - 25.0 * depth, 0.0, 255.0).astype(np.uint8)
        return RgbdImage(view.view, stamp_s, camera, pose, np.repeat(shade[..., None], 3, axis=2), depth)

    def _detect(self, name: str, robot: _Robot, view: str, stamp_s: float) -> DetectionFrame:
        camera, pose = robot.description.views[view].intrinsics(640, 480), self._camera_pose(robot, view)
        found = []
        for target in self.yard.targets:
            center = pose.inverse().apply(target.center)
            pixels, inside = camera.project(center)
            to_target = np.asarray(target.center) - pose.translation
            distance = float(np.linalg.norm(to_target))
            clear = self.ranges(pose.translation, (to_target / distance)[None])[0] >= distance - target.radius_m
            if not inside[0] or distance > DETECTOR_RANGE_M or not clear:
                continue
            half = camera.fx * target.radius_m / float(center[2])
            (u, v), size = pixels[0], 2.0 * target.radius_m
            opaque = f"{derive_seed('flat', self.seed, name, target.id):016x}"
            box = (float(u) - half, float(v) - half, float(u) + half, float(v) + half)
            middle = (float(center[0]), float(center[1]), float(center[2]))
            found.append(Detection(opaque, target.category, 1.0, box, None, middle, (size, size, size)))
        return DetectionFrame(view, stamp_s, camera, pose, tuple(found))


@dataclass(frozen=True)
class FlatTruth:
    """What holds in a flat world."""

    world: FlatWorld

    def robot_pose(self, robot: str) -> SE2:
        """Pose of the base."""
        return self.world._robots[robot].pose

    def robot_velocity(self, robot: str) -> Velocity:
        """Velocity of the base."""
        return self.world._robots[robot].ramp.current

    def object_position(self, object_id: str) -> tuple[float, float, float]:
        """Centre of a target. Raises KeyError for an unknown one."""
        return {target.id: target.center for target in self.world.yard.targets}[object_id]

    def objects_of(self, category: str) -> tuple[str, ...]:
        """Ids of all targets of a category."""
        return tuple(target.id for target in self.world.yard.targets if target.category == category)

    def visible_pixels(self, robot: str, view: str, object_id: str) -> int:
        """Area of the target's box in the view now, 0 when it is not detected."""
        one = self.world._robots[robot]
        opaque = f"{derive_seed('flat', self.world.seed, robot, object_id):016x}"
        for found in self.world._detect(robot, one, view, self.world.time_s).detections:
            if found.entity_id == opaque:
                x0, y0, x1, y1 = found.box
                return max(1, round((x1 - x0) * (y1 - y0)))
        return 0

    def obstacle_map(self, robot: str, resolution: float = 0.05) -> GridMap:
        """Walls and boxes that a robot as tall as this one could hit."""
        height = self.world.robots[robot].traversal.height_m
        half_x, half_y = self.world.yard.half_size
        columns, rows = (round(2.0 * h / resolution) + 2 for h in (half_x, half_y))
        data = np.full((rows, columns), LETHAL, np.int8)
        data[1:-1, 1:-1] = FREE
        grid = GridMap(self.world.time_s, resolution, (-half_x - resolution, -half_y - resolution), data)
        for box in self.world.yard.boxes:
            if box.low[2] < height:
                low, high = grid.to_cell(box.low[0], box.low[1]), grid.to_cell(box.high[0], box.high[1])
                data[low[0] : high[0] + 1, low[1] : high[1] + 1] = LETHAL
        return grid
