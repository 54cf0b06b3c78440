"""Node `sim_bridge`: one simulated building as the topics of its robots, and the clock."""

from __future__ import annotations

import threading
from typing import Annotated, Any, ClassVar, Literal

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from pydantic import BaseModel, ConfigDict, Field
from rosgraph_msgs.msg import Clock

from mnav_core.errors import UsageError
from mnav_core.messages.stamps import to_time
from mnav_core.nodes import qos
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.nodes.self_starting import SelfStartingNode
from mnav_core.parameters import declare_parameters
from mnav_core.schedule import SensorSchedule
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame
from mnav_sim_bridge.robot_ports import PortSettings, RobotPorts
from mnav_sim_bridge.simulation import LockstepLost, Pace, Simulation
from mnav_sim_bridge.vendors.ports import VendorPorts

DIAGNOSTICS_PERIOD_S = 1.0
JOIN_TIMEOUT_S = 2.0


class BridgeSettings(BaseModel):
    """Parameters of the bridge. Times in seconds of wall time, but `command_timeout_s` in robot time.

    `drivers` vendor: the robots speak as their vendors' software does, and drivers beside make the contract of it.
    `go1_address`: HOST:PORT on which a fake Go1 listens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    lockstep: bool = False
    lockstep_timeout_s: Annotated[float, Field(gt=0.0, le=3600.0)] = 10.0
    first_tick_timeout_s: Annotated[float, Field(gt=0.0, le=3600.0)] = 90.0
    real_time_factor: Annotated[float, Field(ge=0.0, le=100.0)] = 1.2
    localization: Literal["identity", "external"] = "identity"
    stamped_cmd_vel: bool = False
    command_timeout_s: Annotated[float, Field(gt=0.0, le=10.0)] = 0.5
    drivers: Literal["contract", "vendor"] = "contract"
    go1_address: str = "127.0.0.1:8082"
    robots: list[str] = ["cobot_magic"]
    namespaces: list[str] = [""]


class BridgeNode(SelfStartingNode):
    """Runs the world in a thread of its own: a renderer belongs to one thread. Subclasses say which world, and when to
    begin and to end.
    """

    settings_model: ClassVar[type[BridgeSettings]] = BridgeSettings
    settings: BridgeSettings
    simulation: Simulation | None = None

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._thread: threading.Thread | None = None
        self._arrived = threading.Condition()

    def make_world(self) -> World:
        """Build the world; called in the simulation's thread. Raises UsageError when it cannot be."""
        raise NotImplementedError

    def world_names(self) -> list[str]:
        """The robots' names in the world, in the order of the namespaces."""
        return self.settings.robots

    def may_start(self) -> bool:
        """Whether the first tick may come; polled from the simulation's thread."""
        return True

    def on_step(self, world: World) -> bool:
        """Called in the simulation's thread before the first tick and after each; False ends the simulation."""
        return True

    def on_sensed(self, robot: str, frame: SensorFrame) -> None:
        """Called in the simulation's thread with everything that a robot sensed."""

    def on_lost(self, world: World, reason: str) -> None:
        """Called in the simulation's thread when a stage did not answer in lockstep."""

    def configure(self) -> None:
        """Read parameters."""
        self.settings = declare_parameters(self, self.settings_model)
        if len(self.settings.robots) != len(self.settings.namespaces):
            raise UsageError(
                f"node {self.get_name()}: parameter namespaces = {self.settings.namespaces},"
                f" allowed: one for each of robots = {self.settings.robots}"
            )
        if self.settings.drivers == "vendor" and self.settings.lockstep:
            raise UsageError(
                f"node {self.get_name()}: parameter drivers = 'vendor', allowed in lockstep: contract, for no vendor's"
                " software waits for a tick"
            )
        self.mailbox = Mailbox(self)
        self._time = self.create_publisher(Clock, "/clock", qos.command_qos())
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.stream_qos(depth=10))

    def activate(self) -> None:
        """Start the simulation."""
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        self._thread.start()
        self.create_timer(DIAGNOSTICS_PERIOD_S, self._diagnose, clock=self.wall_clock())

    def destroy_node(self) -> None:
        """End the simulation, then the node."""
        if self.simulation is not None:
            self.simulation.stop()
        if self._thread is not None:
            self._thread.join(JOIN_TIMEOUT_S)
        super().destroy_node()

    def _run(self) -> None:
        try:
            world = self.make_world()
            try:
                self._simulate(world)
            finally:
                world.close()
        except Exception as error:  # noqa: BLE001 (whatever ended the thread must end the process)
            failure = error

            def fail() -> None:
                raise failure

            self.mailbox.post(fail)

    def _simulate(self, world: World) -> None:
        settings = self.settings
        ports: list[RobotPorts] = []
        make_ports = VendorPorts if settings.drivers == "vendor" else RobotPorts
        port_settings = PortSettings(
            settings.lockstep,
            settings.localization == "identity",
            settings.stamped_cmd_vel,
            settings.command_timeout_s,
            settings.go1_address,
        )
        for name, prefix in zip(self.world_names(), settings.namespaces, strict=True):
            if name not in world.robots:
                raise UsageError(f"parameter robots: {name!r} is not in the world, allowed: {', '.join(world.robots)}")
            port = make_ports(self, name, prefix, world.robots[name], port_settings, self._arrived)
            port.open()
            ports.append(port)
        self.simulation = Simulation(
            world,
            ports,
            SensorSchedule(),
            Pace(
                settings.lockstep,
                settings.real_time_factor,
                settings.lockstep_timeout_s,
                settings.first_tick_timeout_s,
            ),
            self._arrived,
            self._tell_time,
            self.on_step,
            self.on_sensed,
        )
        try:
            if self.simulation.wait_for(self.may_start):
                self.simulation.run()
        except LockstepLost as lost:
            self.get_logger().error(str(lost))
            self.on_lost(world, str(lost))
        finally:
            for port in ports:
                port.close()

    def _tell_time(self, now_s: float) -> None:
        self._time.publish(Clock(clock=to_time(now_s)))

    def wall_clock(self) -> Any:
        """A clock that goes on while simulated time stands still."""
        from rclpy.clock import Clock as WallClock
        from rclpy.clock import ClockType

        return WallClock(clock_type=ClockType.STEADY_TIME)

    def _diagnose(self) -> None:
        if self.simulation is None or self.simulation.started is None:
            return
        factor = self.simulation.real_time_factor
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK if factor >= 1.0 or self.settings.lockstep else DiagnosticStatus.WARN,
            name=f"{self.get_name()}: simulation",
            message=f"real-time factor {factor:.2f}",
            values=[
                KeyValue(key="real_time_factor", value=f"{factor:.3f}"),
                KeyValue(key="ticks", value=str(self.simulation.ticks)),
            ],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = to_time(self.simulation.world.time_s)
        self._diagnostics.publish(array)
