"""A planar world for the executor: rooms of rectangles, their costmap, and a robot that moves as commanded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt, label
from scipy.signal import fftconvolve

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, MotionReport, RobotCommand, Velocity
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import Odometry
from mnav_executor_geo.inputs import NavigatorInputs
from mnav_executor_geo.navigator import Navigator

ROBOTS = Path(__file__).resolve().parents[3] / "launch" / "config" / "robots"
RESOLUTION = 0.05
Box = tuple[float, float, float, float]


def inflate(occupied: np.ndarray, robot: RobotDescription, known: np.ndarray | None = None) -> np.ndarray:
    """Costmap by Euclidean distance: 100 lethal, 99 within the inscribed radius, exponential decay beyond."""
    distance = distance_transform_edt(~occupied) * RESOLUTION if occupied.any() else np.full(occupied.shape, 1e3)
    graded = np.clip(np.floor(98.0 * np.exp(-8.0 * (distance - robot.inscribed_radius))), 0, 98)
    graded[distance > robot.circumscribed_radius + 0.25] = 0
    cost = np.where(distance <= robot.inscribed_radius, 99, graded)
    cost = np.where(occupied, 100, cost)
    return (cost if known is None else np.where(known, cost, -1)).astype(np.int8)


@dataclass
class Rooms:
    """A floor of `size_m` with axis-aligned obstacles (x0, y0, x1, y1)."""

    size_m: tuple[float, float]
    boxes: list[Box] = field(default_factory=list)

    def occupied(self) -> np.ndarray:
        """Cells (H, W) that an obstacle overlaps."""
        rows, columns = round(self.size_m[1] / RESOLUTION), round(self.size_m[0] / RESOLUTION)
        grid = np.zeros((rows, columns), bool)
        for x0, y0, x1, y1 in self.boxes:
            r0, c0 = max(0, math.floor(y0 / RESOLUTION)), max(0, math.floor(x0 / RESOLUTION))
            grid[r0 : math.ceil(y1 / RESOLUTION), c0 : math.ceil(x1 / RESOLUTION)] = True
        return grid

    def costmap(self, robot: RobotDescription, stamp_s: float = 0.0) -> GridMap:
        """The true costmap of a robot."""
        return GridMap(stamp_s, RESOLUTION, (0.0, 0.0), inflate(self.occupied(), robot))

    def collides(self, footprint: tuple[tuple[float, float], ...], pose: SE2) -> bool:
        """Whether the rectangular footprint at a pose overlaps an obstacle: separating axes, no grid."""
        c, s = math.cos(pose.yaw), math.sin(pose.yaw)
        corners = np.array([(pose.x + c * x - s * y, pose.y + s * x + c * y) for x, y in footprint])
        boxes = np.array(self.boxes)
        apart = (corners[:, 0].max() <= boxes[:, 0]) | (corners[:, 0].min() >= boxes[:, 2])
        apart |= (corners[:, 1].max() <= boxes[:, 1]) | (corners[:, 1].min() >= boxes[:, 3])
        x, y = boxes[:, [0, 2, 2, 0]], boxes[:, [1, 1, 3, 3]]
        for ax, ay in ((c, s), (-s, c)):
            own = corners @ (ax, ay)
            other = x * ax + y * ay
            apart |= (own.max() <= other.min(axis=1)) | (own.min() >= other.max(axis=1))
        return not bool(apart.all())


def random_rooms(rng: np.random.Generator) -> Rooms:
    """A 10 m x 8 m floor cut into four rooms by 0.1 m walls with 0.9 m doors, open leaves and furniture."""
    width, height = 10.0, 8.0
    cut_x, cut_y = rng.uniform(4.0, 6.0), rng.uniform(3.2, 4.8)
    boxes: list[Box] = [
        (0.0, 0.0, width, 0.1),
        (0.0, height - 0.1, width, height),
        (0.0, 0.0, 0.1, height),
        (width - 0.1, 0.0, width, height),
    ]
    # Four wall pieces meet at (cut_x, cut_y); each has one door.
    upright_walls = [(0.1, cut_y, True), (cut_y, height - 0.1, True)]
    for lo, hi, upright in [*upright_walls, (0.1, cut_x, False), (cut_x, width - 0.1, False)]:
        at = rng.uniform(lo + 0.35, hi - 0.35 - 0.9)
        fixed = cut_x if upright else cut_y
        leaf = 0.85
        for a, b in ((lo, at), (at + 0.9, hi)):
            boxes.append((fixed, a, fixed + 0.1, b) if upright else (a, fixed, b, fixed + 0.1))
        if rng.random() < 0.5:
            boxes.append((fixed - leaf, at - 0.04, fixed, at) if upright else (at - 0.04, fixed - leaf, at, fixed))
    rooms = Rooms((width, height), boxes)
    doors_kept_free = rooms.occupied()
    for _ in range(int(rng.integers(8, 16))):
        w, h = rng.uniform(0.3, 1.6, 2)
        x, y = rng.uniform(0.1, width - 0.1 - w), rng.uniform(0.1, height - 0.1 - h)
        grown = Rooms((width, height), [(x - 0.9, y - 0.9, x + w + 0.9, y + h + 0.9)]).occupied()
        if not (grown & doors_kept_free).any() or rng.random() < 0.3:
            rooms.boxes.append((x, y, x + w, y + h))
    return rooms


class Simulation:
    """A robot that does what the navigator commands, within its accelerations, at 10 Hz; collisions are recorded."""

    def __init__(self, robot: RobotDescription, rooms: Rooms, pose: SE2, navigator: Navigator | None = None) -> None:
        self.robot = robot
        self.rooms = rooms
        self.pose = pose
        self.velocity = STOP
        self.pitch = 0.0
        self.now_s = 0.0
        self.costmap: GridMap | None = rooms.costmap(robot)
        self.collided = False
        self.navigator = Navigator(robot) if navigator is None else navigator
        self.reports: dict[int, MotionReport] = {}
        self.command = RobotCommand()
        self.backed_m = 0.0

    def inputs(self, **changes: object) -> NavigatorInputs:
        """What a perfect robot would know now."""
        inputs = NavigatorInputs(
            self.now_s,
            Odometry(self.now_s, self.pose, self.velocity),
            self.pose,
            self.pitch,
            self.costmap,
            map_stamp_s=self.now_s,
        )
        return replace(inputs, **changes)

    def tick(self, **changes: object) -> RobotCommand:
        """Step the navigator and then the robot by 0.1 s."""
        step = self.navigator.step(self.inputs(**changes))
        self.reports.update({report.motion_id: report for report in step.finished})
        self.command = step.command
        self.pitch += max(-0.15, min(0.15, step.command.camera_pitch - self.pitch))
        limits, dt = self.robot.limits, 0.02
        for _ in range(5):
            v = _towards(self.velocity.vx, step.command.velocity.vx, limits.accel * dt, limits.decel * dt)
            faster, slower = limits.angular_accel * dt, limits.angular_decel * dt
            w = _towards(self.velocity.wz, step.command.velocity.wz, faster, slower)
            self.velocity = Velocity(v, 0.0, w)
            middle = self.pose.yaw + 0.5 * w * dt
            x, y = self.pose.x + v * math.cos(middle) * dt, self.pose.y + v * math.sin(middle) * dt
            self.pose = SE2(x, y, wrap_angle(self.pose.yaw + w * dt))
            self.backed_m += max(0.0, -v * dt)
            self.collided |= self.rooms.collides(self.robot.footprint, self.pose)
        self.now_s = round(self.now_s + 0.1, 6)
        return step.command

    def run(self, motion_id: int, limit_s: float = 400.0) -> MotionReport:
        """Tick until a motion has ended."""
        end_s = self.now_s + limit_s
        while motion_id not in self.reports and self.now_s < end_s:
            self.tick()
        return self.reports[motion_id]


def _towards(now: float, wanted: float, faster: float, slower: float) -> float:
    change = faster if abs(wanted) > abs(now) else slower
    return now + max(-change, min(change, wanted - now))


@pytest.fixture(params=["cobot_magic", "go2"])
def any_robot(request: pytest.FixtureRequest) -> RobotDescription:
    return find_robot(request.param, ROBOTS)


@pytest.fixture
def cobot() -> RobotDescription:
    return find_robot("cobot_magic", ROBOTS)


@pytest.fixture
def go2() -> RobotDescription:
    return find_robot("go2", ROBOTS)


@pytest.fixture
def make_rooms() -> Callable[..., Rooms]:
    return Rooms


@pytest.fixture
def make_random_rooms() -> Callable[[np.random.Generator], Rooms]:
    return random_rooms


@pytest.fixture
def simulate() -> Callable[..., Simulation]:
    return Simulation


@pytest.fixture
def inflated() -> Callable[..., np.ndarray]:
    return inflate


def reachable_for_footprint(
    rooms: Rooms, robot: RobotDescription, start: SE2, goal: tuple[float, float], padding_m: float
) -> bool:
    """Whether the padded footprint can be moved (any way, also sideways) from `start` to `goal` at some heading.

    Free space by rasterised footprint at 16 headings, joined by connected components.
    """
    occupied = rooms.occupied()
    xs = np.array([abs(x) for x, _ in robot.footprint]).max() + padding_m
    ys = np.array([abs(y) for _, y in robot.footprint]).max() + padding_m
    reach = math.ceil(math.hypot(xs, ys) / RESOLUTION)
    dy, dx = np.mgrid[-reach : reach + 1, -reach : reach + 1] * RESOLUTION
    layers = []
    for k in range(16):
        c, s = math.cos(k * math.pi / 8.0), math.sin(k * math.pi / 8.0)
        mask = (np.abs(c * dx + s * dy) <= xs) & (np.abs(-s * dx + c * dy) <= ys)
        touching = fftconvolve(occupied.astype(float), mask[::-1, ::-1].astype(float), mode="same") > 0.5
        layers.append(~touching)
    # One turn and a half of layers joins the first heading with the last.
    stack = np.stack(layers + layers[:8])
    labels, _ = label(stack)
    groups: dict[int, set[int]] = {}
    for k in range(8):
        for a, b in zip(labels[k].ravel(), labels[k + 16].ravel(), strict=True):
            if a and b and a != b:
                groups.setdefault(int(a), set()).add(int(b))
                groups.setdefault(int(b), set()).add(int(a))
    row, column = int(start.y / RESOLUTION), int(start.x / RESOLUTION)
    heading = round(start.yaw / (math.pi / 8.0)) % 16
    goals = {int(v) for v in labels[:, int(goal[1] / RESOLUTION), int(goal[0] / RESOLUTION)] if v}
    seen, waiting = set(), [int(labels[heading, row, column])]
    while waiting:
        group = waiting.pop()
        if group and group not in seen:
            seen.add(group)
            waiting.extend(groups.get(group, ()))
    return bool(seen & goals)


@pytest.fixture
def fits_through() -> Callable[..., bool]:
    return reachable_for_footprint
