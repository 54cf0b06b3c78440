"""Detections, frontiers and known doors as a caller gets them: by view and point, never by place in the map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mnav_core import masks
from mnav_core.requests import Capture, Observation
from mnav_core.sensing import Detection, DetectionFrame, RgbdImage
from mnav_perception.exploration.frontiers import Blacklisted, find_frontiers
from mnav_perception.exploration.travel import travel_cost
from mnav_planner.supernav.labelled_images import ImageChoice, image_ref, shown_views
from mnav_planner.supernav.way_points import bearing_of_way, farthest_visible, lengths_along, way_back

MAX_DETECTIONS = 64
MAX_FRONTIERS = 8
FARTHEST_HOP_M = 6.0


def point_on(detection: Detection, frame: DetectionFrame) -> tuple[float, float]:
    """A point of the detected thing: the mask's pixel nearest to its middle, without a mask the box's middle."""
    x0, y0, x1, y1 = detection.box
    u, v = (x0 + x1) / 2.0 / frame.camera.width, (y0 + y1) / 2.0 / frame.camera.height
    if detection.mask is None or detection.mask.area == 0:
        return u, v
    rows, columns = np.nonzero(masks.decode(detection.mask))
    nearest = int(np.argmin((columns - columns.mean()) ** 2 + (rows - rows.mean()) ** 2))
    return (float(columns[nearest]) + 0.5) / detection.mask.width, (float(rows[nearest]) + 0.5) / detection.mask.height


def describe_detections(capture: Capture, choice: ImageChoice) -> list[dict[str, Any]]:
    """What the detector found in the shown images of a capture, nearest first."""
    shown = {image.view for image in shown_views(capture, choice)}
    found = []
    for frame in capture.detections:
        if frame.view not in shown:
            continue
        for detection in frame.detections:
            u, v = point_on(detection, frame)
            centre = frame.camera_in_map.apply(detection.center)
            eye = frame.camera_in_map.translation
            found.append(
                {
                    "id": detection.entity_id,
                    "category": detection.category,
                    "confidence": round(detection.score, 3),
                    "view": frame.view,
                    "image_ref": image_ref(capture, frame.view),
                    "point": [round(u, 4), round(v, 4)],
                    "box": _normalised(detection, frame),
                    "distance_m": round(math.hypot(centre[0] - eye[0], centre[1] - eye[1]), 2),
                    "height_m": round(float(centre[2]), 2),
                    "kind": detection.kind.name.lower(),
                    "state": detection.state.name.lower(),
                }
            )
    found.sort(key=lambda entry: (entry["distance_m"], entry["id"]))
    return found[:MAX_DETECTIONS]


def _normalised(detection: Detection, frame: DetectionFrame) -> list[float]:
    size = (frame.camera.width, frame.camera.height) * 2
    return [round(value / full, 4) for value, full in zip(detection.box, size, strict=True)]


def describe_frontiers(
    now: Observation,
    capture: Capture,
    choice: ImageChoice,
    name_of: Callable[[str], str],
    blacklist: Sequence[Blacklisted] = (),
) -> dict[str, Any]:
    """Places where exploring could go on, each as a view and a point on the way to it.

    Where no image shows the way, `view` and `point` are null and `turn_right_deg` says which way it leads. `name_of`
    gives a frontier's id, which holds map coordinates, a name that does not.
    """
    if now.maps is None:
        return {"state": "none left", "frontiers": []}
    report = find_frontiers(now.maps, now.pose, blacklist=blacklist, now_s=now.stamp_s)
    images = shown_views(capture, choice)
    costmap = now.maps.costmap
    travel = travel_cost(costmap, now.pose)
    listed = []
    for frontier in report.frontiers[:MAX_FRONTIERS]:
        way = way_back(costmap, travel, frontier.goal)
        if not way:
            continue
        listed.append(
            {
                "id": name_of(frontier.id),
                "kind": frontier.kind.value,
                **_seen(now, way, images, capture),
                "way_m": round(lengths_along(way)[-1], 2),
                "size_m": round(frontier.size_m, 2),
                "gain": frontier.gain,
            }
        )
    return {"state": report.state.value, "frontiers": listed}


def _seen(
    now: Observation, way: Sequence[tuple[float, float]], images: Sequence[RgbdImage], capture: Capture
) -> dict[str, Any]:
    seen = farthest_visible(way, images, FARTHEST_HOP_M)
    turn = round(-math.degrees(bearing_of_way(now.pose, way))) % 360
    if seen is None:
        return {"view": None, "image_ref": None, "point": None, "turn_right_deg": turn}
    return {
        "view": seen.view,
        "image_ref": image_ref(capture, seen.view),
        "point": [round(seen.u, 4), round(seen.v, 4)],
        "turn_right_deg": turn,
        "hop_m": round(seen.along_m, 2),
    }
