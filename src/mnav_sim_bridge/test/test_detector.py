"""Each limit of the restricted detector by a scene made to sit on both sides of it."""

from __future__ import annotations

import numpy as np
import pytest

from mnav_core import masks
from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE2
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import ArticulationState, Detection, InteractionKind, SensorRequest
from mnav_sim_bridge.detector import DetectionSettings, opaque_id, silhouette_pixels
from mnav_sim_bridge.house.palette import paint
from mnav_sim_bridge.house.shapes import Shape, box, sphere
from mnav_sim_bridge.testing.scenes import Drawer, Leaf, Thing, one_room
from mnav_sim_bridge.world import MujocoWorld, WorldSettings, make_world

pytestmark = pytest.mark.sim
RED = paint(200, 30, 30)
# The camera of a robot at (1, 2) looking along +x is at (1.1, 2, 1.25), its focal length 320 px.
START = SE2(1.0, 2.0, 0.0)
EYE = 1.1
FOCAL = 320.0


@pytest.fixture(scope="module")
def robot() -> RobotDescription:
    return find_robot("cobot_magic")


def cube(name: str, edge: float, x: float, y: float = 2.0, z: float = 1.25, category: str = "apple") -> Thing:
    return Thing(name, category, (box((edge, edge, edge), (0, 0, 0), RED),), (x, y, z))


def found(world: MujocoWorld, view: str = "front") -> dict[str, Detection]:
    frame = world.sense("a", SensorRequest(detect=(view,))).detections[0]
    assert frame.view == view and frame.camera.width == 640
    return {d.category: d for d in frame.detections}


def world_of(robot: RobotDescription, *things: Thing, settings: WorldSettings | None = None, **more) -> MujocoWorld:  # type: ignore[no-untyped-def]
    return make_world(one_room(8.0, 4.0, things, **more), {"a": (robot, START)}, settings or WorldSettings())


@pytest.mark.parametrize(("x", "seen"), [(EYE + 3.95, True), (EYE + 4.05, False)])
def test_the_range_is_four_metres_to_the_middle(robot: RobotDescription, x: float, seen: bool) -> None:
    assert ("apple" in found(world_of(robot, cube("apple_1", 0.3, x)))) is seen


@pytest.mark.parametrize(("edge", "seen"), [(0.05, True), (0.02, False)])
def test_sixteen_pixels_are_enough(robot: RobotDescription, edge: float, seen: bool) -> None:
    # A face of 5 cm at 3 m is 5.3 px wide, of 2 cm 2.1 px.
    assert ("apple" in found(world_of(robot, cube("apple_1", edge, EYE + 3.0)))) is seen


@pytest.mark.parametrize(("covered", "seen"), [(0.75, True), (0.85, False)])
def test_a_fifth_must_be_visible(robot: RobotDescription, covered: float, seen: bool) -> None:
    # A board at half the distance hides the lower part of a 0.4 m face 2 m away.
    target = Thing("apple_1", "apple", (box((0.01, 0.4, 0.4), (0, 0, 0), RED),), (EYE + 2.0, 2.0, 1.25))
    top = 1.25 + (-0.2 + 0.4 * covered) / 2
    board = Thing("board", "board", (box((0.01, 1.5, top), (0, 0, 0), paint(90, 90, 90)),), (EYE + 1.0, 2.0, top / 2))
    assert ("apple" in found(world_of(robot, target, board))) is seen


def test_boxes_masks_and_positions_agree_with_the_camera_model(robot: RobotDescription) -> None:
    apple = found(world_of(robot, cube("apple_1", 0.4, EYE + 2.2)))["apple"]
    # The near face is 2 m away: 64 px wide, around the middle of the image.
    assert apple.box == pytest.approx((288, 208, 352, 272), abs=1)
    assert apple.mask is not None and apple.mask.area == pytest.approx(64 * 64, rel=0.03)
    mask = masks.decode(apple.mask)
    assert mask.shape == (480, 640) and mask[240, 320]
    assert apple.center == pytest.approx((0.0, 0.0, 2.2), abs=1e-3)
    assert apple.size == pytest.approx((0.4, 0.4, 0.4), abs=1e-3)
    assert apple.score == 1.0 and apple.kind is InteractionKind.NONE and apple.state is ArticulationState.UNKNOWN


