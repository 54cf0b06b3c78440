"""Images against geometry known in closed form, and views that leave out only what cannot be seen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE2
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import SensorRequest, ViewRequest
from mnav_sim_bridge.house.assembly import assemble
from mnav_sim_bridge.house.design import draw_design
from mnav_sim_bridge.house.palette import paint
from mnav_sim_bridge.house.shapes import box
from mnav_sim_bridge.rendering import look_at
from mnav_sim_bridge.testing.scenes import Thing, one_room
from mnav_sim_bridge.world import MujocoWorld, WorldSettings, make_world

pytestmark = pytest.mark.sim


@pytest.fixture(scope="module")
def robot() -> RobotDescription:
    return find_robot("cobot_magic")


def image_of(world: MujocoWorld, view: str = "front", width: int = 640, height: int = 480):  # type: ignore[no-untyped-def]
    return world.sense("a", SensorRequest(views=(ViewRequest(view, width, height),))).images[0]


def red_pixels(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of pixels whose red is far above their green."""
    rows, columns = np.nonzero(rgb[:, :, 0].astype(int) > 40 + 2 * rgb[:, :, 1].astype(int))
    return rows, columns


def test_depth_of_a_wall_is_its_distance_along_the_axis(robot: RobotDescription) -> None:
    world = make_world(one_room(6.0, 4.0), {"a": (robot, SE2(2.0, 2.0, 0.0))})
    image = image_of(world)
    # The camera is 0.10 m ahead of the base, so the wall at x = 6 is 3.9 m away in every pixel that shows it.
    middle = image.depth[200:280, 240:400]
    assert np.abs(middle - 3.9).max() < 0.005
    world.close()


def test_depth_and_pose_put_every_pixel_on_a_surface_of_the_room(robot: RobotDescription) -> None:
    world = make_world(one_room(6.0, 4.0), {"a": (robot, SE2(2.3, 1.7, 0.9))})
    for view in ("front", "right", "back", "left"):
        image = image_of(world, view)
        points = image.camera_in_map.apply(image.camera.depth_to_points(image.depth, stride=7))
        gaps = np.abs(points[:, [0, 0, 1, 1, 2, 2]] - [0.0, 6.0, 0.0, 4.0, 0.0, 2.6])
        off = gaps.min(axis=1)
        # The robot's own deck is in some views.
        own = np.hypot(points[:, 0] - 2.3, points[:, 1] - 1.7) < 0.5
        assert len(points) > 4000 and np.quantile(off[~own], 0.995) < 0.01, view
    world.close()


