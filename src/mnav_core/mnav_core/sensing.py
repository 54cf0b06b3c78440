"""What sensors and detectors deliver."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE2, SE3
from mnav_core.masks import RleMask
from mnav_core.motion import Velocity


@dataclass(frozen=True)
class Odometry:
    """Pose of the base in `odom` and its velocity in the base frame."""

    stamp_s: float
    pose: SE2
    velocity: Velocity

    @property
    def is_finite(self) -> bool:
        """Whether pose and velocity are numbers."""
        pose, v = self.pose, self.velocity
        return all(math.isfinite(x) for x in (pose.x, pose.y, pose.yaw, v.vx, v.vy, v.wz))


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Points (N, 3) float32 of the sensor frame, and that frame in `map` at the scan's end."""

    stamp_s: float
    points: NDArray[np.float32]
    sensor_in_map: SE3


@dataclass(frozen=True, eq=False)
class RgbdImage:
    """One view: RGB (H, W, 3) uint8, depth (H, W) float32 in metres along the optical axis (0 where there is none).

    `camera_in_map` is the optical frame in `map` at `stamp_s`.
    """

    view: str
    stamp_s: float
    camera: PinholeCamera
    camera_in_map: SE3
    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]


class InteractionKind(Enum):
    """What could be done to an entity."""

    NONE = 0
    CHANNEL = 1
    CONTAINER = 2


class ArticulationState(Enum):
    """Whether a door, fridge, cabinet or drawer is open, as somebody inferred it."""

    UNKNOWN = 0
    CLOSED = 1
    PARTIAL = 2
    OPEN = 3


@dataclass(frozen=True)
class Detection:
    """One detected entity in one view; box in pixels (x0, y0, x1, y1), centre and size in the optical frame, metres.

    `entity_id` is opaque: it differs per robot and per episode.
    """

    entity_id: str
    category: str
    score: float
    box: tuple[float, float, float, float]
    mask: RleMask | None
    center: tuple[float, float, float]
    size: tuple[float, float, float]
    kind: InteractionKind = InteractionKind.NONE
    state: ArticulationState = ArticulationState.UNKNOWN


@dataclass(frozen=True, eq=False)
class DetectionFrame:
    """All detections of one view at one time; empty when the view was looked at and nothing was found."""

    view: str
    stamp_s: float
    camera: PinholeCamera
    camera_in_map: SE3
    detections: tuple[Detection, ...]


@dataclass(frozen=True)
class ViewRequest:
    """Ask for one RGB-D view at a resolution."""

    view: str
    width: int
    height: int


@dataclass(frozen=True)
class SensorRequest:
    """Which sensors of one robot to read in this tick. Odometry always comes."""

    scan: bool = False
    views: tuple[ViewRequest, ...] = ()
    detect: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SensorFrame:
    """What one robot sensed in one tick; only what was asked for is there."""

    stamp_s: float
    odometry: Odometry
    camera_pitch: float = 0.0
    scan: PointCloud | None = None
    images: tuple[RgbdImage, ...] = ()
    detections: tuple[DetectionFrame, ...] = field(default=())
