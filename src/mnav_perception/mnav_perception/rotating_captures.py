"""Captures all around by a robot that must turn for them: quarter turns by the executor, an image after each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient

from mnav_core.messages.motion import report_of
from mnav_core.motion import MotionGroup
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.sensing import RgbdImage
from mnav_interfaces.action import Turn
from mnav_perception.rotated_views import AROUND, RotatedViews

# Who holds the motion lease while the robot turns for a capture.
HOLDER = "capture_panorama"


class RotatingCaptures:
    """One turn all around at a time; ends with `on_done(images)`, at the heading of its begin, or `on_failed`."""

    def __init__(
        self,
        node: Any,
        views: tuple[str, ...],
        on_done: Callable[[tuple[RgbdImage, ...]], None],
        on_failed: Callable[[str], None],
    ) -> None:
        self._node = node
        self._views = views
        self._on_done = on_done
        self._on_failed = on_failed
        self._gathering: RotatedViews | None = None
        self._turning: Any = None

    def open(self) -> None:
        """Make the client."""
        self._mailbox = Mailbox(self._node)
        self._client = ActionClient(self._node, Turn, "turn")

    @property
    def is_active(self) -> bool:
        """Whether a capture is being taken."""
        return self._gathering is not None

    def begin(self, now_s: float) -> None:
        """Begin, unless one is on its way."""
        if self._gathering is None:
            self._gathering = RotatedViews(self._views, now_s)

    def add(self, image: RgbdImage) -> None:
        """An image of an own camera."""
        if self._gathering is not None and self._turning is None and self._gathering.add(image):
            self._turn()

    def abandon(self) -> None:
        """Nobody waits any more: the turn that runs is cancelled."""
        turning, self._turning, self._gathering = self._turning, None, None
        if turning is not None and turning.done() and turning.result().accepted:
            turning.result().cancel_goal_async()

    def _turn(self) -> None:
        """The next quarter; after the last view the one that leads back to the first heading."""
        if not self._client.server_is_ready():
            self._fail("nobody serves the action turn")
            return
        self._turning = self._client.send_goal_async(Turn.Goal(holder=HOLDER, angle=math.pi / 2.0))
        turning = self._turning
        self._mailbox.when_done(turning, lambda done: self._on_accepted(turning, done))

    def _on_accepted(self, turning: Any, done: Any) -> None:
        if turning is not self._turning:
            if done.result().accepted:
                done.result().cancel_goal_async()
            return
        if not done.result().accepted:
            self._fail("the turn was rejected")
            return
        self._mailbox.when_done(done.result().get_result_async(), lambda result: self._on_turned(turning, result))

    def _on_turned(self, turning: Any, done: Any) -> None:
        gathering = self._gathering
        if turning is not self._turning or gathering is None:
            return
        self._turning = None
        report = report_of(done.result().result.result, 0)
        if report.status.group is not MotionGroup.REACHED:
            self._fail(f"turning for the other views: {report.status.name} {report.reason}".rstrip())
            return
        gathering.turned(self._node.now_s())
        if gathering.is_complete:
            if gathering.quarter_turns < len(AROUND):
                self._turn()
                return
            self._gathering = None
            self._on_done(gathering.images)

    def _fail(self, reason: str) -> None:
        self._gathering = self._turning = None
        self._on_failed(reason)
