"""A world whose sensors and clock can be made to fail while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from mnav_core.geometry import SE2
from mnav_core.motion import RobotCommand
from mnav_core.robot import RobotDescription
from mnav_core.seams import Truth, World
from mnav_core.sensing import Odometry, PointCloud, RgbdImage, SensorFrame, SensorRequest


class Fault(Enum):
    """What fails."""

    NONE = "nothing"
    FROZEN_ODOMETRY = "odometry repeats its last message"
    NO_RANGES = "neither scans nor images come"
    NO_IMAGES = "no images come"
    NAN_RANGES = "half of all points and depths are NaN"
    NAN_ODOMETRY = "odometry is NaN"


@dataclass
class FaultyWorld:
    """Another world with a fault that anybody may set from any thread; `jump_s` is added to its clock."""

    inner: World
    fault: Fault = Fault.NONE
    jump_s: float = 0.0
    _frozen: Odometry | None = None

    @property
    def time_s(self) -> float:
        """Simulated time, jumps included."""
        return round(self.inner.time_s + self.jump_s, 9)

    @property
    def tick_s(self) -> float:
        """Length of one step."""
        return self.inner.tick_s

    @property
    def robots(self) -> Mapping[str, RobotDescription]:
        """The robots by name."""
        return self.inner.robots

    def reset(self, seed: int) -> None:
        """Reset the world."""
        self.inner.reset(seed)

    def step(self, commands: Mapping[str, RobotCommand]) -> None:
        """Advance one tick."""
        self.inner.step(commands)

    def sense(self, robot: str, request: SensorRequest) -> SensorFrame:
        """What arrives under the fault."""
        frame, fault = self._shifted(self.inner.sense(robot, request)), self.fault
        if fault is not Fault.FROZEN_ODOMETRY:
            self._frozen = frame.odometry
        elif self._frozen is not None:
            frame = replace(frame, odometry=self._frozen)
        if fault is Fault.NO_RANGES:
            frame = replace(frame, scan=None, images=())
        if fault is Fault.NO_IMAGES:
            frame = replace(frame, images=())
        if fault is Fault.NAN_RANGES:
            scan = None if frame.scan is None else _half_nan_scan(frame.scan)
            frame = replace(frame, scan=scan, images=tuple(_half_nan_image(image) for image in frame.images))
        if fault is Fault.NAN_ODOMETRY:
            nowhere = SE2(float("nan"), float("nan"), float("nan"))
            frame = replace(frame, odometry=replace(frame.odometry, pose=nowhere))
        return frame

    def truth(self) -> Truth:
        """What is true."""
        return self.inner.truth()

    def state_hash(self) -> str:
        """Hash of the physical state."""
        return self.inner.state_hash()

    def close(self) -> None:
        """Close the world."""
        self.inner.close()

    def _shifted(self, frame: SensorFrame) -> SensorFrame:
        if self.jump_s == 0.0:
            return frame
        now_s = self.time_s
        return replace(
            frame,
            stamp_s=now_s,
            odometry=replace(frame.odometry, stamp_s=now_s),
            scan=None if frame.scan is None else replace(frame.scan, stamp_s=now_s),
            images=tuple(replace(image, stamp_s=now_s) for image in frame.images),
            detections=tuple(replace(found, stamp_s=now_s) for found in frame.detections),
        )


def _half_nan_scan(scan: PointCloud) -> PointCloud:
    points = scan.points.copy()
    points[::2] = np.nan
    return replace(scan, points=points)


def _half_nan_image(image: RgbdImage) -> RgbdImage:
    depth = image.depth.copy()
    depth[:, ::2] = np.nan
    return replace(image, depth=depth)
