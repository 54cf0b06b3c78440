"""What tells how far a leaf or drawer is open: numbers from one view, in the frame of the walls."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_core import masks
from mnav_core.geometry import Array
from mnav_core.sensing import Detection, RgbdImage
from mnav_perception.articulation.surfaces import RIGHT_ANGLE, surfaces_of

MIN_POINTS = 12
CELL_M = 0.05
LINTEL_FROM_M = 2.08
BEYOND_M = 0.45
BESIDE_M = 0.25


@dataclass(frozen=True, eq=False)
class Measured:
    """The features (F,) float64, in the order of `NAMES`; the closing plane's normal in `map` and its point."""

    values: Array
    facing: tuple[float, float]
    middle: tuple[float, float, float]


def measure(view: RgbdImage, detection: Detection) -> Measured | None:
    """Features of a detection in the view that it was made in; None when its mask has too little depth.

    Raises ValueError for a detection without a mask.
    """
    if detection.mask is None:
        raise ValueError(f"detection {detection.entity_id!r}: no mask, allowed: one with a mask")
    seen = surfaces_of(view)
    mask = _working_mask(masks.decode(detection.mask), view.depth.shape, seen.stride)
    inside = mask & seen.valid
    if np.count_nonzero(inside) < MIN_POINTS:
        return None
    around = _around(mask) & seen.valid & ~mask
    c, s = math.cos(seen.wall_yaw), math.sin(seen.wall_yaw)
    turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    own, own_n = seen.points[inside] @ turn.T, seen.normals[inside] @ turn.T
    out, out_n = seen.points[around] @ turn.T, seen.normals[around] @ turn.T
    eye = turn @ seen.eye
    middle = np.median(own, axis=0)
    # The axis that looks most towards the camera comes first; mirrored views then look alike.
    towards = eye - middle
    first = 0 if abs(towards[0]) >= abs(towards[1]) else 1
    signs = np.sign(towards[:2]) + (towards[:2] == 0)
    axes = (first, 1 - first)
    for points, normals in ((own, own_n), (out, out_n)):
        points[:, :2] = (points[:, :2] - middle[:2]) * signs
        normals[:, :2] *= signs
    eye = np.array([*((eye[:2] - middle[:2]) * signs), eye[2]])
    values = [
        *_pose_features(eye, axes, middle, mask, own),
        *_shape_features(own, own_n, axes),
        *_line_features(own, out, eye),
        *[f for axis in axes for f in _plane_features(own, own_n, out, out_n, axis)],
        *_box_features(detection, view, turn, middle, signs, axes, own, out, out_n),
    ]
    normal = np.zeros(2)
    normal[first] = signs[first]
    facing = turn[:2, :2].T @ normal
    at = turn.T @ middle
    return Measured(
        np.nan_to_num(np.array(values, float), nan=-1.0, posinf=9.0, neginf=-9.0),
        (float(facing[0]), float(facing[1])),
        (float(at[0]), float(at[1]), float(at[2])),
    )


def _working_mask(mask: NDArray[np.bool_], shape: tuple[int, ...], stride: int) -> NDArray[np.bool_]:
    if mask.shape != shape[:2]:
        mask = cv2.resize(mask.astype(np.uint8), (shape[1], shape[0]), interpolation=cv2.INTER_NEAREST) > 0
    return np.asarray(mask[::stride, ::stride], bool)


