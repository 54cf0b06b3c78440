"""Node `mapper`: sensors in; maps, voxels and captures out."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from nav_msgs.msg import OccupancyGrid
from pydantic import BaseModel, ConfigDict, Field
from sensor_msgs.msg import CameraInfo, Image, PointCloud2

from mnav_core import frames
from mnav_core.awaiting_transforms import AwaitingTransforms, Located
from mnav_core.cameras import PinholeCamera
from mnav_core.messages import detections, maps, sensing
from mnav_core.messages.stamps import to_seconds
from mnav_core.nodes import qos
from mnav_core.nodes.self_starting import SelfStartingNode
from mnav_core.nodes.transform_listener import TransformListener
from mnav_core.parameters import declare_parameters
from mnav_core.robot import find_robot
from mnav_core.schedule import SensorSchedule
from mnav_core.sensing import PointCloud, RgbdImage
from mnav_core.transforms import TransformError
from mnav_interfaces.msg import DetectionArray, VoxelDelta
from mnav_perception.capture_services import CaptureServices
from mnav_perception.captures import CaptureStore
from mnav_perception.mapper import Mapper, MapperSettings
from mnav_perception.mapper_intake import MapperIntake
from mnav_perception.mapper_lockstep import MapperLockstep
from mnav_perception.room_publishing import RoomPublishing
from mnav_perception.rotated_views import lacks_views
from mnav_perception.rotating_captures import RotatingCaptures
from mnav_perception.view_pairs import PanoramaGathering, ViewPairs
from mnav_perception.warm import warm


class MapperNodeSettings(BaseModel):
    """Parameters. Timeouts in wall seconds; `side_views_s`: how long side views stay subscribed; `evidence_age_s`:
    without a scan or depth image for so long, no map is sent, so that nobody drives on an old one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    lockstep: bool = False
    robot: str = "cobot_magic"
    map_rate_hz: Annotated[float, Field(gt=0.0, le=20.0)] = 2.0
    rooms_period_s: Annotated[float, Field(gt=0.0, le=3600.0)] = 3.0
    capture_timeout_s: Annotated[float, Field(gt=0.0, le=600.0)] = 20.0
    turning_capture_timeout_s: Annotated[float, Field(gt=0.0, le=600.0)] = 60.0
    side_views_s: Annotated[float, Field(gt=0.0, le=3600.0)] = 10.0
    evidence_age_s: Annotated[float, Field(gt=0.0, le=3600.0)] = 1.0
    mapper: MapperSettings = MapperSettings()


