"""The executor's stage of a tick in lockstep: one step once odometry, head, and the mapper's word and map are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nav_msgs.msg import Odometry as OdometryMessage
from sensor_msgs.msg import JointState

from mnav_core.lockstep import TickGathering, TickInputs
from mnav_core.messages import sensing, stamps
from mnav_core.nodes import qos
from mnav_interfaces.msg import Tick, TickDone

if TYPE_CHECKING:
    from mnav_executor_geo.executor_node import ExecutorNode


class ExecutorLockstep:
    """Steps the node's navigator tick by tick and says how many motions have ended."""

    def __init__(self, node: ExecutorNode) -> None:
        self._node = node
        self._gathering = TickGathering()
        self._pending: TickInputs | None = None
        self._question: TickDone | None = None

    def open(self) -> None:
        """Listen to everything of a tick, reliably."""
        node, profile = self._node, qos.lockstep_qos()
        node.create_subscription(OdometryMessage, "odom", self._on_odometry, profile)
        if node.has_head:
            node.create_subscription(JointState, "joint_states", self._on_joints, profile)
        node.create_subscription(Tick, "tick", self._on_tick, profile)
        node.create_subscription(TickDone, "tick_done", self._on_done, profile)
        self._done = node.create_publisher(TickDone, "tick_done", profile)

    def advance(self) -> None:
        """Step once everything of the tick is here, the map that the mapper speaks of included."""
        self._pending = self._pending or self._gathering.take()
        tick, costmap = self._pending, self._node.costmap
        if tick is None or costmap is None:
            return
        if stamps.to_nanoseconds(costmap.stamp_s) != stamps.nanoseconds_of(tick.values["mapper"].map_stamp):
            return
        odometry = sensing.odometry_of(tick.values["odom"])
        if not self._node.take_tick(odometry, tick.values.get("head") or 0.0):
            return
        self._pending = None
        self._node.step(tick.stamp_ns / 1e9)
        self._done.publish(TickDone(stage=TickDone.STAGE_EXECUTOR, tick=tick.tick, count=self._node.ended))

    def answer(self) -> None:
        """Say again what has ended, once every goal that the mind sent has been started or refused."""
        question = self._question
        if question is None or not self._node.has_started_all:
            return
        self._question = None
        self._done.publish(
            TickDone(
                stage=TickDone.STAGE_EXECUTOR, tick=question.tick, round=question.round, count=self._node.ended
            )
        )

    def _on_odometry(self, message: OdometryMessage) -> None:
        self._gathering.measured(stamps.nanoseconds_of(message.header.stamp), "odom", message)
        self.advance()

    def _on_joints(self, message: JointState) -> None:
        stamp_ns = stamps.nanoseconds_of(message.header.stamp)
        self._gathering.measured(stamp_ns, "head", sensing.head_pitch_of(message))
        self.advance()

    def _on_tick(self, message: Tick) -> None:
        names = ["odom", "mapper", *(["head"] if self._node.has_head else [])]
        self._gathering.expect(message.tick, stamps.nanoseconds_of(message.stamp), names)
        self.advance()

    def _on_done(self, message: TickDone) -> None:
        if message.stage == TickDone.STAGE_MAPPER:
            self._gathering.said(message.tick, "mapper", message)
            self.advance()
        elif message.stage == TickDone.STAGE_REQUESTS:
            self._question = message
            self.answer()
