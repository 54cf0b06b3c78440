"""The LiDAR against rooms whose distances are known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.robot import LidarDescription, RobotDescription, find_robot
from mnav_core.sensing import SensorRequest
from mnav_sim_bridge.house.palette import WHITE
from mnav_sim_bridge.house.shapes import box
from mnav_sim_bridge.lidar import scan_directions
from mnav_sim_bridge.testing.scenes import HEIGHT, Leaf, Thing, one_room
from mnav_sim_bridge.world import MujocoWorld, make_world

pytestmark = pytest.mark.sim
WIDTH, DEPTH = 6.0, 4.0
SCAN = SensorRequest(scan=True)


@pytest.fixture(scope="module")
def robot() -> RobotDescription:
    return find_robot("cobot_magic")


def points_in_map(world: MujocoWorld, robot: str = "a") -> np.ndarray:
    scan = world.sense(robot, SCAN).scan
    assert scan is not None
    return scan.sensor_in_map.apply(scan.points)


def wall_distance(origin: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Distance to the inside of the box [0, WIDTH] x [0, DEPTH] x [0, HEIGHT]."""
    limit = np.where(directions > 0, [WIDTH, DEPTH, HEIGHT], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = (limit - origin) / directions
    return np.where(directions == 0, np.inf, steps).min(axis=1)


def test_ranges_in_a_bare_room_are_right_to_a_centimetre(robot: RobotDescription) -> None:
    world = make_world(one_room(WIDTH, DEPTH), {"a": (robot, SE2(2.0, 1.5, 0.7))})
    scan = world.sense("a", SCAN).scan
    assert scan is not None
    assert len(scan.points) >= 0.999 * robot.lidar.points  # type: ignore[union-attr]
    ranges = np.linalg.norm(scan.points, axis=1)
    in_map = scan.sensor_in_map.apply(scan.points)
    directions = (in_map - scan.sensor_in_map.translation) / ranges[:, None]
    assert np.abs(ranges - wall_distance(scan.sensor_in_map.translation, directions)).max() < 0.01


def test_elevations_stay_within_the_field_of_view_and_azimuths_fill_the_circle() -> None:
    lidar = LidarDescription(xyz=(0.0, 0.0, 0.0), points=20000)
    d = scan_directions(lidar, seed=1, scan=0).astype(float)
    elevation = np.degrees(np.arcsin(d[:, 2]))
    assert elevation.min() >= -7.001 and elevation.max() <= 52.001
    assert elevation.min() < -6.9 and elevation.max() > 51.9
    azimuth = np.sort(np.degrees(np.arctan2(d[:, 1], d[:, 0])))
    assert np.diff(azimuth).max() < 0.2
    assert np.allclose(np.linalg.norm(d, axis=1), 1.0, atol=1e-6)


def test_scans_do_not_repeat_and_together_cover_more_finely() -> None:
    lidar = LidarDescription(xyz=(0.0, 0.0, 0.0), points=2000)
    scans = [scan_directions(lidar, seed=3, scan=k) for k in range(10)]
    assert not any(np.allclose(scans[0], other) for other in scans[1:])
    cells = [_cells(s) for s in scans]
    assert len(set().union(*cells)) > 3 * len(cells[0])
    assert np.array_equal(scans[4], scan_directions(lidar, seed=3, scan=4))
    assert not np.array_equal(scans[4], scan_directions(lidar, seed=4, scan=4))


def _cells(directions: np.ndarray) -> set[tuple[int, int]]:
    azimuth = np.degrees(np.arctan2(directions[:, 1], directions[:, 0]))
    elevation = np.degrees(np.arcsin(directions[:, 2]))
    return set(zip((azimuth // 1).astype(int).tolist(), (elevation // 1).astype(int).tolist(), strict=True))


def test_the_robot_does_not_see_itself_but_sees_the_other(robot: RobotDescription) -> None:
    world = make_world(one_room(WIDTH, DEPTH), {"a": (robot, SE2(1.5, 2.0, 0.0)), "b": (robot, SE2(4.0, 2.0, 0.0))})
    points = points_in_map(world)
    own = np.hypot(points[:, 0] - 1.5, points[:, 1] - 2.0) < 0.6
    other = (np.abs(points[:, 0] - 4.0) < 0.37) & (np.abs(points[:, 1] - 2.0) < 0.27)
    assert not own.any()
    assert other.sum() > 100


def test_a_leaf_is_seen_where_it_is_now(robot: RobotDescription) -> None:
    leaf = Leaf("door_1", (3.0, 1.0), yaw=math.pi / 2)
    world = make_world(one_room(WIDTH, DEPTH, leaves=(leaf,)), {"a": (robot, SE2(1.5, 1.4, 0.0))})

    def on_leaf(x: float, y: float, half_x: float, half_y: float) -> int:
        p = points_in_map(world)
        p = p[(p[:, 2] > 0.1) & (p[:, 2] < 1.9)]
        return int(((np.abs(p[:, 0] - x) < half_x) & (np.abs(p[:, 1] - y) < half_y)).sum())

    assert on_leaf(2.98, 1.45, 0.015, 0.37) > 100
    world.articulation.set_fraction(world.data, "door_1_hinge", (math.pi / 2) / leaf.travel)
    world.place("a", SE2(1.5, 1.4, 0.0))
    assert on_leaf(2.98, 1.45, 0.015, 0.37) == 0
    assert on_leaf(2.58, 1.02, 0.42, 0.03) > 20


def test_fixed_things_occlude_walls(robot: RobotDescription) -> None:
    crate = Thing("crate", "box", (box((0.5, 0.5, 1.0), (0, 0, 0.5), WHITE),), (3.5, 2.0, 0.0))
    world = make_world(one_room(WIDTH, DEPTH, (crate,)), {"a": (robot, SE2(1.5, 2.0, 0.0))})
    points = points_in_map(world)
    face = (np.abs(points[:, 0] - 3.25) < 0.01) & (np.abs(points[:, 1] - 2.0) < 0.25) & (points[:, 2] < 1.0)
    shadow = (points[:, 0] > 5.9) & (np.abs(points[:, 1] - 2.0) < 0.3) & (points[:, 2] < 0.8)
    assert face.sum() > 100 and shadow.sum() == 0


def test_nothing_beyond_the_range_and_nothing_too_close_is_returned(robot: RobotDescription) -> None:
    lidar = robot.lidar
    assert lidar is not None
    short = robot.model_copy(update={"lidar": lidar.model_copy(update={"max_range": 1.2, "min_range": 0.5})})
    world = make_world(one_room(WIDTH, DEPTH), {"a": (short, SE2(3.0, 0.8, 0.0))})
    scan = world.sense("a", SCAN).scan
    assert scan is not None
    ranges = np.linalg.norm(scan.points, axis=1)
    assert 0 < len(ranges) < lidar.points
    assert ranges.min() >= 0.5 and ranges.max() <= 1.2
