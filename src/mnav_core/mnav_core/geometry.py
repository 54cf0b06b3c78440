"""Rigid transforms in the plane and in space (REP-103: metres, radians, x forward, y left, z up)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

# Rotation of an optical frame (x right, y down, z forward, REP-103 suffix `_optical`) in its body frame.
OPTICAL_IN_BODY = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


def wrap_angle(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    wrapped = math.remainder(angle, 2.0 * math.pi)
    return math.pi if wrapped == -math.pi else wrapped


@dataclass(frozen=True)
class SE2:
    """A planar pose: metres and radians, yaw counter-clockwise."""

    x: float
    y: float
    yaw: float = 0.0

    def __matmul__(self, other: SE2) -> SE2:
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return SE2(
            self.x + c * other.x - s * other.y, self.y + s * other.x + c * other.y, wrap_angle(self.yaw + other.yaw)
        )

    def inverse(self) -> SE2:
        """The pose of the parent frame in this one."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return SE2(-c * self.x - s * self.y, s * self.x - c * self.y, wrap_angle(-self.yaw))

    def distance_to(self, x: float, y: float) -> float:
        """Planar distance in metres from this origin to a point of the parent frame."""
        return math.hypot(x - self.x, y - self.y)

    def bearing_to(self, x: float, y: float) -> float:
        """Direction of a point of the parent frame, relative to this heading, in (-pi, pi]."""
        return wrap_angle(math.atan2(y - self.y, x - self.x) - self.yaw)

    def to_se3(self, z: float = 0.0) -> SE3:
        """The same pose in space at height `z`."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return SE3(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([self.x, self.y, z]))


@dataclass(frozen=True, eq=False)
class SE3:
    """A pose in space: rotation (3, 3) and translation (3,) of this frame in its parent."""

    rotation: Array
    translation: Array

    @classmethod
    def identity(cls) -> SE3:
        """The pose of a frame in itself."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_quaternion(cls, translation: ArrayLike, xyzw: ArrayLike) -> SE3:
        """From a translation (3,) and a quaternion x, y, z, w. Raises ValueError when the quaternion has no length."""
        return cls(Rotation.from_quat(np.asarray(xyzw, float)).as_matrix(), np.asarray(translation, float))

    @classmethod
    def from_rpy(cls, translation: ArrayLike, rpy: ArrayLike) -> SE3:
        """From a translation and fixed-axis roll, pitch, yaw in radians (URDF's convention)."""
        return cls(Rotation.from_euler("xyz", np.asarray(rpy, float)).as_matrix(), np.asarray(translation, float))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> SE3:
        """From a homogeneous matrix (4, 4)."""
        m = np.asarray(matrix, float)
        return cls(m[:3, :3].copy(), m[:3, 3].copy())

    def matrix(self) -> Array:
        """Homogeneous matrix (4, 4)."""
        m = np.eye(4)
        m[:3, :3] = self.rotation
        m[:3, 3] = self.translation
        return m

    def quaternion(self) -> Array:
        """Quaternion (4,) as x, y, z, w."""
        return np.asarray(Rotation.from_matrix(self.rotation).as_quat(), float)

    def __matmul__(self, other: SE3) -> SE3:
        return SE3(self.rotation @ other.rotation, self.rotation @ other.translation + self.translation)

    def inverse(self) -> SE3:
        """The pose of the parent frame in this one."""
        return SE3(self.rotation.T, -self.rotation.T @ self.translation)

    def apply(self, points: ArrayLike) -> Array:
        """Points (N, 3) or (3,) of this frame, in the parent frame."""
        return np.asarray(points, float) @ self.rotation.T + self.translation

    def to_se2(self) -> SE2:
        """The planar part: x, y and the heading of the x axis."""
        return SE2(
            float(self.translation[0]),
            float(self.translation[1]),
            math.atan2(float(self.rotation[1, 0]), float(self.rotation[0, 0])),
        )

    def interpolate(self, other: SE3, fraction: float) -> SE3:
        """The pose at `fraction` in [0, 1] of the way to `other`: linear translation, spherical rotation."""
        turn = Rotation.from_matrix(self.rotation.T @ other.rotation).as_rotvec()
        rotation = self.rotation @ Rotation.from_rotvec(fraction * turn).as_matrix()
        return SE3(rotation, (1.0 - fraction) * self.translation + fraction * other.translation)
