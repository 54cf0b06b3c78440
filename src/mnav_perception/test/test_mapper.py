"""What robots make of scenes: obstacles that come and go, tables, steps, noise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.maps import FREE, LETHAL, UNKNOWN
from mnav_perception.mapper import Mapper, MapperSettings
from mnav_perception.testing.scenes import Scene, looked

ORIGIN = SE2(0.0, 0.0)
BOX = ((1.5, -0.25, 0.0), (2.0, 0.25, 0.8))


def scan(mapper, scene, rng, base=ORIGIN, times=1, **options):
    sensor = base.to_se3() @ mapper.robot.lidar.pose_in_base()
    for _ in range(times):
        report = mapper.integrate_scan(scene.scan(sensor, rng, **options))
    return report


def look(mapper, scene, base=ORIGIN, pitch=0.0, times=1, size=(160, 120)):
    mount = mapper.robot.views["front"]
    image = scene.depth_image(mount.intrinsics(*size), base.to_se3() @ mount.optical_in_base(pitch))
    for _ in range(times):
        mapper.integrate_depth(image)
    return image


def occupancy_in(snapshot, x0, y0, x1, y1):
    grid = snapshot.occupancy
    (r0, c0), (r1, c1) = grid.to_cell(x0 + 1e-6, y0 + 1e-6), grid.to_cell(x1 - 1e-6, y1 - 1e-6)
    return grid.data[r0 : r1 + 1, c0 : c1 + 1]


def test_a_room_is_free_inside_walled_and_unknown_outside(cobot, rng):
    mapper = Mapper(cobot)
    mapper.mark_start(SE2(0.0, 0.0))
    scan(mapper, Scene.room(-2.02, -1.52, 3.02, 2.02), rng, times=5)
    maps = mapper.snapshot(1.0)
    inside = occupancy_in(maps, -1.9, -1.4, 2.9, 1.9)
    assert (inside == FREE).mean() > 0.995 and not (inside == LETHAL).any()
    for wall in ((3.0, -1.4, 3.05, 1.9), (-2.05, -1.4, -2.0, 1.9), (-1.9, 2.0, 2.9, 2.05), (-1.9, -1.55, 2.9, -1.5)):
        assert (occupancy_in(maps, *wall) == LETHAL).mean() > 0.98
    assert maps.occupancy.at(3.3, 0.0) == UNKNOWN and maps.costmap.at(3.3, 0.0) == UNKNOWN
    assert maps.stamp_s == maps.occupancy.stamp_s == maps.costmap.stamp_s == 1.0


def test_a_removed_obstacle_is_gone_after_three_scans_that_see_through_it(cobot, rng):
    mapper = Mapper(cobot)
    room = Scene.room(-2, -2, 4, 2)
    scan(mapper, room.with_boxes(BOX), rng, times=30)
    assert (occupancy_in(mapper.snapshot(0.0), 1.5, -0.25, 1.55, 0.25) == LETHAL).all()
    scan(mapper, room, rng, times=3, points=60000)
    assert not (occupancy_in(mapper.snapshot(0.0), 1.3, -0.5, 2.3, 0.5) == LETHAL).any()


def test_an_obstacle_out_of_sight_stays(cobot, rng):
    """Nothing is cleared because it is out of range or has not been seen for long (navigation2#5476)."""
    mapper = Mapper(cobot)
    scan(mapper, Scene.room(-2, -2, 4, 2, BOX), rng, times=3)
    before = occupancy_in(mapper.snapshot(0.0), 1.5, -0.25, 1.55, 0.25).copy()
    far_room = Scene.room(20, -2, 26, 2)
    scan(mapper, far_room, rng, base=SE2(23.0, 0.0), times=20)
    after = occupancy_in(mapper.snapshot(1e4), 1.5, -0.25, 1.55, 0.25)
    assert (before == LETHAL).all() and (after == LETHAL).all()


def test_a_person_who_walked_through_leaves_no_trail(cobot, rng):
    mapper = Mapper(cobot)
    room = Scene.room(-3, -3, 5, 3)
    scan(mapper, room, rng, times=3)
    for step in range(20):
        y = -2.0 + 0.2 * step
        scan(mapper, room.with_boxes(((2.0, y - 0.2, 0.0), (2.4, y + 0.2, 1.7))), rng)
    scan(mapper, room, rng, times=3, points=60000)
    assert not (occupancy_in(mapper.snapshot(0.0), 1.7, -2.5, 2.7, 2.5) == LETHAL).any()


def test_a_door_that_opens_opens_the_way(cobot, rng):
    """A wall at x = 2 with a 0.9 m doorway; the closed leaf stands in it, the open one along the wall behind."""
    walls = (((2.0, -3.0, 0.0), (2.12, -0.45, 2.5)), ((2.0, 0.45, 0.0), (2.12, 3.0, 2.5)))
    room = Scene.room(-3, -3, 6, 3, *walls)
    closed = room.with_boxes(((2.04, -0.45, 0.0), (2.08, 0.45, 2.0)))
    opened = room.with_boxes(((2.12, 0.45, 0.0), (3.02, 0.49, 2.0)))
    mapper = Mapper(cobot)
    scan(mapper, closed, rng, times=30)
    assert (occupancy_in(mapper.snapshot(0.0), 2.0, -0.4, 2.1, 0.4) == LETHAL).any(axis=1).all()
    scan(mapper, opened, rng, times=4, points=40000)
    look(mapper, opened, pitch=0.2, times=3, size=(320, 240))
    maps = mapper.snapshot(0.0)
    assert (occupancy_in(maps, 1.9, -0.35, 2.2, 0.35) == FREE).all()
    centre = [maps.costmap.at(x, 0.025) for x in np.arange(1.5, 2.6, 0.05)]
    assert max(centre) < 60


@pytest.mark.parametrize(("name", "under"), [("go2", FREE), ("cobot", LETHAL)])
def test_a_table_is_passed_under_by_whoever_fits(name, under, rng, request):
    """Table top at 0.70 to 0.75 m on legs: 0.55 m of robot passes, 1.5 m does not."""
    robot = request.getfixturevalue(name)
    legs = [((x, y, 0.0), (x + 0.05, y + 0.05, 0.7)) for x in (1.5, 2.45) for y in (-0.5, 0.45)]
    scene = Scene.room(-2, -2, 4, 2, ((1.5, -0.5, 0.7), (2.5, 0.5, 0.73)), *legs)
    mapper = Mapper(robot)
    scan(mapper, scene, rng, times=20, elevation_deg=(-7.0, 52.0))
    for step in range(8):
        look(mapper, scene, SE2(-0.5 + 0.07 * step, 0.1 * step - 0.4), pitch=0.2, size=(320, 240))
    middle = occupancy_in(mapper.snapshot(0.0), 1.7, -0.3, 2.3, 0.3)
    assert (middle == under).mean() > 0.9
    assert mapper.snapshot(0.0).occupancy.at(1.52, -0.48) == LETHAL


@pytest.mark.parametrize("name", ["go2", "cobot"])
@pytest.mark.parametrize(("height", "expected"), [(0.03, FREE), (0.17, LETHAL)])
def test_a_low_step_is_climbed_and_a_high_one_is_not(name, height, expected, rng, request):
    robot = request.getfixturevalue(name)
    scene = Scene.room(-2, -2, 5, 2, ((2.0, -0.5, 0.0), (2.6, 0.5, height)))
    mapper = Mapper(robot)
    scan(mapper, scene, rng, times=10)
    for x in (0.0, 0.3, 0.6):
        look(mapper, scene, SE2(x, 0.0), pitch=0.2, times=2)
    assert (occupancy_in(mapper.snapshot(0.0), 2.0, -0.4, 2.05, 0.4) == expected).mean() > 0.9


@pytest.mark.parametrize("name", ["go2", "cobot"])
def test_a_noisy_floor_is_no_obstacle(name, rng, request):
    """Floor heights with a deviation of 2 cm, scan and depth image, for 30 scans: nothing rises from it."""
    robot = request.getfixturevalue(name)
    mapper = Mapper(robot)
    scene = Scene.room(-6, -6, 6, 6)
    mount = robot.views["front"]
    image = scene.depth_image(mount.intrinsics(160, 120), mount.optical_in_base(0.2))
    wrong = []
    for _ in range(30):
        cloud = scene.scan(robot.lidar.pose_in_base(), rng)
        points = cloud.points.copy()
        floor = np.isclose(points[:, 2] + cloud.sensor_in_map.translation[2], 0.0, atol=1e-3)
        assert floor.sum() > 500
        points[floor, 2] += rng.normal(0.0, 0.02, floor.sum()).astype(np.float32)
        mapper.integrate_scan(replace(cloud, points=points))
        noisy = image.depth * (1.0 + rng.normal(0.0, 0.01, image.depth.shape)).astype(np.float32)
        mapper.integrate_depth(replace(image, depth=noisy))
        inside = occupancy_in(mapper.snapshot(0.0), -5.8, -5.8, 5.8, 5.8)
        wrong.append(int((inside == LETHAL).sum()))
    assert max(wrong) == 0


def test_a_low_thing_on_the_floor_is_an_obstacle_once_seen_twice(cobot, rng):
    scene = Scene.room(-2, -2, 4, 2, ((1.5, -0.1, 0.0), (1.7, 0.1, 0.09)))
    mapper = Mapper(cobot)
    look(mapper, scene, pitch=0.3)
    look(mapper, scene, pitch=0.3)
    assert (occupancy_in(mapper.snapshot(0.0), 1.5, -0.1, 1.7, 0.1) == LETHAL).mean() > 0.8


def test_grazing_rays_do_not_wear_a_wall_away(go2, rng):
    """A corridor of 1.5 m: both walls stay closed 4 to 6 m ahead, in a map that is turned against them."""
    scene, turn = Scene.room(-7, -0.775, 7, 0.775), SE2(0.0, 0.0, 0.4)
    mapper = Mapper(go2)
    for step in range(30):
        sensor = SE2(-5.0 + 0.05 * step, 0.0).to_se3() @ go2.lidar.pose_in_base()
        cloud = scene.scan(sensor, rng, noise_m=0.01)
        mapper.integrate_scan(replace(cloud, sensor_in_map=turn.to_se3() @ cloud.sensor_in_map))
    grid = mapper.snapshot(0.0).occupancy
    closed = [
        any(grid.at(*(lambda p: (p.x, p.y))(turn @ SE2(x, side * y))) == LETHAL for y in (0.745, 0.785, 0.815))
        for x in np.arange(0.45, 2.45, 0.05)
        for side in (-1, 1)
    ]
    assert np.mean(closed) > 0.88


def test_depth_without_return_says_nothing_unless_told(cobot):
    camera = cobot.views["front"].intrinsics(16, 12)
    empty = Scene(())
    image = empty.depth_image(camera, cobot.views["front"].optical_in_base())
    silent, told = Mapper(cobot), Mapper(cobot, MapperSettings(no_return_clears=True))
    assert silent.integrate_depth(image).skipped_not_finite == 16 * 12
    assert len(silent.voxels.known()[0]) == 0
    assert told.integrate_depth(image).cleared_only > 0
    keys, values = told.voxels.known()
    assert (values < 0).all() and 90 < keys[:, 0].max() <= 102
    zero = replace(image, depth=np.zeros_like(image.depth))
    before = len(told.voxels.known()[0])
    assert told.integrate_depth(zero).skipped_not_finite == 16 * 12
    assert len(told.voxels.known()[0]) == before


def test_depth_stride_takes_every_nth_pixel_at_its_own_place(cobot):
    scene = Scene.room(-2, -2, 3, 2)
    camera = cobot.views["front"].intrinsics(64, 48)
    image = scene.depth_image(camera, cobot.views["front"].optical_in_base(0.2))
    mapper = Mapper(cobot)
    report = mapper.integrate_depth(image, stride=4)
    assert report.marked + report.cleared_only + report.skipped_self == 16 * 12
    keys, values = mapper.voxels.known()
    wall = keys[(values > 0) & (keys[:, 2] > 4) & (keys[:, 2] < 40) & (np.abs(keys[:, 1]) < 38)]
    assert set(wall[:, 0].tolist()) <= {59, 60}
    with pytest.raises(ValueError, match="stride = 0"):
        mapper.integrate_depth(image, stride=0)


@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_the_robots_own_body_in_its_camera_is_no_obstacle(cobot, yaw):
    """A tilted mast camera that sees its own base: the base is found under the camera whatever the tilt."""
    base = SE2(1.0, -2.0, yaw)
    body = base.to_se3() @ cobot.views["front"].optical_in_base(1.0)
    camera = cobot.views["front"].intrinsics(160, 120)
    # All depths lie on the top of the base, 0.4 m above the floor, or beyond it.
    image = Scene((((-50, -50, -0.2), (50, 50, 0.4)),)).depth_image(camera, body)
    mapper = Mapper(cobot)
    report = mapper.integrate_depth(image)
    assert report.skipped_self > 20
    corners = [base @ SE2(x, y) for x in (-0.34, 0.0, 0.34) for y in (-0.24, 0.24)]
    assert all(mapper.snapshot(0.0).occupancy.at(c.x, c.y) != LETHAL for c in corners)
    ahead = base @ SE2(0.8, 0.0)
    assert mapper.snapshot(0.0).occupancy.at(ahead.x, ahead.y) == LETHAL


def test_the_start_footprint_is_free_where_nothing_was_sensed(cobot, rng):
    mapper = Mapper(cobot)
    pose = SE2(0.4, 0.2, 0.7)
    mapper.mark_start(pose)
    maps = mapper.snapshot(0.0)
    corner = pose @ SE2(0.34, -0.24)
    assert maps.occupancy.at(corner.x, corner.y) == FREE and maps.costmap.at(0.4, 0.2) == FREE
    # 0.70 x 0.50 m and a margin of 0.05 m each side, in cells of 5 cm.
    assert len(mapper.start_cells) == pytest.approx(0.8 * 0.6 / 0.0025, rel=0.03)
    assert (maps.occupancy.data == FREE).sum() == len(mapper.start_cells)
    # What is sensed there counts: a wall that is in the way stays in the way.
    scan(mapper, Scene.room(0.12, -2, 3, 2), rng, base=SE2(1.5, 0.2), times=3)
    assert mapper.snapshot(0.0).occupancy.at(0.12, 0.2) == LETHAL


def test_snapshots_lie_on_one_lattice_and_grow_with_the_known(cobot, rng):
    mapper = Mapper(cobot)
    mapper.mark_start(SE2(0.0, 0.0))
    small = mapper.snapshot(0.0)
    scan(mapper, Scene.room(-2.03, -1.51, 3, 2), rng, times=2)
    large = mapper.snapshot(1.0)
    for axis in range(2):
        shift = (small.occupancy.origin[axis] - large.occupancy.origin[axis]) / 0.05
        assert abs(shift - round(shift)) < 1e-6
    assert large.occupancy.shape == large.costmap.shape == large.inspected.shape
    assert large.occupancy.shape[0] > small.occupancy.shape[0]
    known = np.argwhere(large.occupancy.data != UNKNOWN)
    assert known.min() == 10 and (np.array(large.occupancy.shape) - 1 - known.max(axis=0) == 10).all()


def test_the_same_input_gives_the_same_maps(cobot):
    results = []
    for _ in range(2):
        mapper = Mapper(cobot)
        mapper.mark_start(SE2(0.0, 0.0))
        scene = Scene.room(-2, -2, 4, 2, BOX)
        scan(mapper, scene, np.random.default_rng(3), times=3, noise_m=0.01)
        mapper.look_at(looked(look(mapper, scene, pitch=0.2)))
        results.append(mapper.snapshot(0.0))
    a, b = results
    assert (a.occupancy.data == b.occupancy.data).all() and (a.costmap.data == b.costmap.data).all()
    assert (a.inspected == b.inspected).all() and a.occupancy.origin == b.occupancy.origin


def test_an_incremental_snapshot_equals_one_made_at_the_end(cobot):
    scene = Scene.room(-2, -2, 4, 2, BOX)
    often, once = Mapper(cobot), Mapper(cobot)
    for mapper in (often, once):
        rng = np.random.default_rng(5)
        for _ in range(4):
            scan(mapper, scene, rng)
            if mapper is often:
                mapper.snapshot(0.0)
    assert (often.snapshot(0.0).occupancy.data == once.snapshot(0.0).occupancy.data).all()


def test_the_maps_hold_when_everything_is_turned(cobot, rng):
    """Occupied area of a room does not depend on how the map lies: within a tenth."""
    counts = []
    for yaw in (0.0, 0.6):
        turn, mapper = SE2(0.3, -0.1, yaw).to_se3(), Mapper(cobot)
        for _ in range(5):
            cloud = Scene.room(-2, -2, 3, 2).scan(cobot.lidar.pose_in_base(), rng)
            mapper.integrate_scan(replace(cloud, sensor_in_map=turn @ cloud.sensor_in_map))
        counts.append(int((mapper.snapshot(0.0).occupancy.data == FREE).sum()))
    assert counts[1] == pytest.approx(counts[0], rel=0.1)
    assert counts[0] == pytest.approx(5 * 4 / 0.0025, rel=0.05)


def test_a_robot_that_does_not_fit_the_rules_is_refused(cobot):
    with pytest.raises(ValueError, match=r"climb_m, height_m = 0.7, 1.5"):
        Mapper(cobot.model_copy(update={"traversal": cobot.traversal.model_copy(update={"climb_m": 0.7})}))


def test_an_empty_map_is_all_unknown(cobot):
    maps = Mapper(cobot).snapshot(0.0)
    assert (maps.occupancy.data == UNKNOWN).all() and math.prod(maps.occupancy.shape) > 0
