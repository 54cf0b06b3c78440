"""What a mind's node hears of its robot: straight into the body when free-running, tick by tick in lockstep."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nav_msgs.msg import OccupancyGrid
from nav_msgs.msg import Odometry as OdometryMessage
from sensor_msgs.msg import JointState

from mnav_core import frames
from mnav_core.awaiting_transforms import AwaitingTransforms
from mnav_core.geometry import SE2
from mnav_core.lockstep import TickGathering, TickInputs
from mnav_core.maps import GridMap
from mnav_core.messages import detections, maps, sensing, stamps
from mnav_core.nodes import qos
from mnav_core.nodes.transform_listener import TransformListener
from mnav_core.sensing import Odometry
from mnav_core.transforms import TransformError
from mnav_interfaces.msg import DetectionArray, Tick, TickDone
from mnav_planner.ros_body import RosBody

GRIDS = ("map", "costmap", "coverage")
KEPT_MAPS = 4


class MindInputs:
    """Subscriptions of a mind's node. `on_change` is called when the body was told something; in lockstep `on_tick` is
    called instead, once the executor has done its part of a tick and everything of the tick is in the body.
    """

    def __init__(
        self,
        node: Any,
        body: RosBody,
        lockstep: bool,
        on_change: Callable[[], None],
        on_tick: Callable[[TickInputs], None],
    ) -> None:
        self._node = node
        self._body = body
        self._is_lockstep = lockstep
        self._on_change = on_change
        self._on_tick_done = on_tick
        self._has_head = any(camera.tilt is not None for camera in body.robot.views.values())
        self._transforms = TransformListener(node, lockstep, self._advance)
        self._waiting: AwaitingTransforms[DetectionArray] = AwaitingTransforms(self._transforms.buffer, frames.MAP)
        self._grids: dict[float, dict[str, GridMap]] = {}
        self._gathering = TickGathering()
        self._pending: TickInputs | None = None

    def open(self) -> None:
        """Listen."""
        lockstep = self._is_lockstep
        sensor = qos.sensor_qos(lockstep)
        self._transforms.open()
        self._node.create_subscription(OdometryMessage, "odom", self._on_odometry, sensor)
        if self._has_head:
            self._node.create_subscription(JointState, "joint_states", self._on_joints, sensor)
        self._node.create_subscription(
            DetectionArray, "detections", self._on_detections, qos.sensor_qos(lockstep, depth=20)
        )
        for name in GRIDS:
            self._node.create_subscription(
                OccupancyGrid, name, partial(self._on_grid, name), qos.latched_qos(4 if lockstep else 1)
            )
        if lockstep:
            self._node.create_subscription(Tick, "tick", self._on_tick, qos.lockstep_qos())
            self._node.create_subscription(TickDone, "tick_done", self._on_done, qos.lockstep_qos())

    def _on_odometry(self, message: OdometryMessage) -> None:
        if self._is_lockstep:
            self._gather(message, "odom", message)
            return
        odometry = sensing.odometry_of(message)
        if not odometry.is_finite:
            return
        offset = self._odom_in_map(odometry.stamp_s)
        if offset is not None:
            self._take_odometry(odometry, offset)
            self._on_change()

    def _on_joints(self, message: JointState) -> None:
        pitch = sensing.head_pitch_of(message)
        if self._is_lockstep:
            self._gather(message, "head", pitch)
        elif pitch is not None:
            self._body.state.camera_pitch = pitch

    def _on_detections(self, message: DetectionArray) -> None:
        if self._is_lockstep:
            self._gather(message, f"detections:{message.view}", message)
            return
        stamp_s = stamps.to_seconds(message.header.stamp)
        self._waiting.offer(f"{message.view}:{stamp_s}", stamp_s, message.header.frame_id, message)
        self._advance()

    def _on_grid(self, name: str, message: OccupancyGrid) -> None:
        grid = maps.grid_of(message)
        self._grids.setdefault(grid.stamp_s, {})[name] = grid
        while len(self._grids) > KEPT_MAPS:
            # The one that came first: after a clock that went back, its stamp need not be the least.
            del self._grids[next(iter(self._grids))]
        if self._is_lockstep:
            self._advance()
        elif self._take_maps(grid.stamp_s):
            self._on_change()

    def _on_tick(self, message: Tick) -> None:
        names = ["odom", TickDone.STAGE_EXECUTOR, TickDone.STAGE_MAPPER, *(["head"] if self._has_head else [])]
        names += [f"detections:{view}" for view in message.detection_views]
        self._gathering.said(message.tick, "tick", message)
        self._gathering.expect(message.tick, stamps.nanoseconds_of(message.stamp), names)
        self._advance()

    def _on_done(self, message: TickDone) -> None:
        if message.stage in (TickDone.STAGE_EXECUTOR, TickDone.STAGE_MAPPER) and message.round == 0:
            self._gathering.said(message.tick, message.stage, message)
            self._advance()

    def _gather(self, message: Any, name: str, value: Any) -> None:
        self._gathering.measured(stamps.nanoseconds_of(message.header.stamp), name, value)
        self._advance()

    def _advance(self) -> None:
        if not self._is_lockstep:
            located = self._waiting.take(self._body.now_s())
            for found in located:
                self._body.detected(detections.detection_frame_of(found.message, found.pose))
            if located:
                self._on_change()
            return
        self._pending = self._pending or self._gathering.take()
        if self._pending is not None and self._take_tick(self._pending):
            tick, self._pending = self._pending, None
            self._on_tick_done(tick)

    def _take_tick(self, inputs: TickInputs) -> bool:
        """Tell the body everything of one tick; False while a transform or a map has not come."""
        values, stamp_s = inputs.values, inputs.stamp_ns / 1e9
        offset = self._odom_in_map(stamp_s)
        if offset is None:
            return False
        try:
            found = [
                detections.detection_frame_of(
                    message, self._transforms.buffer.lookup(frames.MAP, message.header.frame_id, stamp_s)
                )
                for message in (values[f"detections:{view}"] for view in values["tick"].detection_views)
            ]
        except TransformError:
            return False
        if not self._take_maps(stamps.to_seconds(values[TickDone.STAGE_MAPPER].map_stamp)):
            return False
        self._take_odometry(sensing.odometry_of(values["odom"]), offset)
        self._body.state.camera_pitch = values.get("head") or 0.0
        for frame in found:
            self._body.detected(frame)
        return True

    def _odom_in_map(self, stamp_s: float) -> SE2 | None:
        try:
            return self._transforms.buffer.lookup(frames.MAP, frames.ODOM, stamp_s).to_se2()
        except TransformError:
            return None

    def _take_odometry(self, odometry: Odometry, offset: SE2) -> None:
        state = self._body.state
        state.stamp_s, state.velocity = odometry.stamp_s, odometry.velocity
        state.pose = odometry.pose if offset == SE2(0.0, 0.0) else offset @ odometry.pose

    def _take_maps(self, stamp_s: float) -> bool:
        """Give the body the maps of a time, once all three are here."""
        current = self._body.state.maps
        if current is not None and current.stamp_s == stamp_s:
            return True
        grids = self._grids.get(stamp_s, {})
        if len(grids) < len(GRIDS):
            return False
        self._body.state.maps = maps.snapshot_of(grids["map"], grids["costmap"], grids["coverage"])
        return True