def _around(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The padded box of a mask."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    pad_r, pad_c = 8 + (rows[-1] - rows[0]) // 2, 8 + (columns[-1] - columns[0]) // 2
    box = np.zeros_like(mask)
    box[max(rows[0] - pad_r, 0) : rows[-1] + pad_r + 1, max(columns[0] - pad_c, 0) : columns[-1] + pad_c + 1] = True
    return box


def _pose_features(
    eye: Array, axes: tuple[int, int], middle: Array, mask: NDArray[np.bool_], own: Array
) -> list[float]:
    """Where it is seen from, and whether the image cuts it."""
    cut = [mask[0].any(), mask[-1].any(), mask[:, 0].any(), mask[:, -1].any()]
    return [
        float(np.hypot(eye[0], eye[1])),
        math.atan2(eye[axes[1]], eye[axes[0]]),
        float(eye[2] - middle[2]),
        float(middle[2]),
        float(len(own)) / mask.size,
        *(float(c) for c in cut),
    ]


def _shape_features(own: Array, normals: Array, axes: tuple[int, int]) -> list[float]:
    """Extents, filling of the plan, and which way the surfaces look."""
    low, high = np.percentile(own, [1.0, 99.0], axis=0)
    extents = high - low
    keys = np.unique(np.floor(own[:, :2] / CELL_M).astype(int), axis=0)
    area = max(float(extents[0]), CELL_M) * max(float(extents[1]), CELL_M) / CELL_M**2
    has = np.abs(normals).sum(axis=1) > 0.5
    count = max(int(np.count_nonzero(has)), 1)
    up = has & (normals[:, 2] > 0.8)
    upright = has & (np.abs(normals[:, 2]) < 0.3)
    yaw = np.arctan2(normals[:, 1], normals[:, 0])
    off = np.abs((yaw + RIGHT_ANGLE / 2) % RIGHT_ANGLE - RIGHT_ANGLE / 2)
    faces = []
    for axis in axes:
        along = upright & (off < math.radians(4.0)) & (np.abs(normals[:, axis]) > 0.9)
        faces += [np.count_nonzero(along & (normals[:, axis] > 0)) / count,
                  np.count_nonzero(along & (normals[:, axis] < 0)) / count]  # fmt: skip
    turned = [np.count_nonzero(upright & (off >= a) & (off < b)) / count for a, b in _OFF_GRID]
    main = np.median(off[upright]) if upright.any() else -1.0
    return [
        *(float(extents[a]) for a in axes), float(extents[2]), float(low[2]), float(high[2]),
        len(keys) / area, np.count_nonzero(up) / count, np.count_nonzero(upright) / count, *faces, *turned, float(main),
    ]  # fmt: skip


_OFF_GRID = tuple((math.radians(a), math.radians(b)) for a, b in ((4, 10), (10, 20), (20, 35), (35, 46)))


def _line_features(own: Array, out: Array, eye: Array) -> list[float]:
    """The upright plane through the surface, and what of the surroundings lies in its continuation: a closed leaf
    continues the wall on both sides and below the lintel.
    """
    plan = own[:, :2]
    centre = np.median(plan, axis=0)
    direction = _direction(plan, centre)
    across = np.array([-direction[1], direction[0]])
    along, lateral = (plan - centre) @ direction, (plan - centre) @ across
    low, high = np.percentile(along, [1.0, 99.0])
    rest = np.percentile(np.abs(lateral), [50.0, 90.0, 98.0])
    view = eye[:2] - centre
    side = 1.0 if view @ across >= 0 else -1.0
    q_along, q_lateral = (out[:, :2] - centre) @ direction, (out[:, :2] - centre) @ across * side
    features = [
        float(high - low), *(float(v) for v in rest),
        abs(math.atan2(direction[1], direction[0]) % RIGHT_ANGLE - RIGHT_ANGLE / 2),
        float(abs(view @ direction) / max(float(np.linalg.norm(view)), 1e-6)),
    ]  # fmt: skip
    band = (out[:, 2] > 0.15) & (np.abs(q_lateral) < 0.16)
    bins = round(BEYOND_M / CELL_M)
    sides = []
    for beyond in (low - q_along, q_along - high):
        reach = (beyond > 0.04) & (beyond < BEYOND_M)
        filled = len(np.unique(np.floor(beyond[reach & band] / CELL_M))) / bins
        behind = np.count_nonzero(reach & (q_lateral < -0.3)) / max(int(np.count_nonzero(reach)), 1)
        before = np.count_nonzero(reach & (q_lateral > 0.3)) / max(int(np.count_nonzero(reach)), 1)
        sides.append((filled, behind, before, min(np.count_nonzero(reach) / 200.0, 1.0)))
    sides.sort()
    features += [f for one in sides for f in one]
    over = (out[:, 2] > LINTEL_FROM_M) & (q_along > low) & (q_along < high)
    width = max(float(high - low), CELL_M)
    lintel = over & (np.abs(q_lateral) < 0.16)
    features += [
        len(np.unique(np.floor(q_along[lintel] / CELL_M))) * CELL_M / width,
        np.count_nonzero(over & (q_lateral < -0.3)) / max(int(np.count_nonzero(over)), 1),
        min(np.count_nonzero(over) / 200.0, 1.0),
    ]
    return [float(f) for f in features]


def _direction(plan: Array, centre: Array) -> Array:
    """Heading of the line that most points lie on: of a few guesses through pairs, the one with most within 3 cm."""
    rng = np.random.default_rng(0)
    pairs = plan[rng.integers(0, len(plan), (48, 2))]
    best, most = np.array([1.0, 0.0]), -1
    for a, b in pairs:
        length = np.linalg.norm(b - a)
        if length < 0.08:
            continue
        d = (b - a) / length
        near = np.abs((plan - a) @ np.array([-d[1], d[0]])) < 0.03
        if np.count_nonzero(near) > most:
            most = int(np.count_nonzero(near))
            centred = plan[near] - plan[near].mean(axis=0)
            best = np.linalg.eigh(centred.T @ centred)[1][:, 1]
    return np.asarray(best, float)


def _plane_features(own: Array, own_n: Array, out: Array, out_n: Array, axis: int) -> list[float]:
    """How the thing stands to the strongest plane of its surroundings across an axis: what comes out, what lies behind.

    And to its own strongest plane.
    """
    features: list[float] = []
    for points, normals in ((out, out_n), (own, own_n)):
        facing = (normals[:, axis] > 0.9) & (points[:, 2] > 0.1)
        at = points[facing, axis]
        at = at[np.abs(at) < 1.2]
        if len(at) < MIN_POINTS:
            features += [-1.0] * 8
            continue
        keys, counts = np.unique(np.round(at / 0.02).astype(int), return_counts=True)
        plane = float(np.median(at[np.abs(at - keys[np.argmax(counts)] * 0.02) < 0.03]))
        offset = own[:, axis] - plane
        features += [
            *(float(v) for v in np.percentile(offset, [2.0, 50.0, 98.0])),
            float(np.mean(offset > 0.05)), float(np.mean(offset > 0.2)), float(np.mean(offset < -0.05)),
            float(np.mean(offset < -0.2)), len(at) / max(len(points), 1),
        ]  # fmt: skip
    return features


def _box_features(
    detection: Detection,
    view: RgbdImage,
    turn: Array,
    middle: Array,
    signs: Array,
    axes: tuple[int, int],
    own: Array,
    out: Array,
    out_n: Array,
) -> list[float]:
    """The detector's 3-D box: its size, where its middle lies from what is seen, and, for a thing that stands along
    the walls, its own dimensions and how far its front comes out of the surroundings' plane.
    """
    rotation = turn @ view.camera_in_map.rotation
    size = np.asarray(detection.size, float)
    centre = turn @ view.camera_in_map.apply(np.asarray(detection.center, float)) - middle
    centre[:2] *= signs
    spread = np.abs(rotation) @ size
    mixing = np.abs(rotation).T
    certain = float(abs(np.linalg.det(mixing)))
    dims = np.linalg.solve(mixing, size) if certain > 0.1 else np.full(3, -1.0)
    features = [*size.tolist(), *(float(centre[a]) for a in axes), float(centre[2]), *(float(spread[a]) for a in axes),
                float(spread[2]), certain, *(float(dims[a]) for a in axes), float(dims[2])]  # fmt: skip
    for axis in axes:
        other = 1 - axis
        deep = float(dims[axis]) if certain > 0.1 else float(spread[axis])
        front = float(centre[axis]) + deep / 2.0 if certain > 0.1 else float(np.percentile(own[:, axis], 98.0))
        low, high = np.percentile(own[:, [other, 2]], [2.0, 98.0], axis=0)
        beside = ((out[:, [other, 2]] > low - BESIDE_M) & (out[:, [other, 2]] < high + BESIDE_M)).all(axis=1)
        at = front - out[beside & (out_n[:, axis] > 0.9), axis]
        at = at[(at > -0.06) & (at < deep + 0.05)]
        if len(at) < MIN_POINTS:
            features += [-1.0, -1.0, 0.0]
            continue
        keys, counts = np.unique(np.round(at / 0.02).astype(int), return_counts=True)
        out_by = float(np.median(at[np.abs(at - keys[np.argmax(counts)] * 0.02) < 0.03]))
        features += [out_by, out_by / max(deep, 0.05), len(at) / max(int(np.count_nonzero(beside)), 1)]
    return features