def test_a_door_needs_a_box_of_some_size(robot: RobotDescription) -> None:
    ahead = Leaf("door_1", (EYE + 3.0, 1.6), yaw=1.5708)
    edge_on = Leaf("door_1", (EYE + 2.6, 2.0), yaw=0.0)
    door = found(world_of(robot, leaves=(ahead,)))["door"]
    assert door.kind is InteractionKind.CHANNEL and door.state is ArticulationState.UNKNOWN
    # Seen on its 4 cm edge from 2.6 m it is under 5 px wide: enough pixels, too thin a box.
    assert "door" not in found(world_of(robot, leaves=(edge_on,)))
    thin = DetectionSettings(min_interactive_side_px=2.0)
    assert "door" in found(world_of(robot, leaves=(edge_on,), settings=WorldSettings(detection=thin)))


def test_a_drawer_is_a_container_and_its_content_hidden(robot: RobotDescription) -> None:
    seen = found(world_of(robot, drawers=(Drawer("drawer_1", (EYE + 2.0, 2.0, 1.25)),)))
    assert seen["drawer"].kind is InteractionKind.CONTAINER
    small = DetectionSettings(min_interactive_box_px=1e6)
    assert "drawer" not in found(
        world_of(robot, drawers=(Drawer("drawer_1", (EYE + 2.0, 2.0, 1.25)),), settings=WorldSettings(detection=small))
    )


def test_a_view_with_nothing_in_it_is_an_empty_frame_without_a_render(robot: RobotDescription) -> None:
    world = world_of(robot, cube("apple_1", 0.3, EYE + 2.0))
    assert "apple" in found(world)
    assert found(world, "back") == {}
    bare = world_of(robot)
    assert found(bare) == {}


def test_ids_are_opaque_stable_and_differ_per_robot_and_episode(robot: RobotDescription) -> None:
    house = one_room(8.0, 4.0, (cube("apple_1", 0.3, 4.0),))
    world = make_world(house, {"a": (robot, START), "b": (robot, SE2(1.0, 1.0, 0.4))}, seed=5)
    first = found(world)["apple"].entity_id
    assert "apple" not in first and found(world)["apple"].entity_id == first
    other = world.sense("b", SensorRequest(detect=("front",))).detections[0].detections
    assert [d.entity_id for d in other if d.category == "apple"] != [first]
    world.reset(6)
    assert found(world)["apple"].entity_id != first
    world.reset(5)
    assert found(world)["apple"].entity_id == first
    assert opaque_id("s", "x") != opaque_id("t", "x") != opaque_id("t", "y")


def test_truth_counts_the_pixels_that_the_mask_has(robot: RobotDescription) -> None:
    world = world_of(robot, cube("apple_1", 0.3, EYE + 2.0))
    apple = found(world)["apple"]
    assert apple.mask is not None
    assert world.truth().visible_pixels("a", "front", "apple_1") == apple.mask.area
    assert world.truth().visible_pixels("a", "back", "apple_1") == 0
    with pytest.raises(KeyError, match="pear_1"):
        world.truth().visible_pixels("a", "front", "pear_1")


@pytest.mark.parametrize("shape", [box((0.3, 0.2, 0.4), (0, 0, 0), RED), sphere(0.2, (0, 0, 0), RED)])
def test_the_silhouette_is_what_rendering_the_object_alone_shows(robot: RobotDescription, shape: Shape) -> None:
    world = world_of(robot, Thing("apple_1", "apple", (shape,), (EYE + 1.5, 2.2, 1.1), yaw=0.4))
    apple = found(world)["apple"]
    assert apple.mask is not None
    camera = robot.views["front"].intrinsics()
    entity = world.entity("apple_1")
    mesh = world.detector._mesh(entity.geoms[0])
    from mnav_sim_bridge.triangles import world_vertices

    points = world.camera_in_map("a", "front").inverse().apply(world_vertices(mesh, world.data, entity.geoms[0]))
    assert silhouette_pixels([points], camera) == pytest.approx(apple.mask.area, rel=0.04)


def test_a_silhouette_cut_by_the_image_plane_is_finite() -> None:
    camera = PinholeCamera.from_hfov(640, 480, 1.5708)
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-1.0, 1.0)])
    assert silhouette_pixels([corners], camera) == 640 * 480
    assert silhouette_pixels([corners - [0, 0, 5.0]], camera) == 0
