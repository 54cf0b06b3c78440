"""Where to stand and what to take hold of: the side with floor before it, the foremost plane of the mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mnav_core import masks
from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import OPTICAL_IN_BODY, SE2, SE3
from mnav_core.sensing import ArticulationState, Detection, DetectionFrame, InteractionKind, RgbdImage
from mnav_perception.articulation.records import StateEvidence
from mnav_planner.agents.multinav.beyond import normal_of
from mnav_planner.agents.multinav.fronts import front_of
from mnav_planner.agents.multinav.operable_point import ground, is_in_reach
from mnav_planner.agents.multinav.scene import Shown
from mnav_planner.testing.toy_situation import toy_graph, toy_maps

CAMERA = PinholeCamera.from_hfov(320, 240, np.pi / 2.0)
POSE = SE3(OPTICAL_IN_BODY, np.array([0.0, 0.0, 1.0]))


def shown(depth_m: float = 1.0, evidence: StateEvidence | None = None) -> Shown:
    """A flat front 1 m ahead along x, in the middle of the view, whose right half stands 0.3 m farther back."""
    depth = np.full((240, 320), 3.0, np.float32)
    depth[60:180, 100:160], depth[60:180, 160:220] = depth_m, depth_m + 0.3
    full = np.zeros((480, 640), bool)
    full[120:360, 200:440] = True
    image = RgbdImage("front", 1.0, CAMERA, POSE, np.zeros((240, 320, 3), np.uint8), depth)
    detection = Detection(
        "f", "fridge", 1.0, (200.0, 120.0, 440.0, 360.0), masks.encode(full), (0.0, 0.0, depth_m), (1.0, 1.0, 0.1),
        InteractionKind.CONTAINER,
    )  # fmt: skip
    return Shown(image, DetectionFrame("front", 1.0, CAMERA.scaled(640, 480), POSE, (detection,)), detection, evidence)


def test_the_point_lies_on_the_foremost_plane() -> None:
    found = ground([shown()], "front", 0, (-1.0, 0.0))
    assert found is not None and found.view == "front"
    assert found.point[0] == pytest.approx(1.0, abs=0.02), "not on what stands back"
    assert 0.33 < found.u < 0.5 and 0.3 < found.v < 0.7


def test_an_inferred_part_counts_only_on_the_front() -> None:
    part = (1.0, 0.25, 1.2)
    for facing, is_taken in (((-1.0, 0.0), True), ((0.0, 1.0), False)):
        told = StateEvidence(ArticulationState.CLOSED, 0.9, 1.0, InteractionKind.CONTAINER, "handle", part, facing)
        found = ground([shown(evidence=told)], "front", 0, (-1.0, 0.0))
        assert found is not None
        assert (found.point == pytest.approx(part, abs=0.03)) is is_taken


def test_later_attempts_take_another_place() -> None:
    first, second = (ground([shown()], "front", attempt, (-1.0, 0.0)) for attempt in (0, 1))
    assert first is not None and second is not None and abs(first.u - second.u) > 0.02


def test_reach_is_from_the_base() -> None:
    found = ground([shown()], "front", 0, (-1.0, 0.0))
    assert found is not None
    assert is_in_reach(found, SE2(0.0, 0.0)) and not is_in_reach(found, SE2(-1.0, 0.0))


def test_the_front_has_floor_before_it() -> None:
    # The fridge stands at (2.0, 3.6) in a room that ends at y = 4: its inferred front is the side at the wall.
    fridge = replace(toy_graph().entities["fridge_0"], facing=(0.0, 1.0))
    assert front_of(fridge, toy_maps()) != pytest.approx((0.0, 1.0))
    good = replace(fridge, facing=(0.0, -1.0))
    assert front_of(good, toy_maps()) == pytest.approx((0.0, -1.0))


def test_the_normal_of_a_door_is_the_thin_axis_of_its_box() -> None:
    door = replace(
        toy_graph().entities["door_0"], core_low=(4.05, 1.6, 0.0), core_high=(4.15, 2.4, 2.0), facing=(0.0, -1.0)
    )
    assert normal_of(door) == pytest.approx((-1.0, 0.0))
