"""When each sensor is read, in control ticks: the same in a sweep and in a simulated ROS graph."""

from __future__ import annotations

from dataclasses import dataclass

from mnav_core.robot import RobotDescription
from mnav_core.sensing import SensorRequest, ViewRequest


@dataclass(frozen=True)
class SensorSchedule:
    """Periods in ticks. The success view is read at every image tick; all views, with detections, at every detect tick.

    A capture is the set of views of one detect tick, so `detect_every` is a multiple of `image_every`. Every
    `depth_stride`-th row and column of depth is mapped.
    """

    scan_every: int = 2
    image_every: int = 5
    detect_every: int = 10
    maps_every: int = 5
    image_size: tuple[int, int] = (320, 240)
    depth_stride: int = 2

    def maps_due(self, tick: int) -> bool:
        """Whether maps are derived and published in this tick."""
        return tick % self.maps_every == 0

    def captures_due(self, tick: int) -> bool:
        """Whether a capture can be taken in this tick."""
        return tick % self.detect_every == 0

    def request(self, tick: int, robot: RobotDescription, all_views: bool) -> SensorRequest:
        """What to read in this tick.

        Side views are read at a detect tick if `all_views` says that somebody wants them.
        """
        views: tuple[str, ...] = ()
        if self.captures_due(tick) and all_views:
            views = tuple(robot.views)
        elif tick % self.image_every == 0:
            views = (robot.success_view,)
        return SensorRequest(
            scan=robot.lidar is not None and tick % self.scan_every == 0,
            views=tuple(ViewRequest(view, *self.image_size) for view in views),
            detect=tuple(robot.views) if self.captures_due(tick) else (),
        )
