"""Pinhole cameras with different focal lengths."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnav_core.cameras import PinholeCamera

CAMERA = PinholeCamera(640, 480, 500.0, 400.0, 330.0, 250.0)


def test_a_point_is_projected_with_its_own_focal_length() -> None:
    pixels, visible = CAMERA.project([[0.2, -0.1, 2.0]])
    # 0.2 / 2 * 500 + 330 = 380; -0.1 / 2 * 400 + 250 = 230
    np.testing.assert_allclose(pixels, [[380.0, 230.0]])
    assert visible.all()


@given(st.floats(0.0, 639.9), st.floats(0.0, 479.9), st.floats(0.1, 30.0))
def test_unproject_inverts_project(u: float, v: float, depth: float) -> None:
    pixels, visible = CAMERA.project(CAMERA.unproject([[u, v]], [depth]))
    assert pixels[0] == pytest.approx((u, v), abs=1e-6)
    # On the very edge the rounding of the last bit decides on which side the pixel falls.
    assert visible[0] or min(u, v) < 1e-9


def test_points_behind_are_not_visible() -> None:
    _, visible = CAMERA.project([[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
    assert not visible.any()


def test_a_90_degree_camera_sees_its_corners_at_45_degrees() -> None:
    camera = PinholeCamera.from_hfov(640, 480, math.pi / 2)
    assert camera.fx == pytest.approx(320.0)
    assert camera.vfov_rad == pytest.approx(2 * math.atan(240 / 320))


def test_scaling_keeps_the_ray_through_a_pixel() -> None:
    small = CAMERA.scaled(160, 120)
    np.testing.assert_allclose(CAMERA.unproject([[400.0, 100.0]], [1.0]), small.unproject([[100.0, 25.0]], [1.0]))


def test_invalid_depth_gives_no_points() -> None:
    depth = np.full((480, 640), 2.0, np.float32)
    depth[0, 0], depth[1, 1], depth[2, 2], depth[3, 3] = 0.0, np.nan, np.inf, -1.0
    assert len(CAMERA.depth_to_points(depth)) == 640 * 480 - 4
