"""From a robot's sensor messages to its maps and captures, in the order of a sweep's tick."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from mnav_core.geometry import SE2
from mnav_core.maps import MapSnapshot
from mnav_core.requests import Capture
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame, PointCloud, RgbdImage
from mnav_perception.captures import CaptureStore
from mnav_perception.mapper import Mapper

KEPT_FRAMES = 64


@dataclass
class MapperIntake:
    """Feeds a mapper and takes captures; what it is given is already located in `map`."""

    robot: RobotDescription
    mapper: Mapper
    store: CaptureStore
    depth_stride: int
    newest: MapSnapshot | None = None
    evidence_s: float = float("-inf")
    _is_started: bool = False
    _frames: deque[DetectionFrame] = field(default_factory=lambda: deque(maxlen=KEPT_FRAMES))

    @property
    def is_started(self) -> bool:
        """Whether the start footprint has been marked."""
        return self._is_started

    def start(self, pose: SE2) -> None:
        """Mark the start footprint, once."""
        if not self._is_started:
            self.mapper.mark_start(pose)
            self._is_started = True

    def scan(self, cloud: PointCloud) -> None:
        """A LiDAR scan. `evidence_s` is the stamp of the newest scan or depth image in the map."""
        self.mapper.integrate_scan(cloud)
        self.evidence_s = cloud.stamp_s

    def image(self, image: RgbdImage) -> None:
        """An image; the success view's depth is mapped, as in a sweep."""
        if image.view == self.robot.success_view:
            self.mapper.integrate_depth(image, self.depth_stride)
            self.evidence_s = image.stamp_s

    def detections(self, frame: DetectionFrame) -> None:
        """A detection frame: what it looked at is inspected."""
        self.mapper.look_at(frame)
        self._frames.append(frame)

    def snapshot(self, stamp_s: float) -> MapSnapshot:
        """Derive the maps."""
        self.newest = self.mapper.snapshot(stamp_s)
        return self.newest

    def capture(self, images: tuple[RgbdImage, ...], simultaneous: bool) -> Capture:
        """Store images under a reference, with the detection frames of their stamps."""
        stamps = {image.stamp_s for image in images}
        frames = tuple(frame for frame in self._frames if frame.stamp_s in stamps)
        return self.store.add(max(stamps), images, simultaneous=simultaneous, detections=frames)
