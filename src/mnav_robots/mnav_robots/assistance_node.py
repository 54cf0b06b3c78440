"""Node `human_assistance`: serves `interact` where a person, not an arm, opens and closes."""

from __future__ import annotations

from typing import Annotated, Any

import cv2
import numpy as np
from nav_msgs.msg import Odometry as OdometryMessage
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import String
from std_srvs.srv import SetBool

from mnav_core import frames
from mnav_core.geometry import SE2
from mnav_core.interaction import InteractionCause, InteractionEnd, InteractionStatus
from mnav_core.messages import sensing
from mnav_core.messages.captures import rgb_of_compressed, to_compressed
from mnav_core.messages.interaction import interaction_goal_of, to_interact_result
from mnav_core.nodes import qos
from mnav_core.nodes.deferred_actions import DeferredActionServer, GoalEnd
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.nodes.self_starting import SelfStartingNode, steady_clock
from mnav_core.nodes.transform_listener import TransformListener
from mnav_core.parameters import declare_parameters
from mnav_core.sensing import Odometry
from mnav_core.transforms import TransformError
from mnav_interfaces.action import Interact
from mnav_interfaces.srv import GetView
from mnav_robots.assistance import Announcement, Assistance, AssistanceLimits, read_answer

PERIOD_S = 0.1
# How long the picture may take before a person is asked without one.
PICTURE_S = 2.0
STALE_S = 1.0
MARK, MARK_PX = (255, 40, 40), 4


