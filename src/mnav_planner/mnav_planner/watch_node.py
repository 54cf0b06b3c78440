"""Node `watch`: serves what a robot sees and does to Foxglove windows. Slow watchers cost the robot nothing."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Annotated, Any

from nav_msgs.msg import OccupancyGrid
from nav_msgs.msg import Odometry as OdometryMessage
from pydantic import BaseModel, ConfigDict, Field
from rcl_interfaces.msg import Log as LogMessage
from sensor_msgs.msg import CompressedImage

from mnav_core.geometry import SE2
from mnav_core.messages import maps, sensing
from mnav_core.messages.stamps import to_seconds
from mnav_core.nodes import qos
from mnav_core.nodes.self_starting import SelfStartingNode
from mnav_core.parameters import declare_parameters
from mnav_core.robot import find_robot
from mnav_planner.watching.foxglove_sink import FoxgloveSink
from mnav_planner.watching.newest import LineQueue, NewestOnly

PATH_STEP_M = 0.1
MAX_PATH = 5000


class WatchSettings(BaseModel):
    """Parameters of the node."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    robot: str = "cobot_magic"
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    rate_hz: Annotated[float, Field(gt=0.0, le=30.0)] = 5.0


class WatchNode(SelfStartingNode):
    """Takes the newest of each topic at `rate_hz` and hands it to the server; everything in between is left out."""

    settings: WatchSettings

    def configure(self) -> None:
        """Make the queues."""
        self.settings = declare_parameters(self, WatchSettings)
        self._robot = find_robot(self.settings.robot)
        self._images: NewestOnly[str, CompressedImage] = NewestOnly()
        self._grids: NewestOnly[str, OccupancyGrid] = NewestOnly()
        self._lines = LineQueue()
        self._path: deque[SE2] = deque(maxlen=MAX_PATH)
        self._stamp_s = 0.0
        self._sink = FoxgloveSink(self.settings.host, self.settings.port)

    def activate(self) -> None:
        """Listen, and serve."""
        self._sink.open()
        sensor = qos.sensor_qos(False)
        for view in self._robot.views:
            topic = f"camera/{view}/image/compressed"
            self.create_subscription(CompressedImage, topic, partial(self._images.put, view), sensor)
        self.create_subscription(OccupancyGrid, "map", partial(self._grids.put, "map"), qos.latched_qos(1))
        self.create_subscription(OdometryMessage, "odom", self._on_odometry, sensor)
        self.create_subscription(LogMessage, "/rosout", self._on_log, 50)
        self.create_timer(1.0 / self.settings.rate_hz, self._show)
        self.get_logger().info(f"Foxglove: ws://{self.settings.host}:{self._sink.port}")

    def deactivate(self) -> None:
        """Stop serving."""
        self._sink.close()

    def _on_odometry(self, message: OdometryMessage) -> None:
        odometry = sensing.odometry_of(message)
        self._stamp_s = odometry.stamp_s
        pose = odometry.pose
        if not self._path or self._path[-1].distance_to(pose.x, pose.y) >= PATH_STEP_M:
            self._path.append(pose)

    def _on_log(self, message: LogMessage) -> None:
        self._lines.put(to_seconds(message.stamp), f"{message.name}: {message.msg}")

    def _show(self) -> None:
        for view, image in self._images.take_all().items():
            self._sink.image(view, to_seconds(image.header.stamp), bytes(image.data))
        for grid in self._grids.take_all().values():
            self._sink.map(maps.grid_of(grid))
        if self._path:
            self._sink.path(self._stamp_s, tuple(self._path))
        for stamp_s, text in self._lines.take_all():
            self._sink.line(stamp_s, text)


def make_node(**kwargs: Any) -> WatchNode:
    """The node, brought up."""
    node = WatchNode("watch", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
