"""What sensors deliver: odometry, points, images, camera intrinsics, the head's joint."""

from __future__ import annotations

import sys

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry as OdometryMessage
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2, PointField
from std_msgs.msg import Header

from mnav_core import frames
from mnav_core.cameras import PinholeCamera
from mnav_core.messages.buffers import to_array
from mnav_core.messages.poses import se2_of, to_pose
from mnav_core.messages.stamps import to_seconds, to_time
from mnav_core.motion import Velocity
from mnav_core.sensing import Odometry

_NATIVE_BIG = sys.byteorder == "big"


def header(frame: str, stamp_s: float) -> Header:
    """A header."""
    return Header(frame_id=frame, stamp=to_time(stamp_s))


def to_twist(velocity: Velocity) -> Twist:
    """Twist of a base velocity."""
    message = Twist()
    message.linear.x, message.linear.y = float(velocity.vx), float(velocity.vy)
    message.angular.z = float(velocity.wz)
    return message


def to_twist_stamped(velocity: Velocity, stamp_s: float) -> TwistStamped:
    """Stamped twist in the base frame."""
    return TwistStamped(header=header(frames.BASE, stamp_s), twist=to_twist(velocity))


def velocity_of(twist: Twist) -> Velocity:
    """Base velocity of a twist."""
    return Velocity(twist.linear.x, twist.linear.y, twist.angular.z)


def to_odometry(odometry: Odometry) -> OdometryMessage:
    """Odometry message, base in `odom`."""
    message = OdometryMessage(header=header(frames.ODOM, odometry.stamp_s), child_frame_id=frames.BASE)
    message.pose.pose = to_pose(odometry.pose)
    message.twist.twist = to_twist(odometry.velocity)
    return message


def odometry_of(message: OdometryMessage) -> Odometry:
    """Odometry record."""
    return Odometry(
        to_seconds(message.header.stamp), se2_of(message.pose.pose), velocity_of(message.twist.twist)
    )


def to_point_cloud(points: NDArray[np.float32], frame: str, stamp_s: float) -> PointCloud2:
    """Cloud of points (N, 3), fields x, y, z as float32."""
    xyz = np.ascontiguousarray(points, np.float32)
    return PointCloud2(
        header=header(frame, stamp_s),
        height=1,
        width=len(xyz),
        fields=[
            PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1) for i, name in enumerate("xyz")
        ],
        is_bigendian=_NATIVE_BIG,
        point_step=12,
        row_step=12 * len(xyz),
        data=to_array(xyz),
        is_dense=bool(np.isfinite(xyz).all()),
    )


def points_of(message: PointCloud2) -> NDArray[np.float32]:
    """Points (N, 3) of any cloud with float32 fields x, y, z. Raises ValueError when it has none or is cut short."""
    offsets = {f.name: f.offset for f in message.fields if f.datatype == PointField.FLOAT32}
    missing = [name for name in "xyz" if name not in offsets]
    if missing:
        named = ", ".join(f.name for f in message.fields) or "none"
        raise ValueError(f"cloud fields {named}: float32 field {missing[0]!r} is missing, allowed: x, y, z")
    count, step = message.width * message.height, message.point_step
    data = np.frombuffer(message.data, np.uint8)
    if len(data) < count * step:
        raise ValueError(f"cloud data has {len(data)} bytes, allowed: {count} points of {step} bytes")
    order = ">" if message.is_bigendian else "<"
    if [offsets[n] for n in "xyz"] == [0, 4, 8] and step == 12:
        return data[: count * 12].view(f"{order}f4").reshape(-1, 3).astype(np.float32, copy=False)
    rows = data[: count * step].reshape(count, step)
    columns = [rows[:, offsets[n] : offsets[n] + 4].copy().view(f"{order}f4")[:, 0] for n in "xyz"]
    return np.stack(columns, axis=1).astype(np.float32)


def to_rgb_image(rgb: NDArray[np.uint8], frame: str, stamp_s: float) -> Image:
    """rgb8 image of an array (H, W, 3)."""
    height, width = rgb.shape[:2]
    return Image(
        header=header(frame, stamp_s), height=height, width=width, encoding="rgb8", step=3 * width, data=to_array(rgb)
    )


