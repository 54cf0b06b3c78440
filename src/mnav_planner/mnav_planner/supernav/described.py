"""Detections, frontiers and known doors as a caller gets them: by view and point, never by place in the map."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnav_core import masks
from mnav_core.maps import GridMap
from mnav_core.requests import Capture, Observation
from mnav_core.sensing import Detection, DetectionFrame, RgbdImage
from mnav_perception.exploration.frontiers import Frontier, FrontierSettings, find_frontiers
from mnav_perception.exploration.travel import travel_cost
from mnav_planner.supernav.labelled_images import ImageChoice, image_ref, shown_views
from mnav_planner.supernav.remembered import Remembered
from mnav_planner.supernav.way_points import (
    FloorPixel,
    bearing_of_way,
    farthest_visible,
    lengths_along,
    nearest_floor,
    visible_floor,
    way_back,
)

MAX_DETECTIONS = 64
MAX_FRONTIERS = 16
FARTHEST_HOP_M = 4.0
# Whoever explores looks again on the way: what it drives to is often seen before it is reached.
EXPLORING_HOP_M = 2.5
MAX_REMEMBERED = 16
NEAR_OBJECT_M = 1.5
AT_IT_M = 0.5
LEAST_SIZE_M = 0.4
# Least size in metres and gain in square metres of the frontiers to take first, second, ...
TIERS = ((0.8, 1.0), (0.8, 0.3), (0.8, 0.0), (0.4, 0.3), (0.4, 0.0))
# Looked at from three metres: within the detector's range, and without going up to everything.
FRONTIERS = FrontierSettings(coverage_view_m=3.0, coverage_farthest_m=3.7)


def point_on(detection: Detection, frame: DetectionFrame) -> tuple[float, float]:
    """A point of the detected thing: the mask's pixel nearest to its middle, without a mask the box's middle."""
    x0, y0, x1, y1 = detection.box
    u, v = (x0 + x1) / 2.0 / frame.camera.width, (y0 + y1) / 2.0 / frame.camera.height
    if detection.mask is None or detection.mask.area == 0:
        return u, v
    rows, columns = np.nonzero(masks.decode(detection.mask))
    nearest = int(np.argmin((columns - columns.mean()) ** 2 + (rows - rows.mean()) ** 2))
    return (float(columns[nearest]) + 0.5) / detection.mask.width, (float(rows[nearest]) + 0.5) / detection.mask.height


def describe_detections(
    capture: Capture, choice: ImageChoice, categories: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """What the detector found in the shown images of a capture, of these categories if given, nearest first."""
    shown = {image.view for image in shown_views(capture, choice)}
    found = []
    for frame in capture.detections:
        if frame.view not in shown:
            continue
        for detection in frame.detections:
            if categories is not None and detection.category not in categories:
                continue
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
    now: Observation, capture: Capture, choice: ImageChoice, name_of: Callable[[Frontier], str]
) -> dict[str, Any]:
    """Places where exploring could go on, each as a view and a point on the way to it, large ones first.

    Where no image shows the way, `view` and `point` are null and `turn_right_deg` says which way it leads. `name_of`
    gives a name that holds no coordinates.
    """
    if now.maps is None:
        return {"state": "none left", "frontiers": []}
    report = find_frontiers(now.maps, now.pose, min_size_m=LEAST_SIZE_M, settings=FRONTIERS, now_s=now.stamp_s)
    cell_m2 = now.maps.occupancy.resolution**2
    ways = _Ways(now, now.maps.costmap, capture, shown_views(capture, choice))
    ranked = sorted(report.frontiers, key=lambda f: (_tier(f, cell_m2), f.path_cost_m, f.id))
    listed = []
    for frontier in ranked[:MAX_FRONTIERS]:
        way = ways.to(frontier.goal)
        if not way:
            continue
        listed.append(
            {
                "id": name_of(frontier),
                "kind": frontier.kind.value,
                **ways.described(way, frontier.centroid, EXPLORING_HOP_M),
                "size_m": round(frontier.size_m, 2),
                "gain_m2": round(frontier.gain * cell_m2, 2),
            }
        )
    return {"state": report.state.value, "frontiers": listed}


def _tier(frontier: Frontier, cell_m2: float) -> int:
    tiers = (i for i, (size, gain) in enumerate(TIERS) if frontier.size_m >= size and frontier.gain * cell_m2 >= gain)
    return next(tiers, len(TIERS))


def describe_remembered(
    now: Observation, capture: Capture, choice: ImageChoice, remembered: Sequence[Remembered]
) -> list[dict[str, Any]]:
    """Things seen earlier and not in the newest images, each as a view and a point on the way to it, newest first."""
    if now.maps is None:
        return []
    ways = _Ways(now, now.maps.costmap, capture, shown_views(capture, choice))
    listed = []
    for thing in remembered:
        goal = _place_near(ways.costmap, ways.travel, thing.place[:2])
        way = [] if goal is None else ways.to(goal)
        if len(way) < 2:
            continue
        listed.append(
            {
                "id": thing.entity_id,
                "category": thing.category,
                **ways.described(way, thing.place[:2]),
                "age_s": round(now.stamp_s - thing.stamp_s, 1),
            }
        )
        if len(listed) == MAX_REMEMBERED:
            break
    return listed


def _place_near(
    costmap: GridMap, travel: NDArray[np.float32], place: tuple[float, float]
) -> tuple[float, float] | None:
    """The reachable cell within 1.5 m of a place that is cheapest to stand on, distance to the place counted twice."""
    row, column = costmap.to_cell(*place)
    reach = math.ceil(NEAR_OBJECT_M / costmap.resolution)
    r0, c0 = max(0, row - reach), max(0, column - reach)
    window = travel[r0 : max(0, row + reach + 1), c0 : max(0, column + reach + 1)]
    rows, columns = np.nonzero(np.isfinite(window))
    if len(rows) == 0:
        return None
    away = np.hypot(rows + r0 - row, columns + c0 - column) * costmap.resolution
    score = np.where(away <= NEAR_OBJECT_M, window[rows, columns] + 2.0 * away, np.inf)
    best = int(np.argmin(score))
    return costmap.to_point(int(rows[best]) + r0, int(columns[best]) + c0) if np.isfinite(score[best]) else None


@dataclass
class _Ways:
    """Ways from where the robot stands, and what the images show of them."""

    now: Observation
    costmap: GridMap
    capture: Capture
    images: Sequence[RgbdImage]

    @cached_property
    def travel(self) -> NDArray[np.float32]:
        """Cost of the way to each cell, metres."""
        return travel_cost(self.costmap, self.now.pose)

    @cached_property
    def floor(self) -> list[FloorPixel]:
        """Floor in view."""
        return visible_floor(self.images)

    def to(self, goal: tuple[float, float]) -> list[tuple[float, float]]:
        """The way to a place; empty without one."""
        return way_back(self.costmap, self.travel, goal)

    def described(
        self, way: Sequence[tuple[float, float]], thing: tuple[float, float], farthest_m: float = FARTHEST_HOP_M
    ) -> dict[str, Any]:
        """Length, direction, and a point on the way where one is in view. At its end: the direction of the thing."""
        length = lengths_along(way)[-1]
        ahead = bearing_of_way(self.now.pose, way) if length >= AT_IT_M else self.now.pose.bearing_to(*thing)
        fields: dict[str, Any] = {"way_m": round(length, 2), "turn_right_deg": round(-math.degrees(ahead)) % 360}
        seen = farthest_visible(way, self.images, farthest_m)
        if seen is None and length >= AT_IT_M:
            # Floor next to the robot is below the images: then other floor that brings it nearer will do.
            seen = nearest_floor(self.costmap, self.travel, self.floor, way[-1], farthest_m)
        if seen is None:
            return {**fields, "view": None, "image_ref": None, "point": None}
        return {
            **fields,
            "view": seen.view,
            "image_ref": image_ref(self.capture, seen.view),
            "point": [round(seen.u, 4), round(seen.v, 4)],
            "hop_m": round(seen.along_m, 2),
        }
