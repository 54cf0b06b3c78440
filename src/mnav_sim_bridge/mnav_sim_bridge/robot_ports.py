"""The topics of one simulated robot, named as a real robot's drivers would: sensors out, commands in."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2
from tf2_msgs.msg import TFMessage

from mnav_core import frames
from mnav_core.geometry import SE2
from mnav_core.messages import detections, poses, sensing, stamps
from mnav_core.motion import STOP, RobotCommand, Velocity
from mnav_core.nodes import qos
from mnav_core.robot import RobotDescription
from mnav_core.schedule import SensorSchedule
from mnav_core.sensing import PointCloud, RgbdImage, SensorFrame, SensorRequest
from mnav_interfaces.msg import DetectionArray, Tick, TickDone
from mnav_sim_bridge.interaction_port import InteractionPort


@dataclass(frozen=True)
class PortSettings:
    """How one robot's topics behave. `identity_localization`: `map`->`odom` is published here, as the identity.

    `go1_address`: HOST:PORT on which a fake Go1 listens.
    """

    lockstep: bool
    identity_localization: bool
    stamped_cmd_vel: bool
    command_timeout_s: float
    go1_address: str = ""


@dataclass
class _Inbox:
    """The newest of what came, guarded by the condition of the simulation."""

    velocity: Velocity = STOP
    velocity_ns: int | None = None
    pitch: float = 0.0
    pitch_ns: int | None = None
    done: dict[str, TickDone] = field(default_factory=dict)


class RobotPorts:
    """Publishers and subscriptions of one robot under `prefix` of the node's namespace.

    Publishes from the simulation's thread; subscriptions fill an inbox under `arrived`, which wakes that thread.
    """

    def __init__(
        self, node: Any, name: str, prefix: str, robot: RobotDescription, settings: PortSettings, arrived: Any
    ) -> None:
        self.name = name
        self._node = node
        self._prefix = f"{prefix}/" if prefix else ""
        self._robot = robot
        self._settings = settings
        self._arrived: threading.Condition = arrived
        self._inbox = _Inbox()
        self._publishers: dict[str, Any] = {}
        self._stamp_ns = 0
        self._commands: list[Any] = []

    def open(self) -> None:
        """Create publishers and subscriptions, and tell the static transforms."""
        lockstep = self._settings.lockstep
        sensor, command = qos.sensor_qos(lockstep), qos.command_qos(lockstep)
        self._publish_as("odom", Odometry, sensor)
        self._publish_as("tf", TFMessage, qos.transform_qos(lockstep))
        self._publish_as("tf_static", TFMessage, qos.latched_qos())
        self._publish_as("detections", DetectionArray, qos.sensor_qos(lockstep, depth=20))
        if self._robot.lidar is not None:
            self._publish_as("lidar/points", PointCloud2, sensor)
        for view in self._robot.views:
            self._publish_as(f"camera/{view}/image", Image, sensor)
            self._publish_as(f"camera/{view}/depth", Image, sensor)
            self._publish_as(f"camera/{view}/camera_info", CameraInfo, sensor)
        if self._head is not None:
            self._publish_as("joint_states", JointState, sensor)
            self._subscribe(JointState, "head_command", self._on_head, command)
        if self._settings.stamped_cmd_vel or lockstep:
            self._subscribe(TwistStamped, "cmd_vel", self._on_stamped, command)
        else:
            self._subscribe(Twist, "cmd_vel", self._on_twist, command)
        if lockstep:
            self._publish_as("tick", Tick, qos.lockstep_qos())
            self._subscribe(TickDone, "tick_done", self._on_done, qos.lockstep_qos())
        self._interactions = InteractionPort(self._node, self._prefix, self._arrived)
        self._publishers["tf_static"].publish(TFMessage(transforms=self._static_transforms()))

    def request(self, tick: int, schedule: SensorSchedule) -> SensorRequest:
        """What to read in this tick: side views only while somebody wants them."""
        return schedule.request(tick, self._robot, self._side_views_wanted())

    def publish(self, frame: SensorFrame, tick: int) -> None:
        """Send one frame; in lockstep the tick follows it."""
        self._stamp_ns = stamps.to_nanoseconds(frame.stamp_s)
        self._publishers["odom"].publish(sensing.to_odometry(frame.odometry))
        self._publishers["tf"].publish(TFMessage(transforms=self._transforms(frame)))
        if self._head is not None:
            self._publishers["joint_states"].publish(sensing.to_head_state(frame.camera_pitch, frame.stamp_s))
        if frame.scan is not None:
            self._publish_scan(frame.scan)
        for image in frame.images:
            self._publish_image(image)
        self._interactions.ended(frame.interactions)
        for found in frame.detections:
            self._publishers["detections"].publish(detections.to_detection_array(found))
        if self._settings.lockstep:
            self._publishers["tick"].publish(
                Tick(
                    tick=tick,
                    stamp=stamps.to_time(frame.stamp_s),
                    scan=frame.scan is not None,
                    image_views=[image.view for image in frame.images],
                    detection_views=[found.view for found in frame.detections],
                )
            )

    def is_connected(self) -> bool:
        """Whether maps, executor and mind listen, and the gate commands."""
        listeners = self._publishers["odom"].get_subscription_count() >= 2 and all(
            self._publishers[name].get_subscription_count() >= 1 for name in ("tf", "detections")
        )
        return listeners and all(subscription.get_publisher_count() >= 1 for subscription in self._commands)

    def newest_command(self, now_s: float) -> RobotCommand:
        """The newest command; a velocity older than the timeout is rest, as in a driver. Call it under `arrived`."""
        inbox = self._inbox
        stamp_s = None if inbox.velocity_ns is None else inbox.velocity_ns / 1e9
        is_fresh = stamp_s is not None and now_s - stamp_s <= self._settings.command_timeout_s
        return self._interactions.command(RobotCommand(inbox.velocity if is_fresh else STOP, inbox.pitch))

    def missing(self, tick: int, stamp_ns: int) -> tuple[str, ...]:
        """What has not yet come of a tick in lockstep. Call it under `arrived`."""
        found = []
        mind = self._inbox.done.get(TickDone.STAGE_MIND)
        if mind is None or mind.tick < tick:
            found += [s for s in (TickDone.STAGE_MAPPER, TickDone.STAGE_EXECUTOR) if not self._has_done(s, tick)]
            found.append(TickDone.STAGE_MIND)
        if self._inbox.velocity_ns != stamp_ns:
            found.append("cmd_vel")
        if self._head is not None and self._inbox.pitch_ns != stamp_ns:
            found.append("head_command")
        return tuple(f"{self._prefix}{name}" for name in found)

    def close(self) -> None:
        """Nothing to close: the node owns the topics."""

    @property
    def _head(self) -> str | None:
        return next((view for view, camera in self._robot.views.items() if camera.tilt is not None), None)

    def _has_done(self, stage: str, tick: int) -> bool:
        return stage in self._inbox.done and bool(self._inbox.done[stage].tick >= tick)

    def _publish_as(self, topic: str, message_type: Any, profile: Any) -> None:
        self._publishers[topic] = self._node.create_publisher(message_type, f"{self._prefix}{topic}", profile)

    def _subscribe(self, message_type: Any, topic: str, callback: Any, profile: Any) -> None:
        made = self._node.create_subscription(message_type, f"{self._prefix}{topic}", callback, profile)
        if topic != "tick_done":
            self._commands.append(made)

    def _side_views_wanted(self) -> bool:
        if self._settings.lockstep:
            # A sweep reads side views exactly while a capture is asked for; so does lockstep.
            with self._arrived:
                done = self._inbox.done
                asked, delivered = done.get(TickDone.STAGE_MIND), done.get(TickDone.STAGE_MAPPER)
                return asked is not None and asked.count > (0 if delivered is None else delivered.count)
        side = [view for view in self._robot.views if view != self._robot.success_view]
        return any(self._is_wanted(f"camera/{view}/{kind}") for view in side for kind in ("image", "depth"))

    def _is_wanted(self, topic: str) -> bool:
        return self._settings.lockstep or self._publishers[topic].get_subscription_count() > 0

    def _publish_scan(self, scan: PointCloud) -> None:
        if self._is_wanted("lidar/points"):
            self._publishers["lidar/points"].publish(sensing.to_point_cloud(scan.points, frames.LIDAR, scan.stamp_s))

    def _publish_image(self, image: RgbdImage) -> None:
        topic, frame = f"camera/{image.view}", frames.optical_frame(image.view)
        if self._is_wanted(f"{topic}/image"):
            self._publishers[f"{topic}/image"].publish(sensing.to_rgb_image(image.rgb, frame, image.stamp_s))
        if self._is_wanted(f"{topic}/depth"):
            self._publishers[f"{topic}/depth"].publish(sensing.to_depth_image(image.depth, frame, image.stamp_s))
        self._publishers[f"{topic}/camera_info"].publish(sensing.to_camera_info(image.camera, frame, image.stamp_s))

    def _transforms(self, frame: SensorFrame) -> list[Any]:
        odometry = frame.odometry
        found = [poses.to_transform(frames.ODOM, frames.BASE, odometry.pose, odometry.stamp_s)]
        if self._head is not None:
            pose = self._robot.views[self._head].optical_in_base(frame.camera_pitch)
            found.append(poses.to_transform(frames.BASE, frames.optical_frame(self._head), pose, frame.stamp_s))
        return found

    def _static_transforms(self) -> list[Any]:
        found = [
            poses.to_transform(frames.BASE, frames.optical_frame(view), camera.optical_in_base(), 0.0)
            for view, camera in self._robot.views.items()
            if camera.tilt is None
        ]
        if self._robot.lidar is not None:
            found.append(poses.to_transform(frames.BASE, frames.LIDAR, self._robot.lidar.pose_in_base(), 0.0))
        if self._settings.identity_localization:
            found.append(poses.to_transform(frames.MAP, frames.ODOM, SE2(0.0, 0.0), 0.0))
        return found

    def _on_twist(self, message: Twist) -> None:
        self._take_velocity(message, self._stamp_ns)

    def _on_stamped(self, message: TwistStamped) -> None:
        self._take_velocity(message.twist, stamps.nanoseconds_of(message.header.stamp))

    def _take_velocity(self, twist: Twist, stamp_ns: int) -> None:
        with self._arrived:
            self._inbox.velocity, self._inbox.velocity_ns = sensing.velocity_of(twist), stamp_ns
            self._arrived.notify_all()

    def _on_head(self, message: JointState) -> None:
        pitch = sensing.head_pitch_of(message)
        if pitch is None:
            return
        with self._arrived:
            self._inbox.pitch, self._inbox.pitch_ns = pitch, stamps.nanoseconds_of(message.header.stamp)
            self._arrived.notify_all()

    def _on_done(self, message: TickDone) -> None:
        with self._arrived:
            self._inbox.done[message.stage] = message
            self._arrived.notify_all()
