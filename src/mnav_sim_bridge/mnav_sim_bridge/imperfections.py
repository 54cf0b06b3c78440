"""What real sensors and wheels do to a world: depth noise, drift, latency, dropped frames, slip; off by default."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnav_core.errors import UsageError
from mnav_core.geometry import SE2, SE3, wrap_angle
from mnav_core.motion import RobotCommand, Velocity
from mnav_core.randomness import derive_seed, generator
from mnav_core.robot import RobotDescription
from mnav_core.seams import Truth, World
from mnav_core.sensing import DetectionFrame, Odometry, PointCloud, RgbdImage, SensorFrame, SensorRequest

REST = RobotCommand()
T = TypeVar("T")


@dataclass(frozen=True)
class Imperfections:
    """Lengths in metres, angles in radians, shares 0 to 1.

    Depth noise is `depth_noise_m` + `depth_noise_per_m2` (z - 0.4)^2, as measured on structured light (Nguyen, Izadi
    and Lovell 2012, section 3). `latency_ticks`: control ticks from a command to the wheels. `dropped`: share of scans,
    images and detection frames that never arrive. Odometry is off by a share of the way and of the turn, and by a
    gyroscope's bias a second. `slip`: mean share of the commanded motion that the wheels lose; for `slip_event_s` at a
    time, `slip_event_share` of the time, it is `slip_event`. What slips is counted by odometry as driven, by the share
    `slip_unseen`.
    """

    depth_noise_m: float = 0.0012
    depth_noise_per_m2: float = 0.0019
    lidar_noise_m: float = 0.02
    latency_ticks: int = 1
    dropped: float = 0.02
    drift_per_m: float = 0.005
    drift_per_rad: float = 0.002
    bias_per_s: float = 0.00005
    slip: float = 0.01
    slip_event: float = 0.3
    slip_event_s: float = 0.5
    slip_event_share: float = 0.02
    slip_unseen: float = 0.2


PROFILES: Mapping[str, Imperfections | None] = MappingProxyType({"clean": None, "realistic": Imperfections()})


def profile_of(name: str) -> Imperfections | None:
    """A profile by name, None for the clean one. Raises UsageError naming those that exist."""
    if name not in PROFILES:
        raise UsageError(f"profile {name!r}, allowed: {', '.join(PROFILES)}")
    return PROFILES[name]


def profile_record(name: str) -> dict[str, Any]:
    """A profile's numbers, for a manifest; empty for the clean one."""
    profile = profile_of(name)
    return {} if profile is None else asdict(profile)


@dataclass
class _Robot:
    """One robot's odometry, its commands on the way to the wheels, and its own chances."""

    rng: np.random.Generator
    odometry: SE2
    last: SE2
    gain: float
    turn_gain: float
    bias: float
    waiting: deque[RobotCommand] = field(default_factory=deque)
    slip: float = 0.0
    slipping_s: float = 0.0


