"""Views by turning: names, what counts, and what does not."""

from __future__ import annotations

import numpy as np

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE3
from mnav_core.sensing import RgbdImage
from mnav_perception.rotated_views import SETTLE_S, RotatedViews, lacks_views


def image(view: str, stamp_s: float) -> RgbdImage:
    rgb, depth = np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), np.float32)
    return RgbdImage(view, stamp_s, PinholeCamera(2, 2, 1.0, 1.0, 1.0, 1.0), SE3.identity(), rgb, depth)


def test_one_camera_turns_three_times_to_the_left() -> None:
    views = RotatedViews(("front",), 10.0)
    assert not views.add(image("front", 9.9)), "from before it was asked for"
    now_s = 10.0
    for k in range(4):
        assert views.add(image("front", now_s)) and not views.add(image("front", now_s + 0.1)), "one a heading"
        assert views.is_complete is (k == 3)
        views.turned(now_s + 2.0)
        assert not views.add(image("front", now_s + 2.0 + 0.9 * SETTLE_S)), "it may still swing"
        now_s += 2.0 + SETTLE_S
    found = views.images
    assert [i.view for i in found] == ["front", "right", "back", "left"]
    assert [round(i.stamp_s, 1) for i in found] == [10.0, 16.9, 14.6, 12.3]


def test_cameras_to_both_sides_need_one_turn() -> None:
    views = RotatedViews(("left", "right"), 0.0)
    assert not views.add(image("right", 1.0)) and views.add(image("left", 1.0))
    assert not views.is_complete
    views.turned(2.0)
    assert not views.add(image("left", 3.0)) and views.add(image("right", 3.1))
    # Turned left by a quarter, the left camera looks back and the right one ahead.
    assert views.is_complete and {i.view: i.stamp_s for i in views.images} == {
        "left": 1.0, "right": 1.0, "back": 3.0, "front": 3.1,
    }  # fmt: skip


def test_who_lacks_views() -> None:
    assert lacks_views(("front",)) and lacks_views(("front", "left", "back"))
    assert not lacks_views(("front", "right", "back", "left"))
