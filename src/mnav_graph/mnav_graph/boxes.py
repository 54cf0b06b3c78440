"""Axis-aligned boxes in `map` from detections of a camera."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mnav_core.geometry import Array
from mnav_core.sensing import DetectionFrame, InteractionKind
from mnav_graph.association import Seen
from mnav_graph.records import Entity, NodeKind, Point3

Box = tuple[Point3, Point3]
KINDS = {
    InteractionKind.NONE: NodeKind.OBJECT,
    InteractionKind.CHANNEL: NodeKind.CHANNEL,
    InteractionKind.CONTAINER: NodeKind.CONTAINER,
}
# Two views share at least this much of the smaller box unless the thing itself moved.
SAME_PLACE_SHARE = 0.5
RIM_M = 0.02


def seen_in(frame: DetectionFrame) -> tuple[Seen, ...]:
    """The detections of a frame in `map`: a box of the optical frame becomes the box around it."""
    if not frame.detections:
        return ()
    centres = frame.camera_in_map.apply(np.array([d.center for d in frame.detections], float))
    halves = np.array([d.size for d in frame.detections], float) / 2.0 @ np.abs(frame.camera_in_map.rotation).T
    lows, highs = (centres - halves).tolist(), (centres + halves).tolist()
    return tuple(
        Seen(d.entity_id, d.category, KINDS[d.kind], _triple(low), _triple(high))
        for d, low, high in zip(frame.detections, lows, highs, strict=True)
    )


def camera_distances(frame: DetectionFrame) -> Array:
    """Distance from the camera to the middle of each detection (N,), metres."""
    return np.asarray(np.linalg.norm(np.array([d.center for d in frame.detections], float).reshape(-1, 3), axis=1))


def tightened(core: Box, fresh: Box) -> Box:
    """What both boxes share, or the fresh one when the thing moved."""
    (a0, a1, a2), (a3, a4, a5) = core
    (b0, b1, b2), (b3, b4, b5) = fresh
    shared = ((max(a0, b0), max(a1, b1), max(a2, b2)), (min(a3, b3), min(a4, b4), min(a5, b5)))
    return shared if volume(shared) > SAME_PLACE_SHARE * min(volume(core), volume(fresh)) else fresh


def volume(box: Box) -> float:
    """Cubic metres."""
    (x0, y0, z0), (x1, y1, z1) = box
    return max(x1 - x0, 0.0) * max(y1 - y0, 0.0) * max(z1 - z0, 0.0)


def holds(container: Entity, point: Point3) -> bool:
    """Whether a point lies in a container's tightest box, its top rim left out: what stands on it is not in it."""
    (x0, y0, z0), (x1, y1, z1) = container.core_low, container.core_high
    x, y, z = point
    return x0 <= x <= x1 and y0 <= y <= y1 and z0 <= z <= z1 - RIM_M


def _triple(values: Sequence[float]) -> Point3:
    return float(values[0]), float(values[1]), float(values[2])