@dataclass
class ImperfectWorld:
    """Another world, seen and driven imperfectly; what is true in it stays what it is. Deterministic given the seed."""

    inner: World
    profile: Imperfections
    seed: int = 0
    _robots: dict[str, _Robot] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._begin()

    @property
    def time_s(self) -> float:
        """Simulated time since reset."""
        return self.inner.time_s

    @property
    def tick_s(self) -> float:
        """Length of one step."""
        return self.inner.tick_s

    @property
    def robots(self) -> Mapping[str, RobotDescription]:
        """The robots by name."""
        return self.inner.robots

    def reset(self, seed: int) -> None:
        """Reset the world; the seed drives the imperfections too."""
        self.inner.reset(seed)
        self.seed = seed
        self._begin()

    def step(self, commands: Mapping[str, RobotCommand]) -> None:
        """Advance one tick with commands that come late and slip; a robot without a command is commanded to rest."""
        driven = {name: self._to_wheels(robot, commands.get(name, REST)) for name, robot in self._robots.items()}
        unknown = {name: command for name, command in commands.items() if name not in driven}
        self.inner.step({**driven, **unknown})
        truth = self.inner.truth()
        for name, robot in self._robots.items():
            self._count(robot, truth.robot_pose(name))

    def sense(self, robot: str, request: SensorRequest) -> SensorFrame:
        """What arrives of the asked sensors. Raises KeyError for an unknown robot or view."""
        frame = self.inner.sense(robot, request)
        own = self._robots[robot]
        # Everything that the robot places in its map is off by as much as its odometry.
        shift = own.odometry.to_se3() @ frame.odometry.pose.to_se3().inverse()
        return replace(
            frame,
            odometry=Odometry(frame.odometry.stamp_s, own.odometry, self._wheel_velocity(own, frame.odometry.velocity)),
            scan=None if frame.scan is None or self._is_dropped(own) else self._scan(own, frame.scan, shift),
            images=tuple(self._image(own, image, shift) for image in self._arrived(own, frame.images)),
            detections=tuple(_moved(found, shift) for found in self._arrived(own, frame.detections)),
        )

    def truth(self) -> Truth:
        """Private truth: that of the world."""
        return self.inner.truth()

    def state_hash(self) -> str:
        """Hash of the physical state."""
        return self.inner.state_hash()

    def close(self) -> None:
        """Close the world."""
        self.inner.close()

    def _begin(self) -> None:
        truth, p = self.inner.truth(), self.profile
        for name in self.inner.robots:
            rng = generator("imperfections", derive_seed("seed", self.seed), name)
            pose = truth.robot_pose(name)
            gain, turn_gain, bias = rng.normal(0.0, [p.drift_per_m, p.drift_per_rad, p.bias_per_s])
            waiting = deque([REST] * p.latency_ticks)
            self._robots[name] = _Robot(rng, pose, pose, 1.0 + gain, 1.0 + turn_gain, float(bias), waiting)

    def _to_wheels(self, robot: _Robot, command: RobotCommand) -> RobotCommand:
        p, dt = self.profile, self.inner.tick_s
        robot.waiting.append(command)
        late = robot.waiting.popleft()
        robot.slipping_s = max(0.0, robot.slipping_s - dt)
        if robot.slipping_s == 0.0 and robot.rng.random() < p.slip_event_share * dt / p.slip_event_s:
            robot.slipping_s = p.slip_event_s
        robot.slip = p.slip_event if robot.slipping_s > 0.0 else min(float(robot.rng.exponential(p.slip)), 0.5)
        kept, v = 1.0 - robot.slip, late.velocity
        return RobotCommand(Velocity(kept * v.vx, kept * v.vy, kept * v.wz), late.camera_pitch)

    def _count(self, robot: _Robot, true: SE2) -> None:
        """Add the motion of one tick to the odometry as encoders and gyroscope see it."""
        p = self.profile
        moved = robot.last.inverse() @ true
        robot.last = true
        scale = robot.gain * self._wheel_share(robot)
        noise = robot.rng.normal(0.0, 1.0, 2)
        way = float(np.hypot(moved.x, moved.y))
        turn = moved.yaw * robot.turn_gain + robot.bias * self.inner.tick_s
        turn += float(noise[0]) * p.drift_per_rad * abs(moved.yaw)
        stretch = scale + float(noise[1]) * p.drift_per_m if way > 0.0 else scale
        step = SE2(stretch * moved.x, stretch * moved.y, turn)
        after = robot.odometry @ step
        robot.odometry = SE2(after.x, after.y, wrap_angle(after.yaw))

    def _wheel_share(self, robot: _Robot) -> float:
        """How much more than the base the odometry moves."""
        return 1.0 + self.profile.slip_unseen * robot.slip / (1.0 - robot.slip)

    def _wheel_velocity(self, robot: _Robot, true: Velocity) -> Velocity:
        share = self._wheel_share(robot)
        return Velocity(share * true.vx, share * true.vy, true.wz)

    def _is_dropped(self, robot: _Robot) -> bool:
        return bool(robot.rng.random() < self.profile.dropped)

    def _arrived(self, robot: _Robot, parts: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(part for part in parts if not self._is_dropped(robot))

    def _scan(self, robot: _Robot, scan: PointCloud, shift: SE3) -> PointCloud:
        points = scan.points
        ranges = np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-6)
        noise = robot.rng.normal(0.0, self.profile.lidar_noise_m, ranges.shape)
        return PointCloud(
            scan.stamp_s, (points * (1.0 + noise / ranges)).astype(np.float32), shift @ scan.sensor_in_map
        )

    def _image(self, robot: _Robot, image: RgbdImage, shift: SE3) -> RgbdImage:
        return replace(image, depth=self._noisy(robot, image.depth), camera_in_map=shift @ image.camera_in_map)

    def _noisy(self, robot: _Robot, depth: NDArray[np.float32]) -> NDArray[np.float32]:
        p = self.profile
        sigma = p.depth_noise_m + p.depth_noise_per_m2 * (depth - 0.4) ** 2
        noisy = depth + sigma * robot.rng.standard_normal(depth.shape, dtype=np.float32)
        return np.where(depth > 0.0, np.maximum(noisy, 0.01), depth).astype(np.float32)


def _moved(found: DetectionFrame, shift: SE3) -> DetectionFrame:
    return replace(found, camera_in_map=shift @ found.camera_in_map)


def imperfect(world: World, name: str, seed: int) -> World:
    """The world under a profile; the world itself under the clean one. Raises UsageError for an unknown profile."""
    profile = profile_of(name)
    return world if profile is None else ImperfectWorld(world, profile, seed)