class MapperNode(SelfStartingNode):
    """Free-running it maps what comes, as its transform comes; in lockstep it maps tick by tick (`MapperLockstep`)."""

    settings: MapperNodeSettings

    def configure(self) -> None:
        """Make the core and the topics."""
        self.settings = declare_parameters(self, MapperNodeSettings)
        lockstep = self.settings.lockstep
        self.robot = find_robot(self.settings.robot)
        warm()
        store = CaptureStore()
        self.schedule = SensorSchedule()
        self.intake = MapperIntake(
            self.robot, Mapper(self.robot, self.settings.mapper), store, self.schedule.depth_stride
        )
        views = tuple(self.robot.views)
        self.captures = CaptureServices(
            self,
            store,
            self.settings.capture_timeout_s,
            self.now_s,
            self._on_asked,
            # In lockstep time stands still between requests, and a sweep's body does not turn by itself either.
            can_turn=not lockstep and lacks_views(views),
            turning_timeout_s=self.settings.turning_capture_timeout_s,
        )
        self.captures.open()
        self._rotating = RotatingCaptures(self, views, self._on_rotated, self.captures.refuse_turned)
        self._rotating.open()
        self._grids = {
            name: self.create_publisher(OccupancyGrid, name, qos.latched_qos(4 if lockstep else 1))
            for name in ("map", "costmap", "coverage")
        }
        self._voxels = self.create_publisher(VoxelDelta, "voxels", qos.stream_qos())
        self.transforms = TransformListener(self, lockstep, self._on_transforms)
        self.transforms.open()
        self._waiting: AwaitingTransforms[Any] = AwaitingTransforms(self.transforms.buffer, frames.MAP)
        self._cameras: dict[str, PinholeCamera] = {}
        self._pairs = {view: ViewPairs(view) for view in self.robot.views}
        self._panorama = PanoramaGathering(views)
        self._side_views: list[Any] = []
        self._side_views_until_s = 0.0
        self._lockstep = MapperLockstep(self) if lockstep else None
        self._rooms = RoomPublishing(self, self.intake.mapper)

    def activate(self) -> None:
        """Listen."""
        if self._lockstep is not None:
            self._lockstep.open()
            return
        sensor = qos.sensor_qos()
        if self.robot.lidar is not None:
            self.create_subscription(PointCloud2, "lidar/points", self._on_scan, sensor)
        self.create_subscription(DetectionArray, "detections", self._on_detections, qos.sensor_qos(depth=20))
        self._subscribe_view(self.robot.success_view, with_rgb=False)
        self._map_timer = self.create_timer(1.0 / self.settings.map_rate_hz, self._on_map_timer)
        self._rooms_timer = self.create_timer(
            self.settings.rooms_period_s, lambda: self._rooms.publish(self.now_s())
        )

    def deactivate(self) -> None:
        """Publish no more maps."""
        if self._lockstep is None:
            self.destroy_timer(self._map_timer)
            self.destroy_timer(self._rooms_timer)

    def publish_maps(self, stamp_s: float) -> None:
        """Derive the maps and send them; voxels only while somebody listens."""
        snapshot = self.intake.snapshot(stamp_s)
        self._grids["map"].publish(maps.to_occupancy_grid(snapshot.occupancy))
        self._grids["costmap"].publish(maps.to_occupancy_grid(snapshot.costmap))
        self._grids["coverage"].publish(maps.to_coverage_grid(snapshot))
        if self._voxels.get_subscription_count() > 0:
            for message in maps.to_voxel_deltas(self.intake.mapper.take_delta(stamp_s, maps.MAX_VOXELS)):
                self._voxels.publish(message)

    def locate_start(self, stamp_s: float) -> bool:
        """Mark the start footprint once the base can be located; whether that is done."""
        if not self.intake.is_started:
            try:
                self.intake.start(self.transforms.buffer.lookup(frames.MAP, frames.BASE, stamp_s).to_se2())
            except TransformError:
                return False
        return True

    def _subscribe_view(self, view: str, with_rgb: bool) -> list[Any]:
        def on_info(message: CameraInfo) -> None:
            self._cameras[view] = sensing.camera_of(message)

        def on_depth(message: Image) -> None:
            self._offer(f"depth:{view}", message)

        def on_rgb(message: Image) -> None:
            self._gather(self._pairs[view].add_rgb(to_seconds(message.header.stamp), sensing.rgb_of(message)))

        sensor, topic = qos.sensor_qos(), f"camera/{view}"
        if with_rgb and view == self.robot.success_view:
            return [self.create_subscription(Image, f"{topic}/image", on_rgb, sensor)]
        made = [
            self.create_subscription(CameraInfo, f"{topic}/camera_info", on_info, sensor),
            self.create_subscription(Image, f"{topic}/depth", on_depth, sensor),
        ]
        if with_rgb:
            made.append(self.create_subscription(Image, f"{topic}/image", on_rgb, sensor))
        return made

    def _on_scan(self, message: PointCloud2) -> None:
        self._offer("scan", message)

    def _on_detections(self, message: DetectionArray) -> None:
        self._offer(f"detections:{message.view}", message)

    def _offer(self, key: str, message: Any) -> None:
        self._waiting.offer(key, to_seconds(message.header.stamp), message.header.frame_id, message)
        self._on_transforms()

    def _on_transforms(self) -> None:
        if self._lockstep is not None:
            self._lockstep.advance()
            return
        for located in self._waiting.take(self.now_s()):
            if self.locate_start(located.stamp_s):
                self._integrate(located)

    def _integrate(self, located: Located[Any]) -> None:
        kind, _, view = located.key.partition(":")
        if kind == "scan":
            self.intake.scan(PointCloud(located.stamp_s, sensing.points_of(located.message), located.pose))
        elif kind == "detections":
            frame = detections.detection_frame_of(located.message, located.pose)
            self.intake.detections(frame)
            self._rooms.detected(frame)
        elif view in self._cameras:
            depth = sensing.depth_of(located.message)
            camera = self._cameras[view].scaled(depth.shape[1], depth.shape[0])
            colourless = np.zeros((*depth.shape, 3), np.uint8)
            self.intake.image(RgbdImage(view, located.stamp_s, camera, located.pose, colourless, depth))
            self._gather(self._pairs[view].add_depth(located.stamp_s, depth, camera, located.pose))

    def _on_map_timer(self) -> None:
        now_s = self.now_s()
        if self.intake.is_started and abs(now_s - self.intake.evidence_s) <= self.settings.evidence_age_s:
            self.publish_maps(now_s)
        self._keep_side_views()

    def _on_asked(self, turns: bool) -> None:
        if self._lockstep is not None:
            self._lockstep.advance()
            return
        if turns:
            self._rotating.begin(self.now_s())
        self._side_views_until_s = self.now_s() + self.settings.side_views_s
        if not self._side_views:
            for view in self.robot.views:
                self._side_views += self._subscribe_view(view, with_rgb=True)

    def _gather(self, image: RgbdImage | None) -> None:
        if image is None:
            return
        self._panorama.add(image)
        self._rotating.add(image)
        asked_s = self.captures.oldest_asked_s
        found = None if asked_s is None else self._panorama.take(asked_s)
        if found is not None:
            self.captures.deliver(self.intake.capture(*found))

    def _on_rotated(self, images: tuple[RgbdImage, ...]) -> None:
        self.captures.deliver(self.intake.capture(images, simultaneous=False), rotated=True)

    def _keep_side_views(self) -> None:
        """Drop the side views' subscriptions when nobody has asked for a while, so that they are no longer rendered."""
        if self._rotating.is_active:
            if self.captures.is_turn_awaited:
                return
            self._rotating.abandon()
        if self._side_views and self.captures.oldest_asked_s is None and self.now_s() > self._side_views_until_s:
            for subscription in self._side_views:
                self.destroy_subscription(subscription)
            self._side_views.clear()


def make_node(**kwargs: Any) -> MapperNode:
    """The node, brought up."""
    node = MapperNode("mapper", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
