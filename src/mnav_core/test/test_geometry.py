"""Planar and spatial poses."""

import math

import numpy as np
import pytest
import transforms3d
from hypothesis import given
from hypothesis import strategies as st

from mnav_core.geometry import OPTICAL_IN_BODY, SE2, SE3, wrap_angle

finite = st.floats(-50.0, 50.0)
angle = st.floats(-math.pi, math.pi)
poses = st.builds(SE2, finite, finite, angle)


def test_a_quarter_turn_moves_the_child_to_the_left() -> None:
    pose = SE2(1.0, 2.0, math.pi / 2) @ SE2(3.0, 0.5, 0.25)
    assert (pose.x, pose.y) == pytest.approx((0.5, 5.0))
    assert pose.yaw == pytest.approx(math.pi / 2 + 0.25)


@given(poses, poses)
def test_planar_and_spatial_composition_agree(a: SE2, b: SE2) -> None:
    planar, spatial = a @ b, (a.to_se3() @ b.to_se3()).to_se2()
    assert (planar.x, planar.y) == pytest.approx((spatial.x, spatial.y), abs=1e-9)
    assert wrap_angle(planar.yaw - spatial.yaw) == pytest.approx(0.0, abs=1e-9)


@given(poses)
def test_inverse_undoes(a: SE2) -> None:
    same = a.inverse() @ a
    assert (same.x, same.y, wrap_angle(same.yaw)) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


@given(st.floats(-1000.0, 1000.0))
def test_wrapped_angles_lie_in_the_half_open_interval(a: float) -> None:
    w = wrap_angle(a)
    assert -math.pi < w <= math.pi and math.cos(w) == pytest.approx(math.cos(a), abs=1e-9)


def test_minus_pi_wraps_to_pi() -> None:
    assert wrap_angle(-math.pi) == math.pi


@given(st.tuples(angle, st.floats(-1.5, 1.5), angle))
def test_roll_pitch_yaw_is_the_convention_of_urdf(rpy: tuple[float, float, float]) -> None:
    expected = transforms3d.euler.euler2mat(*rpy, axes="sxyz")
    np.testing.assert_allclose(SE3.from_rpy((0, 0, 0), rpy).rotation, expected, atol=1e-12)


def test_quaternions_are_x_y_z_w() -> None:
    half = math.sqrt(0.5)
    pose = SE3.from_quaternion((1.0, 2.0, 3.0), (0.0, 0.0, half, half))
    np.testing.assert_allclose(pose.apply([1.0, 0.0, 0.0]), [1.0, 3.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(np.abs(pose.quaternion()), [0.0, 0.0, half, half], atol=1e-12)


def test_the_optical_frame_looks_along_the_body_x_axis() -> None:
    np.testing.assert_array_equal(OPTICAL_IN_BODY @ [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(OPTICAL_IN_BODY @ [1.0, 0.0, 0.0], [0.0, -1.0, 0.0])
    np.testing.assert_array_equal(OPTICAL_IN_BODY @ [0.0, 1.0, 0.0], [0.0, 0.0, -1.0])


def test_halfway_between_two_poses() -> None:
    a = SE3.identity()
    b = SE3.from_rpy((2.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    middle = a.interpolate(b, 0.5).to_se2()
    assert (middle.x, middle.y, middle.yaw) == pytest.approx((1.0, 0.0, 0.5))
