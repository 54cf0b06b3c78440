"""Compile every kernel once, so that the first real scan does not wait for it."""

from __future__ import annotations

import numpy as np

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import OPTICAL_IN_BODY, SE2, SE3
from mnav_core.robot import CameraDescription, Limits, RobotDescription, Traversal
from mnav_core.sensing import DetectionFrame, PointCloud, RgbdImage
from mnav_perception.exploration.frontiers import find_frontiers
from mnav_perception.mapper import Mapper
from mnav_perception.mapping.deltas import DeltaReader
from mnav_perception.mapping.voxels import VoxelMap


def warm() -> None:
    """Run every kernel of this package on tiny inputs."""
    mapper = Mapper(_robot())
    pose = SE2(0.0, 0.0)
    mapper.mark_start(pose)
    sensor = SE3(np.eye(3), np.array([0.0, 0.0, 0.3]))
    points = np.array([[1.0, 0.2, 0.0], [2.0, 0.0, -0.3], [np.nan, 0.0, 0.0]], np.float32)
    mapper.integrate_scan(PointCloud(0.0, points, sensor))
    camera = PinholeCamera.from_hfov(4, 4, 1.5)
    view = SE3(OPTICAL_IN_BODY, np.array([0.0, 0.0, 0.5]))
    image = RgbdImage("front", 0.0, camera, view, np.zeros((4, 4, 3), np.uint8), np.ones((4, 4), np.float32))
    mapper.integrate_depth(image)
    mapper.look_at(DetectionFrame("front", 0.0, camera, view, ()))
    find_frontiers(mapper.snapshot(0.0), pose, min_size_m=0.0)
    DeltaReader(VoxelMap(mapper.settings.voxels)).apply(mapper.take_delta(0.0))


def _robot() -> RobotDescription:
    return RobotDescription(
        name="warm",
        footprint=((0.2, 0.2), (-0.2, 0.2), (-0.2, -0.2), (0.2, -0.2)),
        limits=Limits(vx_max=0.1, wz_max=0.1, accel=1.0, decel=1.0, angular_accel=1.0, angular_decel=1.0),
        traversal=Traversal(climb_m=0.05, height_m=1.0),
        views={"front": CameraDescription(xyz=(0.0, 0.0, 0.5))},
        success_view="front",
        lidar=None,
    )


if __name__ == "__main__":
    warm()