class AssistanceSettings(BaseModel):
    """Parameters. `answer_s`: how long a person has; an agent's own patience may be shorter.

    `serve`: false where something else opens and closes; the node then does nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    serve: bool = True
    answer_s: Annotated[float, Field(gt=0.0, le=3600.0)] = AssistanceLimits.answer_s
    settle_s: Annotated[float, Field(gt=0.0, le=30.0)] = AssistanceLimits.settle_s
    moved_m: Annotated[float, Field(gt=0.0, le=1.0)] = AssistanceLimits.moved_m


class AssistanceNode(SelfStartingNode):
    """Announces on `assistance/request` with the marked view on `assistance/picture`; hears `assistance/answer`
    (`done`, `no`, with the number or without) and the service `assistance/confirm`.
    """

    settings: AssistanceSettings

    def configure(self) -> None:
        """Make the core, the action and what people see."""
        self.settings = declare_parameters(self, AssistanceSettings)
        limits = AssistanceLimits(self.settings.answer_s, self.settings.settle_s, self.settings.moved_m)
        self._assistance = Assistance(limits)
        self._handles: dict[int, Any] = {}
        self._next_id = 1
        self._odometry: Odometry | None = None
        self._heard_s = -STALE_S
        self._pose: SE2 | None = None
        self._awaiting: Announcement | None = None
        self._asked_picture_s = 0.0
        self._clock = steady_clock()
        self._mailbox = Mailbox(self)
        self._listener = TransformListener(self, lockstep=False, on_change=self._locate)
        self._requests = self.create_publisher(String, "assistance/request", qos.latched_qos())
        self._pictures = self.create_publisher(CompressedImage, "assistance/picture", qos.latched_qos())
        self._views = self.create_client(GetView, "get_view")

    def activate(self) -> None:
        """Serve."""
        if not self.settings.serve:
            return
        self._listener.open()
        self.create_subscription(OdometryMessage, "odom", self._on_odometry, qos.sensor_qos())
        self.create_subscription(String, "assistance/answer", self._on_answer, qos.stream_qos(depth=10))
        self.create_service(SetBool, "assistance/confirm", self._on_confirm)
        self._server = DeferredActionServer(self, Interact, "interact", self._on_goal, self._on_cancel)
        # People do not wait for simulated time.
        self.create_timer(PERIOD_S, self._tick, clock=self._clock)

    def _on_goal(self, handle: Any) -> None:
        number, self._next_id = self._next_id, self._next_id + 1
        self._handles[number] = handle
        try:
            goal = interaction_goal_of(handle.request, number)
        except ValueError as error:
            rejected = InteractionStatus.REJECTED
            self._finish(InteractionEnd(number, rejected, InteractionCause.BAD_GOAL, str(error)))
            return
        # Whether the base rests is told anew: what was heard before may be of a drive that has just been stopped.
        self._odometry = None
        self._finish(self._assistance.begin(goal, self._steady_s()))

    def _on_cancel(self, handle: Any) -> None:
        # The newest goal is the only one that is not superseded.
        if self._handles and handle == self._handles[max(self._handles)]:
            self._finish(self._assistance.cancel("cancelled"))

    def _on_odometry(self, message: OdometryMessage) -> None:
        self._odometry, self._heard_s = sensing.odometry_of(message), self._steady_s()
        self._locate()

    def _locate(self) -> None:
        if self._odometry is None:
            return
        try:
            pose = self._listener.buffer.lookup(frames.MAP, frames.BASE, self._odometry.stamp_s)
        except TransformError:
            return
        self._pose = pose.to_se2()

    def _on_answer(self, message: String) -> None:
        answer = read_answer(message.data)
        if answer is None:
            self.get_logger().warning(f"answer {message.data[:40]!r}, allowed: done or no, with the number or without")
            return
        self._finish(self._assistance.answer(*answer))

    def _on_confirm(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        end = self._assistance.answer(None, request.data)
        response.success = end is not None
        response.message = "nothing is asked" if end is None else end.reason
        self._finish(end)
        return response

    def _tick(self) -> None:
        now_s = self._steady_s()
        fresh = self._odometry is not None and now_s - self._heard_s < STALE_S
        velocity = self._odometry.velocity if fresh and self._odometry is not None else None
        step = self._assistance.step(now_s, self._pose if fresh else None, velocity)
        if step.announce is not None:
            self._picture_of(step.announce, now_s)
        self._finish(step.end)
        if self._awaiting is not None and now_s - self._asked_picture_s > PICTURE_S:
            self._announce(self._awaiting, None)

    def _picture_of(self, told: Announcement, now_s: float) -> None:
        """Ask for the view that the asker pointed into; without one the announcement goes out alone."""
        asked = self._handles[told.number].request
        self._awaiting, self._asked_picture_s = told, now_s
        if not asked.image_ref or not asked.view or not self._views.service_is_ready():
            self._announce(told, None)
            return
        future = self._views.call_async(GetView.Request(capture_ref=asked.image_ref, view=asked.view))
        self._mailbox.when_done(future, lambda done: self._on_view(told, asked, done))

    def _on_view(self, told: Announcement, asked: Interact.Goal, done: Any) -> None:
        if self._awaiting is not told:
            return
        result = done.result()
        if result is None or not result.ok:
            self._announce(told, None)
            return
        try:
            rgb = marked(rgb_of_compressed(result.captured.image), asked.u, asked.v)
        except ValueError as error:
            self.get_logger().warning(f"no picture: {error}")
            self._announce(told, None)
            return
        stamp = result.captured.header.stamp
        self._announce(told, to_compressed(rgb, result.captured.header.frame_id, stamp.sec + stamp.nanosec * 1e-9))

    def _announce(self, told: Announcement, picture: CompressedImage | None) -> None:
        self._awaiting = None
        if self._assistance.asked != told.number:
            return
        if picture is not None:
            self._pictures.publish(picture)
        self._requests.publish(String(data=told.as_json(picture is not None)))
        self.get_logger().info(told.text)

    def _finish(self, end: InteractionEnd | None) -> None:
        handle = None if end is None else self._handles.pop(end.attempt_id, None)
        if end is None or handle is None:
            return
        if end.status is InteractionStatus.COMPLETED:
            how = GoalEnd.SUCCEEDED
        else:
            how = GoalEnd.CANCELED if end.cause is InteractionCause.CANCELLED else GoalEnd.ABORTED
        self._server.finish(handle, how, to_interact_result(end))

    def _steady_s(self) -> float:
        return float(self._clock.now().nanoseconds / 1e9)


def marked(rgb: NDArray[np.uint8], u: float, v: float) -> NDArray[np.uint8]:
    """The picture (H, W, 3) with a ring around the point (u, v), normalised from the top left."""
    height, width = rgb.shape[:2]
    at = (round(float(np.clip(u, 0.0, 1.0)) * (width - 1)), round(float(np.clip(v, 0.0, 1.0)) * (height - 1)))
    return np.asarray(cv2.circle(rgb.copy(), at, max(width // 24, 6), MARK, MARK_PX), np.uint8)


def make_node(**kwargs: Any) -> AssistanceNode:
    """The node, brought up."""
    node = AssistanceNode("human_assistance", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
