"""What the driver nodes share: commands in, odometry out, a steady beat to the robot."""

from __future__ import annotations

import threading
from typing import Annotated, Any, ClassVar

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry as OdometryMessage
from pydantic import BaseModel, ConfigDict, Field
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from std_msgs.msg import Bool
from tf2_msgs.msg import TFMessage

from mnav_core import frames
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.messages import poses, sensing
from mnav_core.messages.stamps import to_time
from mnav_core.motion import STOP, Velocity
from mnav_core.nodes import qos
from mnav_core.nodes.self_starting import SelfStartingNode
from mnav_core.parameters import declare_parameters
from mnav_core.robot import find_robot
from mnav_core.sensing import Odometry
from mnav_robots.drift import DriftMonitor
from mnav_robots.held_command import HeldCommand
from mnav_robots.vendor_odometry import VendorOdometry

DIAGNOSTICS_PERIOD_S = 1.0
# How long the last words may take to be heard.
LAST_WORDS = Duration(seconds=0.2)
SILENT_S = 1.0


class DriverSettings(BaseModel):
    """Parameters of a driver. `timeout_s`: after this much silence of `cmd_vel` the robot is told to rest.

    `vendor_namespace`: where the vendor's topics are; "" is the node's own namespace, "/" none at all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    robot: str = "go2"
    rate_hz: Annotated[float, Field(ge=5.0, le=200.0)] = 20.0
    timeout_s: Annotated[float, Field(gt=0.0, le=0.5)] = 0.25
    stamped_cmd_vel: bool = False
    vendor_namespace: str = ""


class DriverNode(SelfStartingNode):
    """Subclasses say how their robot is told things: `step` sends what is due, `rest` says the last words."""

    settings_model: ClassVar[type[DriverSettings]] = DriverSettings
    settings: DriverSettings
    _beat: Any = None

    def step(self, now_s: float) -> None:
        """Tell the robot what is due; called at `rate_hz` of wall time and at every command to rest."""
        raise NotImplementedError

    def rest(self) -> None:
        """Tell the robot to rest, as the last thing."""
        raise NotImplementedError

    def configure(self) -> None:
        """Read the robot file and say what in it has no source."""
        self.settings = declare_parameters(self, self.settings_model)
        self.robot = find_robot(self.settings.robot)
        if self.robot.unverified_notice:
            self.get_logger().warning(self.robot.unverified_notice)
        self.held = HeldCommand(self.settings.timeout_s)
        self._odometry = VendorOdometry()
        self._drift = DriftMonitor()
        self._heard_s: float | None = None
        self._talk = threading.Lock()
        self._has_said_rest = False
        self._dropped = 0
        self._odom = self.create_publisher(OdometryMessage, "odom", qos.sensor_qos())
        self._tf = self.create_publisher(TFMessage, "tf", qos.transform_qos())
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.stream_qos(depth=10))

    def activate(self) -> None:
        """Listen, and begin the beat."""
        self._has_said_rest = False
        if self.settings.stamped_cmd_vel:
            self.create_subscription(
                TwistStamped, "cmd_vel", lambda message: self._on_twist(message.twist), qos.command_qos()
            )
        else:
            self.create_subscription(Twist, "cmd_vel", self._on_twist, qos.command_qos())
        self.create_subscription(Bool, "emergency_stop", self._on_emergency_stop, qos.latched_qos())
        # The robot's watchdogs run on wall time: the beat does not stand still with a simulated clock.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._beat = self.create_timer(1.0 / self.settings.rate_hz, self._speak, clock=steady)
        self.create_timer(DIAGNOSTICS_PERIOD_S, self._diagnose, clock=steady)

    def deactivate(self) -> None:
        """Tell the robot to rest and fall silent."""
        self.destroy_timer(self._beat)
        self._beat = None
        self._say_rest()

    def destroy_node(self) -> None:
        """A driver that is ended must not leave its robot walking."""
        if self._beat is not None:
            self._beat = None
            self._say_rest()
        super().destroy_node()

    def _speak(self) -> None:
        with self._talk:
            if not self._has_said_rest:
                self.step(self.now_s())

    def _say_rest(self) -> None:
        """Nothing follows the word to rest, not even a beat that another thread is in."""
        with self._talk:
            self._has_said_rest = True
            self.rest()

    def vendor_topic(self, use: str, message_type: Any) -> tuple[str, Any]:
        """Name, from here, and quality of service of the vendor's topic for a use.

        Raises UsageError when the robot file has none, or one of another type.
        """
        topic = self.robot.vendor.topics.get(use)
        spoken = f"{message_type.__module__.split('.')[0]}/{message_type.__name__}"
        if topic is None or topic.type != spoken:
            found = "missing" if topic is None else f"of type {topic.type}"
            name = self.get_name()
            raise UsageError(f"robot {self.robot.name}: vendor.topics.{use} is {found}, allowed for {name}: {spoken}")
        profile = qos.command_qos() if topic.reliability == "reliable" else qos.sensor_qos()
        profile.depth = topic.depth
        prefix = self.settings.vendor_namespace
        return f"{prefix.rstrip('/')}/{topic.name}" if prefix else topic.name, profile

    def told(self, stamp_s: float, pose: SE2, twist: Velocity) -> None:
        """Publish what the robot told of itself, as `odom` and as the transform of its base."""
        self._heard_s = self.now_s()
        odometry = self._odometry.add(stamp_s, pose, twist)
        if odometry is None:
            self._dropped += 1
            return
        self._drift.add(stamp_s, self.held.wanted(self._heard_s) == STOP, pose)
        self._publish(odometry)

    def _publish(self, odometry: Odometry) -> None:
        self._odom.publish(sensing.to_odometry(odometry))
        transform = poses.to_transform(frames.ODOM, frames.BASE, odometry.pose, odometry.stamp_s)
        self._tf.publish(TFMessage(transforms=[transform]))

    def _on_twist(self, message: Twist) -> None:
        velocity = sensing.velocity_of(message)
        self.held.take(velocity, self.now_s())
        if velocity == STOP:
            # Rest does not wait for the beat.
            self._speak()

    def _on_emergency_stop(self, message: Bool) -> None:
        self.held.emergency_stop(message.data)
        self._speak()

    def _diagnose(self) -> None:
        now_s = self.now_s()
        is_silent = self._heard_s is None or now_s - self._heard_s > SILENT_S
        drift = self._drift.newest
        drifts = drift is not None and drift.is_large
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if is_silent or drifts else DiagnosticStatus.OK,
            name=f"{self.get_fully_qualified_name()}: driver",
            message="the robot is silent" if is_silent else "odometry drifts at rest" if drifts else "connected",
            values=[
                KeyValue(key="drift_m_per_10s", value="" if drift is None else f"{drift.distance_m:.3f}"),
                KeyValue(key="drift_rad_per_10s", value="" if drift is None else f"{drift.yaw_rad:.3f}"),
                KeyValue(key="emergency_stop", value=str(self.held.is_stopped)),
                KeyValue(key="dropped_odometry", value=str(self._dropped)),
            ],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = to_time(now_s)
        self._diagnostics.publish(array)
