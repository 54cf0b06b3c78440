"""Sensor messages: exact round trips, what ROS says of the fields, and no look at each byte."""

from __future__ import annotations

import math
import statistics
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy")

from sensor_msgs.msg import Image, PointCloud2, PointField

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE2, SE3
from mnav_core.masks import encode
from mnav_core.messages import captures, detections, poses, sensing, stamps
from mnav_core.motion import Velocity
from mnav_core.sensing import (
    ArticulationState,
    Detection,
    DetectionFrame,
    InteractionKind,
    Odometry,
    RgbdImage,
)

RNG = np.random.default_rng(5)


@given(st.integers(0, 10**9))
def test_millisecond_times_survive(milliseconds: int) -> None:
    seconds = round(milliseconds * 1e-3, 9)
    assert stamps.to_seconds(stamps.to_time(seconds)) == seconds


def test_time_has_whole_seconds_and_nanoseconds() -> None:
    message = stamps.to_time(12.25)
    assert (message.sec, message.nanosec) == (12, 250_000_000)
    # 2.9999999999 s is nearer to 3 s than to any other nanosecond.
    assert (stamps.to_time(2.9999999999).sec, stamps.to_time(2.9999999999).nanosec) == (3, 0)
    with pytest.raises(ValueError, match="-1"):
        stamps.to_time(-1.0)


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(-math.pi, math.pi))
def test_planar_pose_survives(x: float, y: float, yaw: float) -> None:
    back = poses.se2_of(poses.to_pose(SE2(x, y, yaw)))
    assert (back.x, back.y) == (x, y)
    assert abs(math.remainder(back.yaw - yaw, 2 * math.pi)) < 1e-14


def test_quarter_turn_is_known_to_ros() -> None:
    q = poses.to_pose(SE2(0, 0, math.pi / 2)).orientation
    assert (q.x, q.y) == (0.0, 0.0)
    assert q.z == pytest.approx(math.sqrt(0.5)) and q.w == pytest.approx(math.sqrt(0.5))


def test_transform_is_the_child_in_the_parent() -> None:
    message = poses.to_transform("base_link", "lidar", SE3.from_rpy((0.3, 0.0, 0.35), (0.1, -0.2, 0.3)), 1.5)
    assert (message.header.frame_id, message.child_frame_id) == ("base_link", "lidar")
    np.testing.assert_allclose(
        poses.se3_of_transform(message).matrix(),
        SE3.from_rpy((0.3, 0.0, 0.35), (0.1, -0.2, 0.3)).matrix(),
        atol=1e-15,
    )


def test_odometry_survives() -> None:
    record = Odometry(3.1, SE2(1.25, -2.5, 0.75), Velocity(0.5, 0.0, -0.25))
    message = sensing.to_odometry(record)
    assert (message.header.frame_id, message.child_frame_id) == ("odom", "base_link")
    back = sensing.odometry_of(message)
    assert back.stamp_s == 3.1 and back.velocity == record.velocity
    assert back.pose.yaw == pytest.approx(0.75, abs=1e-15)


def test_cloud_survives_bitwise() -> None:
    points = RNG.normal(size=(1000, 3)).astype(np.float32)
    message = sensing.to_point_cloud(points, "lidar", 2.0)
    assert (message.width, message.height, message.point_step, message.row_step) == (1000, 1, 12, 12000)
    np.testing.assert_array_equal(sensing.points_of(message), points)


def test_cloud_of_a_foreign_driver_is_read() -> None:
    """Livox and Ouster put intensity and padding between the coordinates."""
    rows = np.zeros(4, np.dtype({"names": "xiyz", "formats": ["<f4"] * 4, "offsets": [0, 4, 8, 16], "itemsize": 24}))
    rows["x"], rows["y"], rows["z"] = [1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]
    fields = [
        PointField(name=n, offset=o, datatype=PointField.FLOAT32, count=1)
        for n, o in (("x", 0), ("intensity", 4), ("y", 8), ("z", 16))
    ]
    message = PointCloud2(height=2, width=2, fields=fields, point_step=24, row_step=48, data=rows.tobytes())
    np.testing.assert_array_equal(sensing.points_of(message), [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]])


def test_cloud_without_coordinates_or_cut_short_is_refused() -> None:
    with pytest.raises(ValueError, match="'x' is missing"):
        sensing.points_of(PointCloud2())
    message = sensing.to_point_cloud(np.ones((4, 3), np.float32), "lidar", 0.0)
    message.width = 5
    with pytest.raises(ValueError, match="48 bytes"):
        sensing.points_of(message)


def test_images_survive_bitwise() -> None:
    rgb = RNG.integers(0, 256, (48, 64, 3), np.uint8)
    depth = RNG.uniform(0, 5, (48, 64)).astype(np.float32)
    image = sensing.to_rgb_image(rgb, "camera", 1.0)
    assert (image.encoding, image.step, image.height, image.width) == ("rgb8", 192, 48, 64)
    np.testing.assert_array_equal(sensing.rgb_of(image), rgb)
    message = sensing.to_depth_image(depth, "camera", 1.0)
    assert (message.encoding, message.step) == ("32FC1", 256)
    np.testing.assert_array_equal(sensing.depth_of(message), depth)


