"""How the world reaches each fake robot: the vendor's topics, or its UDP port."""

from __future__ import annotations

import math
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Protocol

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry as OdometryMessage

from mnav_core.errors import UsageError
from mnav_core.messages import sensing
from mnav_core.motion import STOP, Velocity
from mnav_core.nodes import qos
from mnav_core.robot import RobotDescription
from mnav_core.sensing import Odometry
from mnav_sim_bridge.vendors.firmware import Go1Firmware, Go2Firmware, TracerFirmware

POLL_S = 0.2
STATE_BYTES = 1087
GRAVITY = 9.81
# What the vendor's odometry adds to the height, and where its frames are.
GO2_HEIGHT_M = 0.07


class VendorLink(Protocol):
    """One fake robot's base."""

    def open(self) -> None:
        """Begin to listen."""
        ...

    def tell(self, odometry: Odometry) -> None:
        """Say where the robot is, as the vendor does."""
        ...

    def velocity(self, now_s: float) -> Velocity:
        """What the base is asked for. Call it under the simulation's condition."""
        ...

    def is_commanded(self) -> bool:
        """Whether somebody is there who commands."""
        ...

    def close(self) -> None:
        """End."""
        ...


class _TopicLink:
    """A robot reached over topics; commands are handled under the simulation's condition."""

    def __init__(
        self, node: Any, prefix: str, robot: RobotDescription, arrived: Any, now_s: Callable[[], float]
    ) -> None:
        self._node, self._prefix, self._robot, self._arrived, self._now_s = node, prefix, robot, arrived, now_s

    def _open(self, command_type: Any) -> None:
        topics = self._robot.vendor.topics
        odom, command = topics["odom"], topics["command"]
        profile = qos.stream_qos if odom.reliability == "reliable" else qos.sensor_qos
        self._odometry = self._node.create_publisher(
            OdometryMessage, f"{self._prefix}{odom.name}", profile(depth=odom.depth)
        )
        self._commands = self._node.create_subscription(
            command_type, f"{self._prefix}{command.name}", self._on_command, qos.stream_qos(depth=command.depth)
        )

    def _on_command(self, message: Any) -> None:
        with self._arrived:
            self._take(message)
            self._arrived.notify_all()

    def _take(self, message: Any) -> None:
        raise NotImplementedError

    def is_commanded(self) -> bool:
        return bool(self._commands.get_publisher_count() >= 1)

    def close(self) -> None:
        """Nothing to close: the node owns the topics."""


class Go2Link(_TopicLink):
    """Requests in, odometry without a twist out."""

    firmware: Go2Firmware

    def open(self) -> None:
        from unitree_api.msg import Request

        self.firmware = Go2Firmware()
        self._open(Request)

    def _take(self, message: Any) -> None:
        self.firmware.request(message.header.identity.api_id, message.parameter, self._now_s())

    def tell(self, odometry: Odometry) -> None:
        message = sensing.to_odometry(Odometry(odometry.stamp_s, odometry.pose, STOP))
        message.pose.pose.position.z = GO2_HEIGHT_M
        self._odometry.publish(message)

    def velocity(self, now_s: float) -> Velocity:
        return self.firmware.velocity(now_s)


class TracerLink(_TopicLink):
    """Twists in, wheel odometry out."""

    firmware: TracerFirmware

    def open(self) -> None:
        self.firmware = TracerFirmware()
        self._open(Twist)

    def _take(self, message: Any) -> None:
        self.firmware.twist(sensing.velocity_of(message), self._now_s())

    def tell(self, odometry: Odometry) -> None:
        self._odometry.publish(sensing.to_odometry(odometry))

    def velocity(self, now_s: float) -> Velocity:
        return self.firmware.velocity(now_s)


class Go1Link:
    """Frames in over UDP, states back to whoever sent the last one."""

    def __init__(self, address: tuple[str, int], arrived: Any, now_s: Callable[[], float]) -> None:
        self._address, self._arrived, self._now_s = address, arrived, now_s
        self.firmware = Go1Firmware()
        self._sender: tuple[str, int] | None = None
        self._ends = threading.Event()

    def open(self) -> None:
        """Raises UsageError when the port is taken."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(POLL_S)
        try:
            self._socket.bind(self._address)
        except OSError as error:
            self._socket.close()
            host, port = self._address
            raise UsageError(f"go1_address {host}:{port}: {error.strerror}, allowed: a free port here") from error
        self._thread = threading.Thread(target=self._listen, name="fake_go1", daemon=True)
        self._thread.start()

    def tell(self, odometry: Odometry) -> None:
        sender = self._sender
        if sender is not None:
            self._socket.sendto(state_frame(odometry, self.firmware.mode), sender)

    def velocity(self, now_s: float) -> Velocity:
        return self.firmware.velocity(now_s)

    def is_commanded(self) -> bool:
        return self._sender is not None

    def close(self) -> None:
        self._ends.set()
        self._thread.join(2.0 * POLL_S)
        self._socket.close()

    def _listen(self) -> None:
        while not self._ends.is_set():
            try:
                data, sender = self._socket.recvfrom(2048)
            except OSError:
                continue
            with self._arrived:
                self._sender = sender
                self.firmware.frame(data, self._now_s())
                self._arrived.notify_all()


def state_frame(odometry: Odometry, mode: int) -> bytes:
    """HighState: mode, odometry, velocity and what a level accelerometer feels; everything else is zero."""
    frame = bytearray(STATE_BYTES)
    pose, velocity = odometry.pose, odometry.velocity
    frame[0:2] = b"\xfe\xef"
    frame[22:38] = struct.pack("<ffff", math.cos(pose.yaw / 2.0), 0.0, 0.0, math.sin(pose.yaw / 2.0))
    frame[50:62] = struct.pack("<fff", 0.0, 0.0, GRAVITY)
    frame[885] = mode
    frame[895:907] = struct.pack("<fff", pose.x, pose.y, 0.3)
    frame[911:927] = struct.pack("<ffff", velocity.vx, velocity.vy, 0.0, velocity.wz)
    return bytes(frame)


def make_link(
    robot: RobotDescription, node: Any, prefix: str, go1_address: str, arrived: Any, now_s: Callable[[], float]
) -> VendorLink:
    """The link of a robot's base. Raises UsageError for a robot that has no fake."""
    if robot.name == "go2":
        return Go2Link(node, prefix, robot, arrived, now_s)
    if robot.name == "cobot_magic":
        return TracerLink(node, prefix, robot, arrived, now_s)
    if robot.name == "go1":
        host, _, port = go1_address.rpartition(":")
        if not host or not port.isdigit():
            raise UsageError(f"go1_address {go1_address!r}, allowed: HOST:PORT")
        return Go1Link((host, int(port)), arrived, now_s)
    raise UsageError(f"robot {robot.name!r} has no fake, allowed: cobot_magic, go1, go2")
