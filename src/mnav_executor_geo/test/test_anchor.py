"""Visual point to anchor, by hand: an optical axis along x of the map, 1 m above the floor."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import OPTICAL_IN_BODY, SE3
from mnav_core.sensing import RgbdImage
from mnav_executor_geo.anchor import Anchor, find_anchor
from mnav_executor_geo.settings import AnchorSettings

SETTINGS = AnchorSettings()
CAMERA = PinholeCamera(640, 480, 320.0, 300.0, 320.0, 240.0)


def image(depth: np.ndarray, pitch: float = 0.0) -> RgbdImage:
    pose = SE3.from_rpy((2.0, 3.0, 1.0), (0.0, pitch, 0.0)) @ SE3(OPTICAL_IN_BODY, np.zeros(3))
    return RgbdImage("front", 0.0, CAMERA, pose, np.zeros((480, 640, 3), np.uint8), depth.astype(np.float32))


def anchored(depth: np.ndarray, u: float, v: float, pitch: float = 0.0) -> Anchor:
    anchor = find_anchor(image(depth, pitch), u, v, SETTINGS)
    assert anchor is not None
    return anchor


def test_a_wall_four_metres_ahead() -> None:
    anchor = anchored(np.full((480, 640), 4.0), 0.75, 0.25)
    # 160 px right of the centre is 4 * 160 / 320 = 2 m to the right; 120 px up is 4 * 120 / 300 = 1.6 m up.
    assert (anchor.x, anchor.y, anchor.z) == pytest.approx((6.0, 1.0, 2.6), abs=0.02)
    assert anchor.depth_m == 4.0 and not anchor.on_floor


def test_the_floor_is_recognised() -> None:
    v = np.arange(480) + 0.5
    depth = np.where(v > 260, 300.0 / np.maximum(v - 240.0, 1.0), 0.0)[:, None] * np.ones((1, 640))
    anchor = anchored(depth, 0.5, (240 + 100) / 480)
    assert anchor.on_floor and anchor.x == pytest.approx(5.0, abs=0.05) and abs(anchor.z) < 0.03


def test_a_pitched_camera() -> None:
    anchor = anchored(np.full((480, 640), 2.0), 0.5, 0.5, pitch=math.pi / 6)
    assert (anchor.x, anchor.z) == pytest.approx((2.0 + 2.0 * math.cos(math.pi / 6), 0.0), abs=0.02)


def test_the_foreground_wins_over_what_is_behind_it() -> None:
    depth = np.full((480, 640), 5.0)
    depth[236:244, 316:324] = 2.0
    assert anchored(depth, 0.5, 0.5).depth_m == 2.0


def test_a_lone_near_pixel_is_noise() -> None:
    depth = np.full((480, 640), 5.0)
    depth[240, 320] = 0.4
    assert anchored(depth, 0.5, 0.5).depth_m == 5.0


def test_the_cluster_is_a_quarter_metre_near_and_a_fifth_far() -> None:
    near = np.full((480, 640), 1.2)
    near[:, ::2] = 1.0
    assert anchored(near, 0.5, 0.5).samples == 21 * 21
    split = np.full((480, 640), 1.3)
    split[:, ::2] = 1.0
    assert anchored(split, 0.5, 0.5).depth_m == 1.0
    far = np.full((480, 640), 5.9)
    far[:, ::2] = 5.0
    assert anchored(far, 0.5, 0.5).samples == 21 * 21


def test_a_hole_is_bridged_by_the_samples_around_it() -> None:
    depth = np.full((480, 640), 3.0)
    depth[220:261, 300:341] = 0.0
    anchor = anchored(depth, 0.5, 0.5)
    assert anchor.depth_m == 3.0 and anchor.offset_px == pytest.approx(24.0)


@pytest.mark.parametrize("nothing", [0.0, math.nan, math.inf, 0.04])
def test_no_valid_depth_is_no_anchor(nothing: float) -> None:
    assert find_anchor(image(np.full((480, 640), nothing)), 0.5, 0.5, SETTINGS) is None


@pytest.mark.parametrize(("u", "v"), [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.5)])
def test_the_rim_of_the_image_has_anchors(u: float, v: float) -> None:
    assert anchored(np.full((480, 640), 2.0), u, v).depth_m == 2.0


def test_depth_of_another_resolution_than_the_camera() -> None:
    anchor = anchored(np.full((240, 320), 4.0), 0.75, 0.25)
    assert (anchor.x, anchor.y, anchor.z) == pytest.approx((6.0, 1.0, 2.6), abs=0.05)
