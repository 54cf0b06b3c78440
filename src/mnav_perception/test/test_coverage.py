"""What a camera has looked at."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import OPTICAL_IN_BODY, SE2, SE3
from mnav_perception.mapper import Mapper
from mnav_perception.mapping.coverage import CoverageSettings
from mnav_perception.testing.scenes import Scene, looked

ORIGIN = SE2(0.0, 0.0)
TABLE = ((1.52, -0.5, 0.70), (2.0, 0.5, 0.73))
CUPBOARD = ((1.52, -0.5, 0.0), (2.0, 0.5, 1.9))


def mapped(robot, scene, rng):
    """A mapper that knows the scene from all around."""
    mapper = Mapper(robot)
    for x, y in ((0.0, 0.0), (0.0, 1.5), (0.0, -1.5), (2.8, 1.5), (2.8, -1.5), (2.8, 0.0), (1.7, 1.5), (1.7, -1.5)):
        for z in (0.3, 1.2):
            pose = SE3(np.eye(3), np.array([x, y, z]))
            for _ in range(2):
                mapper.integrate_scan(scene.scan(pose, rng, 10000, elevation_deg=(-50.0, 50.0)))
    return mapper


def look(mapper, scene, base=ORIGIN, pitch=0.0):
    mount = mapper.robot.views["front"]
    pose = base.to_se3() @ mount.optical_in_base(pitch)
    return mapper.look_at(looked(scene.depth_image(mount.intrinsics(16, 12), pose)))


def inspected(mapper, x, y):
    maps = mapper.snapshot(0.0)
    row, column = maps.occupancy.to_cell(x, y)
    return bool(maps.inspected[row, column])


def test_range_and_field_of_view_bound_what_is_seen(cobot, rng):
    scene = Scene.room(-2.02, -3.02, 6.02, 3.02)
    mapper = Mapper(cobot)
    for x in (0.0, 3.0):
        for _ in range(3):
            mapper.integrate_scan(scene.scan(SE3(np.eye(3), np.array([x, 0.0, 0.5])), rng, elevation_deg=(-30, 40)))
    new = look(mapper, scene, pitch=0.2)
    maps = mapper.snapshot(0.0)
    assert new == maps.inspected.sum() > 0
    camera = np.array([0.10, 0.0])
    rows, columns = np.nonzero(maps.inspected)
    points = np.stack([(columns + 0.5) * 0.05, (rows + 0.5) * 0.05], axis=1) + maps.occupancy.origin - camera
    distance, bearing = np.hypot(*points.T), np.arctan2(points[:, 1], points[:, 0])
    # 4.0 m to a thing 0.15 m high from 1.25 m: 3.85 m on the floor. The pitched view is a little wider nearby.
    assert 3.75 < distance.max() < 3.95
    assert math.radians(44) < np.abs(bearing[distance > 3.0]).max() < math.radians(48.5)
    # Lower edge at 0.2 + 0.643 rad: the floor comes into view at 1.1 m, a thing of 0.15 m a little before.
    assert 0.9 < distance.min() < 1.15
    for x, y, seen in ((2.0, 0.0, True), (2.5, 1.5, True), (2.5, -1.5, True), (-1.0, 0.0, False), (1.0, 2.0, False)):
        assert inspected(mapper, x, y) is seen
    assert look(mapper, scene, pitch=0.2) == 0


def test_no_hole_is_left_in_what_is_seen(cobot, rng):
    scene = Scene.room(-2.02, -3.02, 6.02, 3.02)
    mapper = mapped(cobot, scene, rng)
    look(mapper, scene, pitch=0.2)
    maps = mapper.snapshot(0.0)
    holes = [
        (x, y)
        for x in np.arange(1.4, 3.6, 0.05)
        for y in np.arange(-1.0, 1.0, 0.05)
        if math.hypot(x - 0.1, y) < 3.7 and not maps.inspected[maps.occupancy.to_cell(x, y)]
    ]
    assert holes == []


def test_a_wall_hides_and_its_first_cell_is_seen(cobot, rng):
    scene = Scene.room(-1.02, -2.02, 3.52, 2.02, CUPBOARD)
    mapper = mapped(cobot, scene, rng)
    look(mapper, scene, pitch=0.2)
    assert inspected(mapper, 1.53, 0.0)
    assert inspected(mapper, 1.2, 0.0) and inspected(mapper, 2.5, 1.6)
    assert not any(inspected(mapper, x, y) for x in (2.1, 2.5, 3.0) for y in (-0.4, 0.0, 0.4))


def test_a_high_camera_sees_over_a_table_and_what_stands_on_it(cobot, rng):
    scene = Scene.room(-1.02, -2.02, 3.52, 2.02, TABLE)
    mapper = mapped(cobot, scene, rng)
    look(mapper, scene, pitch=0.2)
    assert inspected(mapper, 1.53, 0.0) and inspected(mapper, 1.9, 0.0)
    # Over its far edge the wall comes into view, under its near edge the floor up to x = 3.3 m.
    assert inspected(mapper, 3.53, 0.0) and inspected(mapper, 2.6, 0.0)
    assert not inspected(mapper, 3.45, 0.0)


def test_a_low_camera_sees_under_a_table_but_not_through_a_cupboard(go2, rng):
    for box, seen in ((TABLE, True), (CUPBOARD, False)):
        scene = Scene.room(-1.02, -2.02, 3.52, 2.02, box)
        mapper = mapped(go2, scene, rng)
        look(mapper, scene)
        assert inspected(mapper, 1.2, 0.0)
        assert inspected(mapper, 2.6, 0.0) is seen


def test_what_lies_behind_the_unknown_is_not_taken_as_seen(cobot, rng):
    """Two known rooms with unknown ground in between, wider than the gap that may be crossed."""
    mapper = Mapper(cobot)
    for x0, x1 in ((-2.02, 1.0), (2.0, 4.0)):
        scene = Scene.room(x0, -2.02, x1, 2.02)
        pose = SE3(np.eye(3), np.array([(x0 + x1) / 2, 0.0, 0.5]))
        cloud = scene.scan(pose, rng, elevation_deg=(-40, 10))
        # Floor only: the walls between the rooms were never seen.
        on_floor = cloud.points[:, 2] < -0.45
        mapper.integrate_scan(type(cloud)(0.0, cloud.points[on_floor], pose))
    look(mapper, Scene(()), SE2(-1.5, 0.0), pitch=0.2)
    assert inspected(mapper, 0.5, 0.0)
    assert not inspected(mapper, 2.2, 0.0)


def test_looking_straight_down_sees_around_below(cobot, rng):
    scene = Scene.room(-2.02, -2.02, 2.02, 2.02)
    mapper = mapped(cobot, scene, rng)
    down = SE3.from_rpy((0.0, 0.0, 1.25), (0.0, math.pi / 2, 0.0))
    camera = PinholeCamera.from_hfov(640, 480, math.pi / 2)
    frame = looked(scene.depth_image(camera.scaled(16, 12), down @ SE3(OPTICAL_IN_BODY, np.zeros(3))))
    mapper.look_at(frame)
    # 90 degrees across and 74 along, from 1.25 m: 1.25 m to either side and 0.94 m ahead and behind.
    for x, y, seen in ((0.0, 0.0, True), (0.0, 1.1, True), (0.0, -1.1, True), (0.8, 0.0, True), (1.2, 0.0, False)):
        assert inspected(mapper, x, y) is seen


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match=r"range_m = 0.0"):
        CoverageSettings(range_m=0.0)
