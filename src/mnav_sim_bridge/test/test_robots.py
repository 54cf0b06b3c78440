"""The robots' bodies in the model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.robot import find_robot
from mnav_sim_bridge.house.emitter import Group
from mnav_sim_bridge.robots.bodies import hull_height
from mnav_sim_bridge.testing.scenes import one_room
from mnav_sim_bridge.triangles import geom_mesh, world_vertices
from mnav_sim_bridge.world import make_world


@pytest.mark.parametrize(("name", "height"), [("cobot_magic", 1.4), ("go1", 0.5), ("go2", 0.5)])
def test_a_robot_looks_as_large_as_its_footprint_says(name: str, height: float) -> None:
    robot = find_robot(name)
    world = make_world(one_room(6, 4), {"a": (robot, SE2(3.0, 2.0, 0.0))})
    points = []
    for geom in range(world.model.ngeom):
        if world.model.geom_group[geom] == Group.ROBOT:
            mesh = geom_mesh(world.model, geom)
            assert mesh is not None
            points.append(world_vertices(mesh, world.data, geom))
    low, high = np.concatenate(points).min(0) - [3, 2, 0], np.concatenate(points).max(0) - [3, 2, 0]
    xs, ys = [c[0] for c in robot.footprint], [c[1] for c in robot.footprint]
    assert low[0] > min(xs) - 0.05 and high[0] < max(xs) + 0.05
    assert low[1] > min(ys) - 0.05 and high[1] < max(ys) + 0.05
    assert -0.005 < low[2] < 0.02 and 0.8 * height < high[2] < height


def test_the_go2_mesh_is_light_enough_to_draw() -> None:
    world = make_world(one_room(6, 4), {"a": (find_robot("go2"), SE2(3.0, 2.0, 0.0))})
    assert 5000 < world.model.nmeshface < 12000


def test_two_robots_of_one_kind_share_meshes_and_nothing_else() -> None:
    go2 = find_robot("go2")
    world = make_world(one_room(6, 4), {"a": (go2, SE2(1.0, 2.0)), "b": (go2, SE2(4.0, 2.0))})
    assert world.model.nmesh == 4
    assert world.model.nu == 6 and world.model.nv == 6


def test_the_hull_covers_every_camera() -> None:
    for name in ("cobot_magic", "go1", "go2"):
        robot = find_robot(name)
        assert hull_height(robot) > max(c.xyz[2] for c in robot.views.values())


def test_own_cameras_see_past_their_own_body() -> None:
    # A camera that starts inside a part of its robot sees only that part.
    for name in ("cobot_magic", "go1", "go2"):
        robot = find_robot(name)
        world = make_world(one_room(6, 4), {"a": (robot, SE2(3.0, 2.0, 0.0))})
        for view in robot.views:
            pose = world.camera_in_map("a", view)
            groups = np.ones(6, np.uint8)
            groups[Group.HIDDEN] = 0
            ahead, ids = pose.rotation[:, 2].copy(), np.zeros(1, np.int32)
            hit = mujoco.mj_ray(world.model, world.data, pose.translation, ahead, groups, 1, -1, ids)
            assert hit > 1.0, (name, view)
