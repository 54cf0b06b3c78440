"""Node `go2_driver`: a Unitree Go2 over its own DDS topics."""

from __future__ import annotations

from typing import Any

from nav_msgs.msg import Odometry as OdometryMessage
from std_srvs.srv import SetBool
from unitree_api.msg import Request

from mnav_core.messages.sensing import odometry_of
from mnav_robots.driver_node import LAST_WORDS, DriverNode
from mnav_robots.go2.sport import SportLink, SportRequest


class Go2Node(DriverNode):
    """`cmd_vel`, `emergency_stop` and `stand` as requests to the sport service; the vendor's odometry as `odom`."""

    def configure(self) -> None:
        """Make the link and the topics."""
        super().configure()
        self._link = SportLink(self.held)
        self._sent = 0
        name, profile = self.vendor_topic("command", Request)
        self._requests = self.create_publisher(Request, name, profile)

    def activate(self) -> None:
        """Listen to the robot too."""
        super().activate()
        name, profile = self.vendor_topic("odom", OdometryMessage)
        self.create_subscription(OdometryMessage, name, self._on_odometry, profile)
        self.create_service(SetBool, "stand", self._on_stand)

    def step(self, now_s: float) -> None:
        """Send what is due."""
        self._send(self._link.step(now_s))

    def rest(self) -> None:
        """StopMove, heard before the publisher goes."""
        self._send(self._link.rest())
        self._requests.wait_for_all_acked(LAST_WORDS)

    def _send(self, requests: tuple[SportRequest, ...]) -> None:
        for request in requests:
            self._sent += 1
            message = Request(parameter=request.parameter)
            message.header.identity.id, message.header.identity.api_id = self._sent, int(request.call)
            self._requests.publish(message)

    def _on_odometry(self, message: OdometryMessage) -> None:
        told = odometry_of(message)
        self.told(told.stamp_s, told.pose, told.velocity)

    def _on_stand(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._send(self._link.stand(request.data))
        response.success, response.message = True, f"told to be {self._link.posture.value}"
        return response


def make_node(**kwargs: Any) -> Go2Node:
    """The node, brought up."""
    node = Go2Node("go2_driver", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