def test_foreign_images_are_read() -> None:
    millimetres = np.array([[0, 1500], [65535, 250]], "<u2")
    message = Image(height=2, width=2, encoding="16UC1", step=4, data=millimetres.tobytes())
    np.testing.assert_allclose(sensing.depth_of(message), [[0, 1.5], [65.535, 0.25]], rtol=1e-6)
    bgr = Image(height=1, width=1, encoding="bgr8", step=8, data=bytes([1, 2, 3, 0, 0, 0, 0, 0]))
    assert sensing.rgb_of(bgr).tolist() == [[[3, 2, 1]]]
    endless = Image(height=1, width=2, encoding="32FC1", step=8, data=np.array([np.inf, 2.0], "<f4").tobytes())
    assert sensing.depth_of(endless).tolist() == [[0.0, 2.0]]


def test_images_that_lie_are_refused() -> None:
    with pytest.raises(ValueError, match="mono8"):
        sensing.rgb_of(Image(height=1, width=1, encoding="mono8", step=1, data=b"1"))
    with pytest.raises(ValueError, match="12 bytes"):
        sensing.rgb_of(Image(height=2, width=4, encoding="rgb8", step=12, data=bytes(12)))


def test_camera_info_moves_the_pixel_centre_by_half() -> None:
    camera = PinholeCamera.from_hfov(640, 480, math.pi / 2)
    message = sensing.to_camera_info(camera, "camera", 0.0)
    assert (message.k[2], message.k[5]) == (319.5, 239.5)
    assert message.k[0] == pytest.approx(320.0)
    assert sensing.camera_of(message) == camera


def test_head_pitch_is_found_among_joints() -> None:
    message = sensing.to_head_state(0.25, 1.0)
    message.name = ["arm", *message.name]
    message.position = [1.0, 0.25]
    assert sensing.head_pitch_of(message) == 0.25
    message.name = ["arm", "wrist"]
    assert sensing.head_pitch_of(message) is None


def frame() -> DetectionFrame:
    mask = np.zeros((480, 640), bool)
    mask[100:120, 200:240] = True
    camera = PinholeCamera.from_hfov(640, 480, math.pi / 2)
    pose = SE3.from_rpy((1.0, 2.0, 1.25), (-1.5, 0.0, 0.3))
    box = (200.0, 100.0, 240.0, 120.0)
    seen = Detection("x7", "egg", 1.0, box, encode(mask), (0.1, 0.2, 2.5), (0.05, 0.06, 0.05))
    door = Detection(
        "d1", "door", 0.5, box, None, (0, 0, 3), (1, 2, 0.05), InteractionKind.CHANNEL, ArticulationState.OPEN
    )
    return DetectionFrame("front", 4.5, camera, pose, (seen, door))


def test_detections_survive() -> None:
    record = frame()
    message = detections.to_detection_array(record)
    assert message.header.frame_id == "camera_front_optical_frame"
    assert list(message.detections[0].mask.counts)[:2] == [200 * 480 + 100, 20]
    back = detections.detection_frame_of(message, record.camera_in_map)
    assert back.detections == record.detections
    assert (back.view, back.stamp_s, back.camera) == (record.view, record.stamp_s, record.camera)


def test_captured_view_keeps_depth_exactly_and_colour_nearly() -> None:
    gradient = np.linspace(0, 255, 64, dtype=np.uint8)
    rgb = np.stack([np.tile(gradient, (48, 1))] * 3, axis=-1)
    depth = RNG.uniform(0.3, 5.0, (48, 64)).astype(np.float32)
    camera = PinholeCamera.from_hfov(64, 48, 1.2)
    image = RgbdImage("left", 7.5, camera, SE3.from_rpy((1, 2, 3), (0.3, 0.2, 0.1)), rgb, depth)
    back = captures.rgbd_of(captures.to_captured_view(image, with_depth=True))
    np.testing.assert_array_equal(back.depth, depth)
    assert np.abs(back.rgb.astype(int) - rgb).max() <= 8
    assert (back.view, back.stamp_s, back.camera) == ("left", 7.5, camera)
    np.testing.assert_allclose(back.camera_in_map.matrix(), image.camera_in_map.matrix(), atol=1e-15)
    bare = captures.rgbd_of(captures.to_captured_view(image, with_depth=False))
    assert bare.depth.shape == (48, 64) and not bare.depth.any()


def test_vga_image_becomes_a_message_within_two_milliseconds() -> None:
    rgb = RNG.integers(0, 256, (480, 640, 3), np.uint8)
    times = []
    for _ in range(15):
        start = time.perf_counter()
        sensing.to_rgb_image(rgb, "camera", 1.0)
        times.append(time.perf_counter() - start)
    assert statistics.median(times) <= 2e-3
