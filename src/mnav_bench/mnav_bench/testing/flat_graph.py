"""A whole ROS graph around a flat world, in this process: real nodes over real DDS, and a client to ask them with."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.parameter import Parameter

from mnav_core.geometry import SE2
from mnav_core.motion import Velocity
from mnav_core.robot import find_robot
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame
from mnav_executor_geo.executor_node import make_node as make_executor
from mnav_perception.mapper_node import make_node as make_mapper
from mnav_planner.task_node import make_node as make_task_server
from mnav_robots.gate_node import make_node as make_gate
from mnav_sim_bridge.bridge_node import BridgeNode
from mnav_sim_bridge.flat_world import FlatWorld, Yard

TIMEOUT_S = 30.0


@dataclass(frozen=True)
class FlatRobot:
    """One robot of the graph: its name in the world, its namespace and start."""

    name: str = "cobot_magic"
    namespace: str = ""
    start: SE2 = field(default_factory=lambda: SE2(0.0, 0.0))


@dataclass(frozen=True)
class Moment:
    """What was true after one tick."""

    time_s: float
    poses: dict[str, SE2]
    velocities: dict[str, Velocity]


class FlatBridge(BridgeNode):
    """The bridge of a flat world, with a trace of what was true."""

    world: World
    goes: threading.Event
    trace: list[Moment]
    wanted_ticks: int | None = None

    def make_world(self) -> World:
        """The world that was given."""
        self.world.reset(1)
        return self.world

    def may_start(self) -> bool:
        """Once the graph says so."""
        return self.goes.is_set()

    def on_step(self, world: World) -> bool:
        """Trace."""
        truth = world.truth()
        self.trace.append(
            Moment(
                world.time_s,
                {name: truth.robot_pose(name) for name in world.robots},
                {name: truth.robot_velocity(name) for name in world.robots},
            )
        )
        return self.wanted_ticks is None or len(self.trace) <= self.wanted_ticks

    def on_sensed(self, robot: str, frame: SensorFrame) -> None:
        """Nothing more to note."""


def parameters(**values: Any) -> list[Parameter]:
    """Parameter overrides."""
    return [Parameter(name, value=value) for name, value in values.items()]


class FlatGraph:
    """Context manager: nodes up on entry, gone on exit. The caller's thread is free: nodes run in another.

    All robots are of the kind `kind`; a robot's name in the world is its `FlatRobot.name`.
    """

    def __init__(
        self,
        robots: tuple[FlatRobot, ...] = (FlatRobot(),),
        yard: Yard | None = None,
        kind: str = "cobot_magic",
        lockstep: bool = False,
        real_time_factor: float = 1.5,
        wrap: Callable[[FlatWorld], World] = lambda world: world,
    ) -> None:
        self.robots = robots
        self.kind = kind
        self._lockstep = lockstep
        self._factor = real_time_factor
        description = find_robot(kind)
        flat = FlatWorld(yard or Yard(), {robot.name: (description, robot.start) for robot in robots})
        self.world = wrap(flat)
        self.nodes: dict[str, Any] = {}

    def __enter__(self) -> FlatGraph:
        rclpy.init()
        self.executor = SingleThreadedExecutor()
        try:
            self._make_nodes()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        for node in self.nodes.values():
            self.executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        bridge = self.nodes.get("bridge")
        if bridge is not None and bridge.simulation is not None:
            bridge.simulation.stop()
        self.executor.shutdown(timeout_sec=2.0)
        for node in reversed(list(self.nodes.values())):
            node.destroy_node()
        rclpy.try_shutdown()

    @property
    def bridge(self) -> FlatBridge:
        """The simulator's node."""
        node: FlatBridge = self.nodes["bridge"]
        return node

    @property
    def now(self) -> Moment:
        """The newest true moment; waits for the first."""
        self.wait(lambda: bool(self.bridge.trace))
        return self.bridge.trace[-1]

    def go(self) -> None:
        """Let time begin, once every node has found the others."""
        self.wait(lambda: self.bridge.simulation is not None and self.bridge.simulation.is_connected())
        self.bridge.goes.set()

    def wait(self, ready: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
        """Wait until something holds. Raises TimeoutError."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {timeout_s:g} s")
            time.sleep(0.002)

    def result_of(self, future: Any, timeout_s: float = TIMEOUT_S) -> Any:
        """Result of an rclpy future."""
        self.wait(future.done, timeout_s)
        return future.result()

    def client(self, action_type: Any, name: str) -> Any:
        """An action client whose server is there."""
        client = ActionClient(self.nodes["client"], action_type, name)
        self.wait(client.server_is_ready)
        return client

    def send(self, client: Any, goal: Any, **arguments: Any) -> Any:
        """Send a goal; its handle."""
        return self.result_of(client.send_goal_async(goal, **arguments))

    def rest_after(self, robot: str, since_s: float) -> float:
        """Robot seconds from `since_s` until the robot first rests. Raises TimeoutError."""

        def at_rest() -> Moment | None:
            return next((m for m in self.bridge.trace if m.time_s > since_s and m.velocities[robot].is_rest), None)

        self.wait(lambda: at_rest() is not None)
        moment = at_rest()
        assert moment is not None
        return moment.time_s - since_s

    def _make_nodes(self) -> None:
        shared = {"use_sim_time": True, "lockstep": self._lockstep}
        bridge = FlatBridge(
            "flat_bridge",
            parameter_overrides=parameters(
                robots=[robot.name for robot in self.robots],
                namespaces=[robot.namespace for robot in self.robots],
                real_time_factor=self._factor,
                **shared,
            ),
        )
        bridge.world, bridge.goes, bridge.trace = self.world, threading.Event(), []
        bridge.bring_up()
        self.nodes["bridge"] = bridge
        for robot in self.robots:
            own = {**shared, "robot": self.kind}
            for name, factory in (
                ("mapper", make_mapper),
                ("executor", make_executor),
                ("gate", make_gate),
                ("task_server", make_task_server),
            ):
                self.nodes[f"{robot.name}:{name}"] = factory(
                    namespace=robot.namespace, parameter_overrides=parameters(**own)
                )
        self.nodes["client"] = rclpy.create_node("client")

    def _spin(self) -> None:
        try:
            self.executor.spin()
        except ExternalShutdownException:
            return
