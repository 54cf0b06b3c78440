"""Node `tracer_driver`: an Agilex Tracer beside its vendor's driver node, whose topics are remapped to `tracer/`."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry as OdometryMessage

from mnav_core.messages.sensing import odometry_of, to_twist
from mnav_core.motion import STOP
from mnav_robots.driver_node import LAST_WORDS, DriverNode
from mnav_robots.tracer.link import TracerLink


class TracerNode(DriverNode):
    """`cmd_vel` and `emergency_stop` as a steady row of Twists; the vendor's odometry as `odom`."""

    def configure(self) -> None:
        """Make the link and the topics."""
        super().configure()
        self._link = TracerLink(self.held)
        name, profile = self.vendor_topic("command", Twist)
        self._commands = self.create_publisher(Twist, name, profile)

    def activate(self) -> None:
        """Listen to the base too."""
        super().activate()
        name, profile = self.vendor_topic("odom", OdometryMessage)
        self.create_subscription(OdometryMessage, name, self._on_odometry, profile)

    def step(self, now_s: float) -> None:
        """Send the velocity of now."""
        self._commands.publish(to_twist(self._link.step(now_s)))

    def rest(self) -> None:
        """Zero, heard before the publisher goes."""
        self._commands.publish(to_twist(STOP))
        self._commands.wait_for_all_acked(LAST_WORDS)

    def _on_odometry(self, message: OdometryMessage) -> None:
        told = odometry_of(message)
        self.told(told.stamp_s, told.pose, told.velocity)


def make_node(**kwargs: Any) -> TracerNode:
    """The node, brought up."""
    node = TracerNode("tracer_driver", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