def test_tilting_down_turns_the_axis_to_the_floor(robot: RobotDescription) -> None:
    world = make_world(one_room(6.0, 4.0), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    world._robots["a"].pitch = 0.8
    image = image_of(world)
    height = image.camera_in_map.translation[2]
    assert image.depth[240, 320] == pytest.approx(height / math.sin(0.8), abs=0.02)
    world.close()


def test_nothing_beyond_the_depth_limit_is_reported(robot: RobotDescription) -> None:
    world = make_world(one_room(6.0, 4.0), {"a": (robot, SE2(1.0, 2.0, 0.0))}, WorldSettings(depth_max_m=3.0))
    depth = image_of(world).depth
    assert depth.max() <= 3.0 and np.count_nonzero(depth[200:280, 300:340]) == 0
    world.close()


def test_only_what_was_asked_for_is_sensed(robot: RobotDescription) -> None:
    world = make_world(one_room(6.0, 4.0), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    frame = world.sense("a", SensorRequest())
    assert frame.scan is None and frame.images == () and frame.detections == ()
    assert world.renderer._context is None
    frame = world.sense("a", SensorRequest(views=(ViewRequest("back", 64, 48),)))
    assert [(i.view, i.rgb.shape, i.depth.shape) for i in frame.images] == [("back", (48, 64, 3), (48, 64))]
    world.close()


def test_colour_and_depth_come_from_one_pass(robot: RobotDescription, monkeypatch: pytest.MonkeyPatch) -> None:
    import mujoco

    world = make_world(one_room(6.0, 4.0), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    calls = 0
    render = mujoco.mjr_render

    def counted(*args: object) -> None:
        nonlocal calls
        calls += 1
        render(*args)

    monkeypatch.setattr(mujoco, "mjr_render", counted)
    image_of(world)
    assert calls == 1
    world.close()


def test_a_coloured_box_appears_where_the_camera_model_says(robot: RobotDescription) -> None:
    red = Thing("apple_1", "apple", (box((0.2, 0.2, 0.2), (0, 0, 0), paint(255, 0, 0)),), (3.0, 1.5, 1.0))
    world = make_world(one_room(6.0, 4.0, (red,)), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    image = image_of(world)
    rows, columns = red_pixels(image.rgb)
    pixels, visible = image.camera.project(image.camera_in_map.inverse().apply([[2.9, 1.5, 1.0]]))
    assert visible[0]
    assert abs(columns.mean() + 0.5 - pixels[0, 0]) < 6 and abs(rows.mean() + 0.5 - pixels[0, 1]) < 6
    world.close()


def test_unequal_focal_lengths_and_an_off_centre_axis_are_honoured(robot: RobotDescription) -> None:
    red = Thing("apple_1", "apple", (box((0.1, 0.1, 0.1), (0, 0, 0), paint(255, 0, 0)),), (3.0, 1.7, 1.5))
    world = make_world(one_room(6.0, 4.0, (red,)), {"a": (robot, SE2(0.5, 2.0, 0.0))})
    camera = PinholeCamera(320, 240, 210.0, 260.0, 150.0, 130.0)
    pose = look_at((1.0, 2.0, 1.2), (5.0, 2.1, 1.2))
    world.renderer.update(world.data)
    rgb, _ = world.renderer.rgbd(camera, pose)
    rows, columns = red_pixels(rgb)
    pixel = camera.project(pose.inverse().apply([[2.95, 1.7, 1.5]]))[0][0]
    assert abs(columns.mean() + 0.5 - pixel[0]) < 2.5 and abs(rows.mean() + 0.5 - pixel[1]) < 2.5
    world.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_leaving_out_what_cannot_be_seen_changes_no_pixel(seed: int, robot: RobotDescription) -> None:
    design = draw_design(seed, 0, None)
    assert design is not None
    house = assemble(design)
    world = make_world(house, {"a": (robot, SE2(1.0, 1.0, 0.0))})
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(12):
        room = house.record.rooms[rng.integers(len(house.record.rooms))].rect
        pose = SE2(rng.uniform(room[0], room[2]), rng.uniform(room[1], room[3]), rng.uniform(-3, 3))
        world.place("a", pose)
        world._robots["a"].pitch = float(rng.uniform(-0.5, 1.0))
        camera = robot.views["front"].intrinsics(160, 120)
        optical = world.camera_in_map("a", "front")
        world.culler.restore()
        world.renderer.update(world.data)
        everything = world.renderer.geom_ids(camera, optical)
        world._draw(camera, optical)
        assert np.array_equal(world.renderer.geom_ids(camera, optical), everything)
        drawn.append(world.renderer._ready()[1].ngeom)
    assert np.mean(drawn) < 0.5 * world.model.ngeom
    world.close()


def test_look_at_straight_down_is_refused() -> None:
    with pytest.raises(ValueError, match="look_at"):
        look_at((0, 0, 1), (0, 0, 0))


def test_two_worlds_take_turns_in_one_context(robot: RobotDescription) -> None:
    near = make_world(one_room(6.0, 4.0), {"a": (robot, SE2(4.0, 2.0, 0.0))})
    far = make_world(one_room(8.0, 4.0), {"a": (robot, SE2(1.0, 2.0, 0.0))})
    for _ in range(3):
        assert image_of(near).depth[240, 320] == pytest.approx(1.9, abs=0.005)
        assert image_of(far).depth[240, 320] == pytest.approx(6.9, abs=0.02)
    near.close()
    assert image_of(far).depth[240, 320] == pytest.approx(6.9, abs=0.02)
    far.close()