def to_depth_image(depth: NDArray[np.float32], frame: str, stamp_s: float) -> Image:
    """32FC1 image of depths (H, W) in metres along the optical axis, 0 where there is none."""
    metres = np.ascontiguousarray(depth, np.float32)
    height, width = metres.shape
    return Image(
        header=header(frame, stamp_s),
        height=height,
        width=width,
        encoding="32FC1",
        is_bigendian=int(_NATIVE_BIG),
        step=4 * width,
        data=to_array(metres),
    )


def _rows(message: Image, bytes_per_pixel: int) -> NDArray[np.uint8]:
    used = message.width * bytes_per_pixel
    data = np.frombuffer(message.data, np.uint8)
    if message.step < used or len(data) < message.height * message.step:
        raise ValueError(
            f"image {message.width}x{message.height} {message.encoding}: step {message.step}, {len(data)} bytes,"
            f" allowed: at least {used} bytes a row"
        )
    rows = data[: message.height * message.step].reshape(message.height, message.step)
    return rows if message.step == used else np.ascontiguousarray(rows[:, :used])


def rgb_of(message: Image) -> NDArray[np.uint8]:
    """RGB (H, W, 3) uint8 of an rgb8 or bgr8 image. Raises ValueError for another encoding."""
    if message.encoding not in ("rgb8", "bgr8"):
        raise ValueError(f"image encoding {message.encoding!r}, allowed: rgb8, bgr8")
    image = _rows(message, 3).reshape(message.height, message.width, 3)
    return image if message.encoding == "rgb8" else np.ascontiguousarray(image[..., ::-1])


def depth_of(message: Image) -> NDArray[np.float32]:
    """Depth (H, W) float32 in metres of a 32FC1 (metres) or 16UC1 (millimetres) image, 0 where there is none.

    Raises ValueError for another encoding.
    """
    order = ">" if message.is_bigendian else "<"
    if message.encoding == "32FC1":
        metres = _rows(message, 4).view(f"{order}f4").astype(np.float32, copy=False)
        return metres if np.isfinite(metres).all() else np.where(np.isfinite(metres), metres, np.float32(0.0))
    if message.encoding == "16UC1":
        return _rows(message, 2).view(f"{order}u2").astype(np.float32) * np.float32(0.001)
    raise ValueError(f"depth encoding {message.encoding!r}, allowed: 32FC1, 16UC1")


def to_camera_info(camera: PinholeCamera, frame: str, stamp_s: float) -> CameraInfo:
    """Intrinsics of an undistorted camera. ROS has pixel centres at whole coordinates, records at whole plus a half."""
    cx, cy = camera.cx - 0.5, camera.cy - 0.5
    message = CameraInfo(header=header(frame, stamp_s), height=camera.height, width=camera.width)
    message.distortion_model = "plumb_bob"
    message.d = [0.0] * 5
    message.k = [camera.fx, 0.0, cx, 0.0, camera.fy, cy, 0.0, 0.0, 1.0]
    message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    message.p = [camera.fx, 0.0, cx, 0.0, 0.0, camera.fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    return message


def camera_of(message: CameraInfo) -> PinholeCamera:
    """Pinhole camera of the rectified image. Raises ValueError when the focal length is not positive."""
    k = message.k
    if not (k[0] > 0.0 and k[4] > 0.0):
        raise ValueError(f"camera_info: fx = {k[0]}, fy = {k[4]}, allowed: above 0")
    return PinholeCamera(message.width, message.height, k[0], k[4], k[2] + 0.5, k[5] + 0.5)


def to_head_state(pitch_rad: float, stamp_s: float) -> JointState:
    """State of, or command to, the tilting head (rad, positive looks down)."""
    return JointState(header=header("", stamp_s), name=[frames.HEAD_JOINT], position=[float(pitch_rad)])


def head_pitch_of(message: JointState) -> float | None:
    """Pitch of the head in a joint state, None when the joint is not in it."""
    for name, position in zip(message.name, message.position, strict=False):
        if name == frames.HEAD_JOINT:
            return float(position)
    return None
