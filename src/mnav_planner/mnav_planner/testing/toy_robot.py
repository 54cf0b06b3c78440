"""A robot of a few lines for tests of what drives it: a box room with coloured posts, ray-cast and driven exactly."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE2, SE3, wrap_angle
from mnav_core.motion import MotionReport, MotionStatus, Velocity
from mnav_core.requests import (
    Capture,
    GoToPoint,
    GoToPose,
    Look,
    MotionRequest,
    Observation,
    PointIntent,
    Turn,
)
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import Detection, DetectionFrame, RgbdImage
from mnav_planner.stepper import MindStepper
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.served_mind import served_mind

TICK_S = 0.1
SPEED, TURN_RATE, STANDOFF_M = 0.5, 0.7, 0.7
EYE_M, WALL_M, POST_M = 1.25, 2.5, 1.0


@dataclass(frozen=True)
class Post:
    """An upright cylinder on the floor, 1 m high."""

    name: str
    category: str
    x: float
    y: float
    radius: float = 0.15
    colour: tuple[int, int, int] = (220, 40, 40)


@dataclass
class ToyRobot:
    """A `Body` in a room of `size` metres around the origin. `tick` lets time pass; nothing else does."""

    posts: Sequence[Post] = ()
    size: float = 10.0
    pose: SE2 = field(default_factory=lambda: SE2(0.0, 0.0))
    robot: RobotDescription = field(default_factory=lambda: find_robot("cobot_magic"))
    image_size: tuple[int, int] = (160, 120)
    capture_ticks: int = 1
    give_images: bool = True
    frozen: bool = False
    velocity: Velocity = field(default_factory=Velocity)
    pitch: float = 0.0
    time_s: float = 0.0
    path_m: float = 0.0
    _next: int = 1
    _active: tuple[int, MotionRequest, SE2 | float] | None = None
    _motion_from_m: float = 0.0
    _reports: dict[int, MotionReport] = field(default_factory=dict)
    _captures: dict[int, int] = field(default_factory=dict)
    _refs: list[str] = field(default_factory=list)
    _newest: Capture | None = None
    started: list[MotionRequest] = field(default_factory=list)

    def now_s(self) -> float:
        return self.time_s

    def start(self, request: MotionRequest) -> int:
        motion_id = self._new_id()
        self.started.append(request)
        goal = self._goal(request)
        if isinstance(goal, MotionStatus):
            self._reports[motion_id] = MotionReport(motion_id, goal, "refused", end_s=self.time_s)
            return motion_id
        if self._active is not None:
            self._end(MotionStatus.SUPERSEDED)
        self._active, self._motion_from_m = (motion_id, request, goal), self.path_m
        return motion_id

    def stop(self) -> int:
        if self._active is not None:
            self._end(MotionStatus.CANCELLED)
        self.velocity = Velocity()
        motion_id = self._new_id()
        self._reports[motion_id] = MotionReport(motion_id, MotionStatus.REACHED, end_s=self.time_s)
        return motion_id

    def report(self, motion_id: int) -> MotionReport | None:
        return self._reports.get(motion_id)

    def begin_capture(self) -> int:
        capture_id = self._new_id()
        self._captures[capture_id] = self.capture_ticks
        return capture_id

    def capture(self, capture_id: int) -> Capture | MotionReport | None:
        if self._captures[capture_id] > 0:
            return None
        if not self.give_images:
            return MotionReport(capture_id, MotionStatus.BLOCKED_STALE_INPUT, "no images")
        ref = f"cap:{len(self._refs)}:{self.time_s:.3f}"
        self._refs.append(ref)
        images, frames = zip(*(self._see(view) for view in self.robot.views), strict=True)
        self._newest = Capture(ref, self.time_s, True, images, frames)
        return self._newest

    def observe(self) -> Observation:
        return Observation(self.time_s, self.pose, self.pitch, None)

    def drain_detections(self) -> tuple[DetectionFrame, ...]:
        return ()

    def tick(self) -> None:
        """One control period."""
        self.time_s = round(self.time_s + TICK_S, 6)
        self._captures = {key: left - 1 for key, left in self._captures.items()}
        if self._active is None or self.frozen:
            self.velocity = Velocity()
            return
        _, _, goal = self._active
        self._drive_to(goal) if isinstance(goal, SE2) else self._turn_by(goal)

    def _new_id(self) -> int:
        self._next += 1
        return self._next - 1

    def _end(self, status: MotionStatus) -> None:
        assert self._active is not None
        motion_id, _, goal = self._active
        distance = self.pose.distance_to(goal.x, goal.y) if isinstance(goal, SE2) else None
        travelled = self.path_m - self._motion_from_m
        self._reports[motion_id] = MotionReport(motion_id, status, "", 0.0, travelled, distance, self.pose, self.time_s)
        self._active = None

    def _goal(self, request: MotionRequest) -> SE2 | float | MotionStatus:
        if isinstance(request, Turn):
            return request.angle_rad
        if isinstance(request, Look):
            self.pitch = request.pitch_rad
            return 0.0
        if isinstance(request, GoToPose):
            return SE2(request.x, request.y, request.yaw or 0.0)
        if not isinstance(request, GoToPoint):
            return MotionStatus.UNSUPPORTED
        if request.image_ref not in self._refs:
            return MotionStatus.REFUSED_UNKNOWN_IMAGE
        if self._newest is None or request.image_ref != self._newest.ref:
            return MotionStatus.REFUSED_STALE_IMAGE
        image = next(image for image in self._newest.images if image.view == request.view)
        height, width = image.depth.shape
        row, column = min(int(request.v * height), height - 1), min(int(request.u * width), width - 1)
        z = float(image.depth[row, column])
        if z <= 0.0:
            return MotionStatus.REFUSED_NO_DEPTH
        local = image.camera.unproject([[column + 0.5, row + 0.5]], [z])[0]
        place = image.camera_in_map.apply(local)
        away = self.pose.distance_to(place[0], place[1])
        stop_short = 0.0 if request.intent is PointIntent.PASS_THROUGH else STANDOFF_M
        share = max(0.0, away - stop_short) / max(away, 1e-6)
        x = self.pose.x + share * (place[0] - self.pose.x)
        y = self.pose.y + share * (place[1] - self.pose.y)
        return SE2(float(x), float(y), math.atan2(place[1] - self.pose.y, place[0] - self.pose.x))

    def _turn_by(self, angle: float) -> None:
        step = math.copysign(min(abs(angle), TURN_RATE * TICK_S), angle)
        self.pose = SE2(self.pose.x, self.pose.y, wrap_angle(self.pose.yaw + step))
        self.velocity = Velocity(0.0, 0.0, step / TICK_S)
        assert self._active is not None
        self._active = (self._active[0], self._active[1], angle - step)
        if abs(angle - step) < 1e-9:
            self._end(MotionStatus.REACHED)

    def _drive_to(self, goal: SE2) -> None:
        away = self.pose.distance_to(goal.x, goal.y)
        if away < 1e-6:
            self.pose = goal
            self._end(MotionStatus.REACHED)
            return
        share = min(1.0, SPEED * TICK_S / away)
        x, y = self.pose.x + share * (goal.x - self.pose.x), self.pose.y + share * (goal.y - self.pose.y)
        half = self.size / 2.0 - 0.3
        if max(abs(x), abs(y)) > half:
            self._end(MotionStatus.BLOCKED_NO_PATH)
            return
        self.path_m += share * away
        self.pose = SE2(x, y, math.atan2(goal.y - y, goal.x - x) if share < 1.0 else goal.yaw)
        self.velocity = Velocity(SPEED, 0.0, 0.0)

    def _see(self, view: str) -> tuple[RgbdImage, DetectionFrame]:
        camera = PinholeCamera.from_hfov(*self.image_size, math.radians(90.0))
        in_map = self.pose.to_se3() @ self.robot.views[view].optical_in_base(0.0)
        columns, rows = np.meshgrid(np.arange(camera.width) + 0.5, np.arange(camera.height) + 0.5)
        rays = np.stack([(columns - camera.cx) / camera.fx, (rows - camera.cy) / camera.fy, np.ones_like(rows)], -1)
        world = rays @ in_map.rotation.T
        eye = in_map.translation
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = np.where(world[..., 2] < 0, -eye[2] / world[..., 2], np.inf)
            half = self.size / 2.0
            for axis in (0, 1):
                for wall in (-half, half):
                    t = (wall - eye[axis]) / world[..., axis]
                    depth = np.where((t > 0) & (eye[2] + t * world[..., 2] < WALL_M), np.minimum(depth, t), depth)
        rgb = np.full((*depth.shape, 3), 150, np.uint8)
        detections = []
        for post in self.posts:
            hit, t = _cylinder(eye, world, post)
            nearer = hit & (t < depth)
            depth = np.where(nearer, t, depth)
            rgb[nearer] = post.colour
            if nearer.sum() >= 4 and float(np.min(t[nearer])) < 6.0:
                detections.append(_detection(post, nearer, in_map))
        scaled = np.where(np.isfinite(depth), depth, 0.0).astype(np.float32)
        image = RgbdImage(view, self.time_s, camera, in_map, rgb, scaled)
        return image, DetectionFrame(view, self.time_s, camera, in_map, tuple(detections))


def _cylinder(eye: np.ndarray, world: np.ndarray, post: Post) -> tuple[np.ndarray, np.ndarray]:
    ox, oy = eye[0] - post.x, eye[1] - post.y
    a = world[..., 0] ** 2 + world[..., 1] ** 2
    b = 2 * (ox * world[..., 0] + oy * world[..., 1])
    c = ox**2 + oy**2 - post.radius**2
    square = b**2 - 4 * a * c
    t = (-b - np.sqrt(np.maximum(square, 0.0))) / (2 * a)
    z = eye[2] + t * world[..., 2]
    return (square > 0) & (t > 0.05) & (z >= 0) & (z <= POST_M), t


def _detection(post: Post, mask: np.ndarray, in_map: SE3) -> Detection:
    rows, columns = np.nonzero(mask)
    box = (float(columns.min()), float(rows.min()), float(columns.max() + 1), float(rows.max() + 1))
    centre = in_map.inverse().apply(np.array([post.x, post.y, POST_M / 2.0]))
    return Detection(
        post.name,
        post.category,
        1.0,
        box,
        None,
        (float(centre[0]), float(centre[1]), float(centre[2])),
        (0.3, 0.3, 1.0),
    )


class ToyService:
    """Runs a robot and the mind of its desk in a thread, as fast as it goes while there is work; a context manager."""

    def __init__(
        self, robot: ToyRobot, desk: Desk, on_tick: Callable[[], None] = lambda: None, pace_s: float = 0.0
    ) -> None:
        self.robot, self.desk = robot, desk
        self.stepper = MindStepper(served_mind(desk), robot)
        self.on_tick = on_tick
        self._pace = threading.Event()
        self._pace_s = pace_s
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ToyService:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.desk.close()
        self._thread.join(timeout=5.0)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        while self.stepper.poll() is None:
            if not self.desk.wait_for_work(0.2) and self.robot.velocity.is_rest and not self.desk.closing:
                continue
            self.robot.tick()
            self.on_tick()
            self._pace.wait(self._pace_s) if self._pace_s else None


@dataclass
class StillRobot(ToyRobot):
    """Gives one capture, made before, whenever it is asked."""

    image_size: tuple[int, int] = (320, 240)

    def __post_init__(self) -> None:
        images, frames = zip(*(self._see(view) for view in self.robot.views), strict=True)
        self.still = Capture("cap:0:0.000", 0.0, True, images, frames)

    def capture(self, capture_id: int) -> Capture | MotionReport | None:
        return self.still
