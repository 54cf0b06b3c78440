"""Node `velocity_gate`: the only publisher of `cmd_vel`."""

from __future__ import annotations

from typing import Annotated, Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Twist, TwistStamped
from pydantic import BaseModel, ConfigDict, Field
from std_msgs.msg import Bool

from mnav_core.messages import sensing
from mnav_core.messages.stamps import to_seconds, to_time
from mnav_core.motion import STOP
from mnav_core.nodes import qos
from mnav_core.nodes.self_starting import SelfStartingNode
from mnav_core.parameters import declare_parameters
from mnav_core.robot import find_robot
from mnav_robots.gate import GateState, VelocityGate

DIAGNOSTICS_PERIOD_S = 1.0


class GateNodeSettings(BaseModel):
    """Parameters of the node. `timeout_s`: after this much silence the base is commanded to rest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    lockstep: bool = False
    robot: str = "cobot_magic"
    rate_hz: Annotated[float, Field(gt=0.0, le=200.0)] = 20.0
    timeout_s: Annotated[float, Field(gt=0.0, le=2.0)] = 0.3
    stamped_cmd_vel: bool = False


class GateNode(SelfStartingNode):
    """Passes `cmd_vel_raw` on within the robot's limits; rests when it ceases and while `emergency_stop` is true.

    Free-running it commands at `rate_hz`; in lockstep once for each raw command, with its stamp.
    """

    settings: GateNodeSettings

    def configure(self) -> None:
        """Make the gate and the topics."""
        self.settings = declare_parameters(self, GateNodeSettings)
        lockstep = self.settings.lockstep
        self._gate = VelocityGate(find_robot(self.settings.robot).limits, self.settings.timeout_s)
        self._is_stamped = self.settings.stamped_cmd_vel or lockstep
        command = qos.command_qos(lockstep)
        self._velocity = self.create_publisher(TwistStamped if self._is_stamped else Twist, "cmd_vel", command)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.stream_qos(depth=10))
        self._state = GateState.IDLE
        self.create_subscription(Bool, "emergency_stop", self._on_emergency_stop, qos.latched_qos())

    def activate(self) -> None:
        """Begin to pass commands on."""
        self.create_subscription(TwistStamped, "cmd_vel_raw", self._on_raw, qos.command_qos(self.settings.lockstep))
        self.create_timer(DIAGNOSTICS_PERIOD_S, self._diagnose)
        if not self.settings.lockstep:
            self._timer = self.create_timer(1.0 / self.settings.rate_hz, self._on_timer)

    def deactivate(self) -> None:
        """Command rest and fall silent."""
        if not self.settings.lockstep:
            self.destroy_timer(self._timer)
        self._publish(self.now_s(), STOP)

    def _on_raw(self, message: TwistStamped) -> None:
        velocity = sensing.velocity_of(message.twist)
        if self.settings.lockstep:
            stamp_s = to_seconds(message.header.stamp)
            self._gate.command(velocity, stamp_s)
            self._step(stamp_s)
        else:
            self._gate.command(velocity, self.now_s())
            if velocity == STOP:
                # Rest does not wait for the timer.
                self._step(self.now_s())

    def _on_timer(self) -> None:
        self._step(self.now_s())

    def _step(self, now_s: float) -> None:
        step = self._gate.step(now_s)
        self._state = step.state
        self._publish(now_s, step.velocity)

    def _publish(self, now_s: float, velocity: Any) -> None:
        if self._is_stamped:
            self._velocity.publish(sensing.to_twist_stamped(velocity, now_s))
        else:
            self._velocity.publish(sensing.to_twist(velocity))

    def _on_emergency_stop(self, message: Bool) -> None:
        self._gate.emergency_stop(message.data)
        if message.data and not self.settings.lockstep:
            # Not with the next turn of the timer: now.
            self._step(self.now_s())

    def _diagnose(self) -> None:
        counts = self._gate.counts
        held = self._state in (GateState.STALE, GateState.EMERGENCY_STOP)
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if held else DiagnosticStatus.OK,
            name=f"{self.get_fully_qualified_name()}: gate",
            message=self._state.value,
            values=[KeyValue(key=name, value=str(getattr(counts, name))) for name in counts.__dataclass_fields__],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = to_time(self.now_s())
        self._diagnostics.publish(array)


def make_node(**kwargs: Any) -> GateNode:
    """The node, brought up."""
    node = GateNode("velocity_gate", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
