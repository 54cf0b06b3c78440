"""Colour and depth that belong together, and panoramas of them."""

from __future__ import annotations

import numpy as np

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE3
from mnav_core.sensing import RgbdImage
from mnav_perception.view_pairs import PanoramaGathering, ViewPairs

CAMERA = PinholeCamera.from_hfov(4, 3, 1.5)
RGB, DEPTH = np.full((3, 4, 3), 7, np.uint8), np.full((3, 4), 2.0, np.float32)


def image(view: str, stamp_s: float) -> RgbdImage:
    return RgbdImage(view, stamp_s, CAMERA, SE3.identity(), RGB, DEPTH)


def test_parts_of_one_stamp_make_an_image_in_either_order() -> None:
    pairs = ViewPairs("front")
    assert pairs.add_rgb(1.0, RGB) is None
    made = pairs.add_depth(1.0, DEPTH, CAMERA, SE3.identity())
    assert made is not None and (made.view, made.stamp_s) == ("front", 1.0) and made.rgb is RGB
    assert pairs.add_depth(2.0, DEPTH, CAMERA, SE3.identity()) is None
    assert pairs.add_rgb(2.015, RGB) is not None


def test_parts_of_two_stamps_do_not() -> None:
    pairs = ViewPairs("front")
    assert pairs.add_rgb(1.0, RGB) is None
    assert pairs.add_depth(1.1, DEPTH, CAMERA, SE3.identity()) is None


def test_a_lost_part_is_forgotten_in_the_end() -> None:
    pairs = ViewPairs("front")
    for k in range(20):
        pairs.add_rgb(float(k), RGB)
    assert pairs.add_depth(3.0, DEPTH, CAMERA, SE3.identity()) is None
    assert pairs.add_depth(19.0, DEPTH, CAMERA, SE3.identity()) is not None


def test_a_panorama_is_younger_than_its_request_and_close_together() -> None:
    gathering = PanoramaGathering(("front", "back"))
    gathering.add(image("back", 4.0))
    assert gathering.take(3.0) is None
    gathering.add(image("front", 4.02))
    taken = gathering.take(3.0)
    assert taken is not None and [i.view for i in taken[0]] == ["front", "back"] and taken[1]
    assert gathering.take(4.01) is None
    gathering.add(image("back", 4.2))
    taken = gathering.take(4.01)
    assert taken is not None and not taken[1]
    gathering.add(image("back", 5.0))
    assert gathering.take(4.01) is None
