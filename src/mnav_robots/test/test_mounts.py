"""Mounts of a LiDAR whose driver rotates the cloud and not the IMU, against ray-cast floors and walls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.geometry import SE2, SE3
from mnav_core.robot import LidarDescription, find_robot
from mnav_core.sensing import SensorRequest
from mnav_core.vendor import VendorDescription
from mnav_robots.mount_check import cloud_pose, complaint, gravity_tilt_deg, share_outside
from mnav_robots.mounts_node import fixed_mounts

world = pytest.importorskip("mnav_sim_bridge.flat_world")

# The rig of a Go2 whose Mid-360 is pitched 60 degrees down; the driver's setting levels the cloud.
MOUNT = LidarDescription(xyz=(0.295, 0.0, 0.49), rpy=(0.0, math.radians(60.0), 0.0))
LEVELLED = MOUNT.rpy
UNSET = (0.0, 0.0, 0.0)


def cloud_of(applied: tuple[float, float, float]) -> np.ndarray:
    """What the driver tells: points of the sensor, rotated by its setting."""
    robot = find_robot("go2").model_copy(update={"lidar": MOUNT})
    yard = world.FlatWorld(world.Yard((2.0, 3.0)), {"go2": (robot, SE2(0.0, 0.0))})
    yard.reset(0)
    scan = yard.sense("go2", SensorRequest(scan=True)).scan
    return SE3.from_rpy((0.0, 0.0, 0.0), applied).apply(scan.points)


def acceleration() -> np.ndarray:
    """What the IMU feels: it keeps the mount's rotation, whatever the driver does to the cloud."""
    return MOUNT.pose_in_base().rotation.T @ np.array([0.0, 0.0, 9.81])


@pytest.mark.parametrize("applied", [UNSET, LEVELLED])
def test_the_wall_ahead_is_where_it_is(applied: tuple[float, float, float]) -> None:
    base = cloud_pose(MOUNT, applied).apply(cloud_of(applied))
    assert base[:, 0].max() == pytest.approx(2.0, abs=1e-3) and base[:, 2].min() == pytest.approx(0.0, abs=1e-3)
    assert gravity_tilt_deg(acceleration(), MOUNT.pose_in_base()) == pytest.approx(0.0, abs=1e-6)
    assert complaint(0.0, share_outside(cloud_of(applied), MOUNT, applied)) == ""


@pytest.mark.parametrize(("done", "said"), [(LEVELLED, UNSET), (UNSET, LEVELLED)])
def test_a_setting_that_is_not_in_the_robot_file_is_found(
    done: tuple[float, float, float], said: tuple[float, float, float]
) -> None:
    outside = share_outside(cloud_of(done), MOUNT, said)
    assert complaint(gravity_tilt_deg(acceleration(), MOUNT.pose_in_base()), outside).startswith("vendor.cloud_rpy")


def test_a_mount_that_is_said_to_be_level_is_found_by_its_imu() -> None:
    level = MOUNT.model_copy(update={"rpy": UNSET})
    tilt = gravity_tilt_deg(acceleration(), level.pose_in_base())
    assert tilt == pytest.approx(60.0)
    # The driver levels the cloud, so that the maps look right: only the IMU knows, and the elevations.
    assert complaint(tilt, 0.0).startswith("lidar.rpy")
    both = complaint(tilt, share_outside(cloud_of(LEVELLED), level, UNSET))
    assert "vendor.cloud_rpy" in both and "lidar.rpy" in both
    assert share_outside(np.zeros((0, 3), np.float32), level, UNSET) is None
    with pytest.raises(ValueError, match="acceleration 0"):
        gravity_tilt_deg(np.zeros(3), level.pose_in_base())


def test_frames_of_the_drivers_are_those_of_the_contract() -> None:
    robot = find_robot("go2")
    named = robot.vendor.model_copy(update={"cloud_rpy": LEVELLED})
    mounts = fixed_mounts(robot.model_copy(update={"lidar": MOUNT, "vendor": named}))
    assert set(mounts) == {"lidar", "livox_frame", "camera_front_optical_frame", "camera_color_optical_frame"}
    # Rotated by the driver, the cloud has the base's axes.
    assert mounts["livox_frame"].rotation == pytest.approx(np.eye(3), abs=1e-12)
    assert VendorDescription().frames == {}
    cobot = find_robot("cobot_magic")
    assert "camera_front_optical_frame" not in fixed_mounts(cobot), "its head tilts"
