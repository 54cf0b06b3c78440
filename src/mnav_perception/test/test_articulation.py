"""States from views of scenes made by hand, calibration, and the question to a vision-language model."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnav_core import masks
from mnav_core.cameras import PinholeCamera
from mnav_core.errors import UsageError
from mnav_core.geometry import OPTICAL_IN_BODY, SE2, SE3
from mnav_core.sensing import ArticulationState, Detection, InteractionKind, RgbdImage
from mnav_models.images import ImageBudget
from mnav_perception.articulation.features import measure
from mnav_perception.articulation.forest import GrowthSettings, grow
from mnav_perception.articulation.inference import infer_state, infer_states
from mnav_perception.articulation.model import (
    ArticulationModel,
    PartSort,
    Reading,
    class_of,
    load_model,
    save_model,
    sort_of,
)
from mnav_perception.articulation.surfaces import surfaces_of
from mnav_perception.articulation.visual import (
    OUTLINE,
    AttributeAnswer,
    attribute_request,
    composite,
    evidence_of_answer,
    inset_box,
)

CAMERA = PinholeCamera.from_hfov(640, 480, math.radians(90.0))
HEIGHT = 1.25
WALL_X = 3.0
WIDTH, TALL = 0.85, 2.05


def door_view(angle: float, yaw: float = 0.0) -> tuple[RgbdImage, Detection]:
    """A wall at x = 3 m with a door from y = 0 to 0.85 hinged at y = 0, opening towards the camera; ray cast."""
    pose = SE2(0.3, 0.5, yaw).to_se3(HEIGHT) @ SE3(OPTICAL_IN_BODY, np.zeros(3))
    v, u = np.mgrid[0:480, 0:640]
    rays = np.stack([(u + 0.5 - CAMERA.cx) / CAMERA.fx, (v + 0.5 - CAMERA.cy) / CAMERA.fy, np.ones(u.shape)], axis=2)
    rays = rays @ pose.rotation.T
    eye = pose.translation
    best = np.full(u.shape, np.inf)
    leaf = np.zeros(u.shape, bool)

    def put(distance: NDArray[np.float64], ok: NDArray[np.bool_], is_leaf: bool) -> None:
        nearer = ok & (distance > 0.05) & (distance < best)
        best[nearer] = distance[nearer]
        leaf[nearer] = is_leaf

    with np.errstate(divide="ignore", invalid="ignore"):
        floor = -eye[2] / rays[..., 2]
        put(floor, rays[..., 2] < 0, False)
        for plane, hole in ((WALL_X, True), (WALL_X + 2.5, False)):
            t = (plane - eye[0]) / rays[..., 0]
            y, z = eye[1] + t * rays[..., 1], eye[2] + t * rays[..., 2]
            in_hole = (y > 0.0) & (y < WIDTH) & (z < TALL)
            put(t, (z > 0) & (z < 2.6) & ~(in_hole & hole), False)
        direction = np.array([-math.sin(angle), math.cos(angle)])
        normal = np.array([direction[1], -direction[0]])
        hinge = np.array([WALL_X - 0.02, 0.0])
        t = ((hinge - eye[:2]) @ normal) / (rays[..., :2] @ normal)
        at = eye + t[..., None] * rays
        along = (at[..., :2] - hinge) @ direction
        put(t, (along > 0.01) & (along < WIDTH) & (at[..., 2] > 0.02) & (at[..., 2] < TALL), True)
    depth = np.where(np.isfinite(best), best, 0.0).astype(np.float32)
    ends = np.array([[*hinge, 0.02], [*(hinge + WIDTH * direction), TALL]])
    corners = np.array([[x, y, z] for (x, y) in ends[:, :2] for z in (0.02, TALL)])
    optical = pose.inverse().apply(corners)
    low, high = optical.min(axis=0), optical.max(axis=0)
    rows, columns = np.flatnonzero(leaf.any(1)), np.flatnonzero(leaf.any(0))
    detection = Detection(
        "d", "door", 1.0, (float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)),
        masks.encode(leaf), tuple(((low + high) / 2).tolist()), tuple((high - low).tolist()), InteractionKind.CHANNEL,
    )  # fmt: skip
    rgb = np.full((480, 640, 3), 120, np.uint8)
    return RgbdImage("front", 5.0, CAMERA, pose, rgb, depth), detection


@pytest.fixture(scope="module")
def model() -> ArticulationModel:
    return load_model()


@pytest.mark.parametrize("yaw", [0.0, 0.1])
def test_a_door_that_no_generator_made(model: ArticulationModel, yaw: float) -> None:
    closed = infer_state(*door_view(0.0, yaw), model)
    opened = infer_state(*door_view(math.radians(88.0), yaw), model)
    ajar = infer_state(*door_view(math.radians(40.0), yaw), model)
    assert closed.state is ArticulationState.CLOSED and closed.confidence > 0.8
    assert opened.state is not ArticulationState.CLOSED
    assert ajar.state not in (ArticulationState.CLOSED, ArticulationState.OPEN)
    assert closed.part_point is not None and closed.part_point[0] == pytest.approx(WALL_X - 0.02, abs=0.03)
    assert closed.facing == pytest.approx((-1.0, 0.0), abs=0.02)
    assert closed.stamp_s == 5.0 and closed.kind is InteractionKind.CHANNEL


def test_the_walls_heading_and_normals() -> None:
    view, _ = door_view(0.0, 0.2)
    seen = surfaces_of(view)
    away = min(seen.wall_yaw, math.pi / 2 - seen.wall_yaw)
    assert away < math.radians(0.5)
    upright = np.abs(seen.normals[..., 2]) < 0.1
    facing = np.abs(seen.normals[..., 0])[upright & (np.abs(seen.normals).sum(axis=2) > 0.5)]
    assert np.median(facing) > 0.999


def test_too_little_depth_tells_nothing(model: ArticulationModel) -> None:
    view, detection = door_view(0.0)
    blind = RgbdImage(view.view, 5.0, view.camera, view.camera_in_map, view.rgb, np.zeros_like(view.depth))
    assert infer_state(blind, detection, model).state is ArticulationState.UNKNOWN
    plain = Detection("x", "egg", 1.0, detection.box, detection.mask, (0, 0, 1), (1, 1, 1))
    assert infer_states(view, [plain, detection], model)[0] is None
    with pytest.raises(ValueError, match="kind NONE"):
        infer_state(view, plain, model)


def test_features_do_not_depend_on_where_the_map_begins_or_turns() -> None:
    view, detection = door_view(math.radians(50.0))
    moved = SE2(12.0, -7.0, 0.0).to_se3() @ view.camera_in_map
    turned = SE2(0.0, 0.0, math.pi / 2).to_se3() @ view.camera_in_map
    first = measure(view, detection)
    assert first is not None
    for pose in (moved, turned):
        again = measure(RgbdImage("front", 5.0, CAMERA, pose, view.rgb, view.depth), detection)
        assert again is not None
        assert np.mean(np.abs(first.values - again.values) < 0.02) > 0.95


def test_thresholds_of_the_classes() -> None:
    assert [class_of(f) for f in (0.0, 0.05, 0.0501, 0.7999, 0.8, 1.0)] == [0, 0, 1, 1, 2, 2]
    assert sort_of(InteractionKind.CONTAINER, "Dresser") is PartSort.DRAWER
    assert sort_of(InteractionKind.CONTAINER, "fridge") is PartSort.LEAF


def test_a_forest_learns_and_survives_its_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(-1, 1, (600, 4))
    labels = ((values[:, 0] > 0.2).astype(int) + (values[:, 1] > 0.5)).astype(np.intp)
    forest = grow(values[:400], labels[:400], 3, GrowthSettings(trees=40), 3)
    right = [int(np.argmax(forest.predict(v))) == label for v, label in zip(values[400:], labels[400:], strict=True)]
    assert np.mean(right) > 0.93
    reading = Reading(forest, np.array([0.4, 1.0]), np.array([0.5, 0.9]), 0.6)
    save_model(tmp_path / "m.npz", ArticulationModel(dict.fromkeys(PartSort, reading)))
    again = load_model(tmp_path / "m.npz").readings[PartSort.LEAF]
    assert again.read(values[0]) == reading.read(values[0]) and again.call_from == 0.6
    (tmp_path / "m.npz").write_bytes(b"nothing")
    with pytest.raises(UsageError, match=r"m\.npz"):
        load_model(tmp_path / "m.npz")


def test_the_question_shows_an_outline_and_a_padded_inset() -> None:
    view, detection = door_view(0.0)
    picture = composite(view, detection)
    assert picture.shape[0] == 480 and picture.shape[1] > 640
    outlined = (picture[:, :640] == OUTLINE).all(axis=2)
    mask = masks.decode(detection.mask)  # type: ignore[arg-type]
    assert outlined.any() and not outlined[mask & (np.cumsum(mask, axis=1) > 20) & (np.cumsum(mask, axis=0) > 20)].all()
    x0, y0, x1, y1 = inset_box(detection, 640, 480)
    assert x0 < detection.box[0] and x1 > detection.box[2] and y0 >= 0 and y1 <= 480
    request = attribute_request(view, detection, ImageBudget())
    assert request.answer is AttributeAnswer and len(request.messages[1].images) == 1


def test_the_answer_becomes_evidence_at_the_point_that_it_names() -> None:
    view, detection = door_view(0.0)
    answer = AttributeAnswer(state="closed", confidence="high", part="round knob on the left", x=0.5, y=0.5)
    told = evidence_of_answer(answer, view, detection)
    assert told.state is ArticulationState.CLOSED and told.confidence == 0.85
    assert told.part_point is not None and told.part_point[0] == pytest.approx(WALL_X - 0.02, abs=0.03)
    unclear = evidence_of_answer(answer.model_copy(update={"state": "unclear"}), view, detection)
    assert unclear.state is ArticulationState.UNKNOWN and unclear.confidence == 0.0
