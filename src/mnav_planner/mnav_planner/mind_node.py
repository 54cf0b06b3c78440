"""A node that steps one mind on a robot of a running system, from another process than the system's own."""

from __future__ import annotations

import threading
from collections.abc import Callable

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor

from mnav_core.errors import UsageError
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.requests import Mind, TaskResult
from mnav_core.robot import RobotDescription
from mnav_planner.asking import ModelAsker
from mnav_planner.mind_inputs import MindInputs
from mnav_planner.motion_clients import MotionClients
from mnav_planner.ros_body import RosBody
from mnav_planner.stepper import MindStepper

POLL_HZ = 20.0


class RemoteMind:
    """Steps a mind over ROS in a thread of its own; a context manager that leaves no node and no thread behind.

    `nudge` lets the mind go on at once, from any thread. `ready` is set when the robot is heard and can be moved.
    """

    def __init__(
        self,
        robot: RobotDescription,
        mind: Mind,
        domain: int,
        namespace: str = "",
        name: str = "supernav",
        asker: ModelAsker | None = None,
        on_note: Callable[[float, str], None] = lambda _stamp, _text: None,
    ) -> None:
        self._robot = robot
        self._mind = mind
        self._domain = domain
        self._namespace = namespace
        self._name = name
        self._asker = asker
        self._on_note = on_note
        self.ready = threading.Event()
        self.ended = threading.Event()
        self.result: TaskResult | None = None
        self._context = Context()
        self._thread: threading.Thread | None = None
        self._executor: SingleThreadedExecutor | None = None
        self._mailbox: Mailbox | None = None

    def __enter__(self) -> RemoteMind:
        rclpy.init(args=[], context=self._context, domain_id=self._domain)
        self._node = rclpy.create_node(
            self._name, namespace=self._namespace, context=self._context, start_parameter_services=False
        )
        self._mailbox = Mailbox(self._node)
        clients = MotionClients(self._node, self._name)
        self._body = RosBody(self._node, self._robot, clients, self._mailbox, self._poll)
        self._body.open()
        self._stepper = MindStepper(self._mind, self._body, self._on_note, self._asker)
        MindInputs(self._node, self._body, False, self._poll, lambda _tick: None).open()
        self._node.create_timer(1.0 / POLL_HZ, self._poll)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name="ros", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def wait_until_ready(self, timeout_s: float) -> None:
        """Raises UsageError when the robot is not heard in time."""
        if not self.ready.wait(timeout_s):
            where = f"namespace {self._namespace!r}, domain {self._domain}"
            raise UsageError(f"robot {self._robot.name!r}: not heard within {timeout_s:g} s in {where}")

    def nudge(self) -> None:
        """Let the mind go on."""
        if self._mailbox is not None:
            self._mailbox.post(self._poll)

    def _spin(self) -> None:
        assert self._executor is not None
        while not self.ended.is_set() and self._context.ok():
            self._executor.spin_once(timeout_sec=0.1)
        self._executor.shutdown(timeout_sec=1.0)

    def _poll(self) -> None:
        if self.result is not None or self._body.state.maps is None or not self._body.is_ready:
            return
        self.ready.set()
        self.result = self._stepper.poll()
        if self.result is not None:
            self._node.create_timer(0.5, self.ended.set)


def spin_until(remote: RemoteMind, interrupted: Callable[[], bool], poll_s: float = 0.2) -> TaskResult | None:
    """Wait until the mind has ended or `interrupted` says so; the result, None when interrupted."""
    while not remote.ended.wait(poll_s):
        if interrupted():
            return None
    return remote.result
