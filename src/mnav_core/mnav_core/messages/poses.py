"""Poses and transforms."""

from __future__ import annotations

import math

from geometry_msgs.msg import Pose, Pose2D, PoseStamped, Quaternion, Transform, TransformStamped

from mnav_core import frames
from mnav_core.geometry import SE2, SE3, wrap_angle
from mnav_core.messages.stamps import to_time


def yaw_quaternion(yaw: float) -> Quaternion:
    """Rotation about z."""
    return Quaternion(z=math.sin(yaw / 2.0), w=math.cos(yaw / 2.0))


def yaw_of(q: Quaternion) -> float:
    """Heading in (-pi, pi] of a rotation; exact for one about z alone."""
    if q.x == 0.0 and q.y == 0.0:
        return wrap_angle(2.0 * math.atan2(q.z, q.w))
    return math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))


def has_no_rotation(q: Quaternion) -> bool:
    """Whether all four components are zero: the sender leaves the heading free."""
    return bool(q.x == 0.0 and q.y == 0.0 and q.z == 0.0 and q.w == 0.0)


def to_pose(pose: SE2 | SE3) -> Pose:
    """Pose message."""
    message = Pose()
    if isinstance(pose, SE2):
        message.position.x, message.position.y = float(pose.x), float(pose.y)
        message.orientation = yaw_quaternion(pose.yaw)
        return message
    message.position.x, message.position.y, message.position.z = (float(v) for v in pose.translation)
    q = message.orientation
    q.x, q.y, q.z, q.w = (float(v) for v in pose.quaternion())
    return message


def se2_of(message: Pose) -> SE2:
    """Planar part of a pose message."""
    return SE2(message.position.x, message.position.y, yaw_of(message.orientation))


def se3_of(message: Pose) -> SE3:
    """Pose of a message. Raises ValueError when its quaternion has no length."""
    p, q = message.position, message.orientation
    return SE3.from_quaternion((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def to_pose_stamped(pose: SE2, stamp_s: float, frame: str = frames.MAP) -> PoseStamped:
    """Stamped pose in `map`."""
    message = PoseStamped(pose=to_pose(pose))
    message.header.frame_id, message.header.stamp = frame, to_time(stamp_s)
    return message


def to_pose2d(pose: SE2) -> Pose2D:
    """Pose2D message."""
    return Pose2D(x=float(pose.x), y=float(pose.y), theta=float(pose.yaw))


def se2_of_pose2d(message: Pose2D) -> SE2:
    """Pose of a Pose2D message."""
    return SE2(message.x, message.y, message.theta)


def to_transform(parent: str, child: str, pose: SE2 | SE3, stamp_s: float) -> TransformStamped:
    """Transform message: the pose of `child` in `parent`."""
    as_pose = to_pose(pose)
    transform = Transform(rotation=as_pose.orientation)
    p, t = as_pose.position, transform.translation
    t.x, t.y, t.z = p.x, p.y, p.z
    message = TransformStamped(child_frame_id=child, transform=transform)
    message.header.frame_id, message.header.stamp = parent, to_time(stamp_s)
    return message


def se3_of_transform(message: TransformStamped) -> SE3:
    """Pose of the child frame in the header's frame. Raises ValueError when the quaternion has no length."""
    t, q = message.transform.translation, message.transform.rotation
    if q.x == 0.0 and q.y == 0.0 and (q.z != 0.0 or q.w != 0.0):
        return SE2(t.x, t.y, yaw_of(q)).to_se3(t.z)
    return SE3.from_quaternion((t.x, t.y, t.z), (q.x, q.y, q.z, q.w))
