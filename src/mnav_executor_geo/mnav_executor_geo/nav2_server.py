"""Nav2 as the stack that drives: its actions and its velocity, in a namespace below the robot's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Twist, TwistStamped
from nav2_msgs.action import ComputePathToPose, NavigateToPose
from rclpy.action import ActionClient

from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.messages.poses import to_pose_stamped
from mnav_core.messages.sensing import velocity_of
from mnav_core.motion import MotionStatus, Velocity
from mnav_core.nodes import qos
from mnav_core.nodes.deferred_actions import DeferredActionServer, GoalEnd
from mnav_core.nodes.mailbox import Mailbox
from mnav_executor_geo.delegated_drive import DriveOutcome, status_of_nav2

UNAVAILABLE = "nobody serves {name}"


class Nav2Server:
    """See `DriveServer`. Everything happens in the node's default callback group."""

    def __init__(self, node: Any, prefix: str, stamped: bool, now_s: Callable[[], float]) -> None:
        self._node = node
        self._paths = Nav2Paths(node, prefix)
        self._prefix = prefix.strip("/")
        self._stamped = stamped
        self._now_s = now_s
        self._goal: object | None = None
        self._handle: Any = None
        self._outcome: DriveOutcome | None = None
        self._remaining_m: float | None = None
        self._velocity: Velocity | None = None
        self._velocity_s = 0.0

    def open(self) -> None:
        """Make the clients, offer paths and listen to the controller."""
        self._paths.open()
        self._mailbox = Mailbox(self._node)
        self._name = f"{self._prefix}/navigate_to_pose"
        self._client = ActionClient(self._node, NavigateToPose, self._name)
        topic, profile = f"{self._prefix}/cmd_vel", qos.command_qos()
        if self._stamped:
            self._node.create_subscription(TwistStamped, topic, lambda message: self._take(message.twist), profile)
        else:
            self._node.create_subscription(Twist, topic, self._take, profile)

    def send(self, goal: SE2) -> None:
        """Begin to drive to a pose of `map`."""
        ticket = object()
        self._goal, self._handle, self._outcome = ticket, None, None
        self._remaining_m = self._velocity = None
        if not self._client.server_is_ready():
            self._outcome = DriveOutcome(MotionStatus.UNSUPPORTED, UNAVAILABLE.format(name=self._name))
            return
        request = NavigateToPose.Goal(pose=to_pose_stamped(goal, self._now_s()))
        sent = self._client.send_goal_async(request, feedback_callback=lambda message: self._hear(ticket, message))
        self._mailbox.when_done(sent, lambda done: self._on_accepted(ticket, done.result()))

    def cancel(self) -> None:
        """Drive no further; a goal that is only on its way is cancelled as it is accepted."""
        self._goal = None
        if self._handle is not None:
            self._handle.cancel_goal_async()
            self._handle = None

    @property
    def is_accepted(self) -> bool:
        """Whether the goal that was sent is being driven to."""
        return self._handle is not None

    @property
    def outcome(self) -> DriveOutcome | None:
        """How it ended."""
        return self._outcome

    @property
    def remaining_m(self) -> float | None:
        """What is left of the path."""
        return self._remaining_m

    def velocity(self, now_s: float, age_s: float) -> Velocity | None:
        """What the controller wants."""
        return self._velocity if 0.0 <= now_s - self._velocity_s <= age_s else None

    def _take(self, twist: Twist) -> None:
        self._velocity, self._velocity_s = velocity_of(twist), self._now_s()

    def _hear(self, ticket: object, message: Any) -> None:
        if ticket is self._goal:
            self._remaining_m = float(message.feedback.distance_remaining)

    def _on_accepted(self, ticket: object, handle: Any) -> None:
        if ticket is not self._goal:
            if handle.accepted:
                handle.cancel_goal_async()
            return
        if not handle.accepted:
            self._outcome = DriveOutcome(MotionStatus.BLOCKED_NO_PATH, "Nav2 rejected the goal")
            return
        self._handle = handle
        self._mailbox.when_done(handle.get_result_async(), lambda done: self._on_result(ticket, done.result()))

    def _on_result(self, ticket: object, answer: Any) -> None:
        if ticket is not self._goal:
            return
        self._handle = None
        if answer.status == GoalStatus.STATUS_SUCCEEDED:
            self._outcome = DriveOutcome(MotionStatus.REACHED)
        elif answer.status == GoalStatus.STATUS_CANCELED:
            self._outcome = DriveOutcome(MotionStatus.CANCELLED, "Nav2's goal was cancelled by somebody else")
        else:
            code = answer.result.error_code
            reason = f"Nav2: {answer.result.error_msg or 'no reason given'} (code {code})"
            self._outcome = DriveOutcome(status_of_nav2(code), reason)


class Nav2Paths:
    """Action `compute_path_to_pose`, answered by Nav2's planner."""

    def __init__(self, node: Any, prefix: str) -> None:
        self._node = node
        self._name = f"{prefix.strip('/')}/compute_path_to_pose"

    def open(self) -> None:
        """Offer the action."""
        self._mailbox = Mailbox(self._node)
        self._client = ActionClient(self._node, ComputePathToPose, self._name)
        self._server = DeferredActionServer(
            self._node, ComputePathToPose, "compute_path_to_pose", self._on_goal, lambda _handle: None
        )

    def _on_goal(self, handle: Any) -> None:
        if not self._client.server_is_ready():
            self._refuse(handle, UNAVAILABLE.format(name=self._name))
            return
        sent = self._client.send_goal_async(handle.request)
        self._mailbox.when_done(sent, lambda done: self._on_accepted(handle, done.result()))

    def _on_accepted(self, handle: Any, asked: Any) -> None:
        if not asked.accepted:
            self._refuse(handle, "Nav2 rejected the goal")
            return

        def finish(done: Any) -> None:
            result = done.result().result
            self._server.finish(handle, GoalEnd.ABORTED if result.error_code else GoalEnd.SUCCEEDED, result)

        self._mailbox.when_done(asked.get_result_async(), finish)

    def _refuse(self, handle: Any, reason: str) -> None:
        result = ComputePathToPose.Result(error_code=ComputePathToPose.Result.UNKNOWN, error_msg=reason)
        self._server.finish(handle, GoalEnd.ABORTED, result)


def make_nav2(node: Any, settings: Any, now_s: Callable[[], float]) -> Nav2Server:
    """Nav2 as the settings of the executor's node say. Raises UsageError in lockstep, for which Nav2 does not wait."""
    if settings.lockstep:
        raise UsageError(f"node {node.get_name()}: parameter backend = 'nav2', allowed in lockstep: own")
    return Nav2Server(node, settings.nav2_prefix, settings.nav2_stamped_cmd_vel, now_s)
