"""The mapper's stage of a tick in lockstep: everything of the tick, in the order of a sweep, then `tick_done`."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from sensor_msgs.msg import CameraInfo, Image, PointCloud2

from mnav_core import frames
from mnav_core.geometry import SE3
from mnav_core.lockstep import TickGathering, TickInputs
from mnav_core.messages import detections, sensing, stamps
from mnav_core.nodes import qos
from mnav_core.sensing import PointCloud, RgbdImage
from mnav_core.transforms import TransformError
from mnav_interfaces.msg import DetectionArray, Tick, TickDone

if TYPE_CHECKING:
    from mnav_perception.mapper_node import MapperNode

KINDS = (("image", Image), ("depth", Image), ("camera_info", CameraInfo))


class MapperLockstep:
    """Gathers a tick's messages and maps them at once. Awaits as many capture requests as the mind says it has made."""

    def __init__(self, node: MapperNode) -> None:
        self._node = node
        self._gathering = TickGathering()
        self._ready: deque[TickInputs] = deque()
        self._ticks: dict[int, Tick] = {}

    def open(self) -> None:
        """Listen to every sensor, reliably."""
        node, profile = self._node, qos.lockstep_qos()
        node.create_subscription(Tick, "tick", self._on_tick, profile)
        node.create_subscription(TickDone, "tick_done", self._on_done, profile)
        self._done = node.create_publisher(TickDone, "tick_done", profile)
        if node.robot.lidar is not None:
            self._listen(PointCloud2, "lidar/points", "scan")
        node.create_subscription(DetectionArray, "detections", self._on_detections, profile)
        for view in node.robot.views:
            for kind, message_type in KINDS:
                self._listen(message_type, f"camera/{view}/{kind}", f"{kind}:{view}")

    def advance(self) -> None:
        """Go as far as what has come allows."""
        while (inputs := self._gathering.take()) is not None:
            self._ready.append(inputs)
        while self._ready and self._process(self._ready[0]):
            self._ready.popleft()

    def _listen(self, message_type: Any, topic: str, name: str) -> None:
        def on_message(message: Any) -> None:
            self._gathering.measured(stamps.nanoseconds_of(message.header.stamp), name, message)
            self.advance()

        self._node.create_subscription(message_type, topic, on_message, qos.lockstep_qos())

    def _on_detections(self, message: DetectionArray) -> None:
        stamp_ns = stamps.nanoseconds_of(message.header.stamp)
        self._gathering.measured(stamp_ns, f"detections:{message.view}", message)
        self.advance()

    def _on_tick(self, message: Tick) -> None:
        names = [f"{kind}:{view}" for view in message.image_views for kind, _ in KINDS]
        names += [f"detections:{view}" for view in message.detection_views]
        names += ["scan"] if message.scan else []
        names += ["mind"] if message.tick else []
        self._ticks[message.tick] = message
        self._gathering.expect(message.tick, stamps.nanoseconds_of(message.stamp), names)
        self.advance()

    def _on_done(self, message: TickDone) -> None:
        if message.stage == TickDone.STAGE_MIND:
            # What the mind asked for in one tick is due in the next.
            self._gathering.said(message.tick + 1, "mind", message)
            self.advance()

    def _process(self, inputs: TickInputs) -> bool:
        """Map one tick; False while a transform or a capture request has not come."""
        node, values, stamp_s = self._node, inputs.values, inputs.stamp_ns / 1e9
        mind = values.get("mind")
        if mind is not None and node.captures.asked < mind.count:
            return False
        try:
            base = node.transforms.buffer.lookup(frames.MAP, frames.BASE, stamp_s)
            located = {name: self._locate(message, stamp_s) for name, message in values.items() if name != "mind"}
        except TransformError:
            return False
        tick = self._ticks.pop(inputs.tick)
        node.intake.start(base.to_se2())
        if tick.scan:
            node.intake.scan(PointCloud(stamp_s, sensing.points_of(values["scan"]), located["scan"]))
        images = tuple(self._image(view, values, located, stamp_s) for view in tick.image_views)
        for image in images:
            node.intake.image(image)
        for view in tick.detection_views:
            name = f"detections:{view}"
            node.intake.detections(detections.detection_frame_of(values[name], located[name]))
        if node.schedule.maps_due(inputs.tick):
            node.publish_maps(stamp_s)
        is_whole = {image.view for image in images} >= set(node.robot.views)
        if node.captures.oldest_asked_s is not None and node.schedule.captures_due(inputs.tick) and is_whole:
            node.captures.deliver(node.intake.capture(images, simultaneous=True))
        newest = node.intake.newest
        self._done.publish(
            TickDone(
                stage=TickDone.STAGE_MAPPER,
                tick=inputs.tick,
                map_stamp=stamps.to_time(0.0 if newest is None else newest.stamp_s),
                count=node.captures.delivered,
            )
        )
        return True

    def _locate(self, message: Any, stamp_s: float) -> SE3:
        return self._node.transforms.buffer.lookup(frames.MAP, message.header.frame_id, stamp_s)

    @staticmethod
    def _image(view: str, values: dict[str, Any], located: dict[str, SE3], stamp_s: float) -> RgbdImage:
        return RgbdImage(
            view,
            stamp_s,
            sensing.camera_of(values[f"camera_info:{view}"]),
            located[f"depth:{view}"],
            sensing.rgb_of(values[f"image:{view}"]),
            sensing.depth_of(values[f"depth:{view}"]),
        )
