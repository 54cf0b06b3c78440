"""Node `go1_driver`: a Unitree Go1 over UDP, in a process of its own."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field
from sensor_msgs.msg import Imu
from std_srvs.srv import SetBool

from mnav_core import frames
from mnav_core.messages.sensing import header
from mnav_core.nodes import qos
from mnav_core.nodes.mailbox import Mailbox
from mnav_robots.driver_node import DriverNode, DriverSettings
from mnav_robots.go1.link import LAST_WORDS, REST, Go1Link
from mnav_robots.go1.udp import UdpLink
from mnav_robots.go1.wire import HighState, decode_state, encode


class Go1Settings(DriverSettings):
    """Parameters. `address`: HOST:PORT of the robot, "" as its file says."""

    robot: str = "go1"
    rate_hz: Annotated[float, Field(ge=20.0, le=200.0)] = 50.0
    address: str = ""


class Go1Node(DriverNode):
    """`cmd_vel`, `emergency_stop` and `stand` as high-level commands; the robot's state as `odom` and `imu`.

    A state has no stamp of its own: the time of its arrival is taken.
    """

    settings_model: ClassVar[type[DriverSettings]] = Go1Settings
    settings: Go1Settings

    def configure(self) -> None:
        """Make the link."""
        super().configure()
        self._link = Go1Link(self.held)
        self._mailbox = Mailbox(self)
        self._bad_frames = 0
        self._imu = self.create_publisher(Imu, "imu", qos.sensor_qos())
        self._udp = UdpLink(self.settings.address or self.robot.vendor.address, self._on_frame)

    def activate(self) -> None:
        """Listen to the robot too."""
        self._udp.open()
        super().activate()
        self.create_service(SetBool, "stand", self._on_stand)

    def destroy_node(self) -> None:
        """Say the last words, then close the socket."""
        super().destroy_node()
        if hasattr(self, "_udp"):
            self._udp.close()

    def step(self, now_s: float) -> None:
        """Send the command of now."""
        self._udp.send(encode(self._link.step(now_s)))

    def rest(self) -> None:
        """Velocity zero."""
        for _ in range(LAST_WORDS):
            self._udp.send(encode(REST))

    def _on_frame(self, frame: bytes) -> None:
        """In the socket's thread."""
        stamp_s = self.now_s()
        try:
            state = decode_state(frame)
        except ValueError as error:
            self._bad_frames += 1
            if self._bad_frames == 1:
                self.get_logger().error(str(error))
            return
        self._mailbox.post(lambda: self._on_state(stamp_s, state))

    def _on_state(self, stamp_s: float, state: HighState) -> None:
        self.told(stamp_s, state.pose, state.velocity)
        imu = Imu(header=header(frames.BASE, stamp_s))
        # Nothing is said of orientation and rates: the first element says so.
        imu.orientation_covariance[0] = imu.angular_velocity_covariance[0] = -1.0
        acceleration = imu.linear_acceleration
        acceleration.x, acceleration.y, acceleration.z = state.acceleration
        self._imu.publish(imu)

    def _on_stand(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        for command in self._link.stand(request.data):
            self._udp.send(encode(command))
        response.success = True
        response.message = f"told to {'stand' if request.data else 'lie down'}"
        return response


def make_node(**kwargs: Any) -> Go1Node:
    """The node, brought up."""
    node = Go1Node("go1_driver", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
