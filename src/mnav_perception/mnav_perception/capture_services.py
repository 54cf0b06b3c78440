"""Services `capture_panorama` and `get_view`: fresh images of every view, and the last captures again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.clock import Clock, ClockType

from mnav_core.messages.captures import to_captured_view
from mnav_core.nodes.deferred_services import DeferredService
from mnav_core.requests import Capture
from mnav_interfaces.srv import CapturePanorama, GetView
from mnav_perception.captures import CaptureStore

CHECK_PERIOD_S = 0.5


@dataclass(frozen=True)
class _Pending:
    """One caller that waits: when it asked in robot time, when in wall time it is given up, whether the robot turns."""

    asked_s: float
    deadline: float
    turns: bool
    reply: Callable[[Any], None]


class CaptureServices:
    """Answers from a capture store. A panorama is answered by `deliver`, or refused after `timeout_s` of wall time.

    `on_asked(turns)` is called when one is asked for; `can_turn`: the robot turns for the views that it lacks, within
    `turning_timeout_s`, unless the caller does not want it. `asked` and `delivered` count, refusals included.
    """

    def __init__(
        self,
        node: Any,
        store: CaptureStore,
        timeout_s: float,
        now_s: Callable[[], float],
        on_asked: Callable[[bool], None],
        can_turn: bool = False,
        turning_timeout_s: float = 60.0,
    ) -> None:
        self._node = node
        self._store = store
        self._timeout_s = timeout_s
        self._now_s = now_s
        self._on_asked = on_asked
        self._can_turn = can_turn
        self._turning_timeout_s = turning_timeout_s
        self._pending: list[_Pending] = []
        self.asked = 0
        self.delivered = 0

    def open(self) -> None:
        """Offer the services."""
        self._panorama = DeferredService(self._node, CapturePanorama, "capture_panorama", self._on_panorama)
        self._node.create_service(GetView, "get_view", self._on_get_view)
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self._node.create_timer(CHECK_PERIOD_S, self._give_up, clock=wall)

    @property
    def oldest_asked_s(self) -> float | None:
        """When the first capture without turning that is still awaited was asked for; None when none is."""
        return next((one.asked_s for one in self._pending if not one.turns), None)

    @property
    def is_turn_awaited(self) -> bool:
        """Whether somebody waits for a capture by turning."""
        return any(one.turns for one in self._pending)

    def deliver(self, capture: Capture, rotated: bool = False) -> None:
        """Answer everybody who waits for such a capture."""
        views = [to_captured_view(image, with_depth=False) for image in capture.images]
        response = CapturePanorama.Response(
            ok=True, capture_ref=capture.ref, simultaneous=capture.simultaneous, rotated=rotated, views=views
        )
        self._answer([one for one in self._pending if one.turns == rotated], response)

    def refuse_turned(self, reason: str) -> None:
        """Answer everybody who waits for a capture by turning that there is none."""
        self._answer([one for one in self._pending if one.turns], CapturePanorama.Response(reason=reason))

    def _on_panorama(self, request: CapturePanorama.Request, reply: Callable[[Any], None]) -> None:
        turns = self._can_turn and not request.without_turning
        limit_s = self._turning_timeout_s if turns else self._timeout_s
        self._pending.append(_Pending(self._now_s(), time.monotonic() + limit_s, turns, reply))
        self.asked += 1
        self._on_asked(turns)

    def _give_up(self) -> None:
        now = time.monotonic()
        for turns, limit_s in ((False, self._timeout_s), (True, self._turning_timeout_s)):
            late = [one for one in self._pending if now > one.deadline and one.turns == turns]
            self._answer(late, CapturePanorama.Response(reason=f"no image of every view within {limit_s:g} s"))

    def _answer(self, pending: list[_Pending], response: CapturePanorama.Response) -> None:
        self._pending = [one for one in self._pending if one not in pending]
        self.delivered += len(pending)
        for one in pending:
            one.reply(response)

    def _on_get_view(self, request: GetView.Request, response: GetView.Response) -> GetView.Response:
        capture = self._store.get(request.capture_ref)
        if capture is None:
            kept = ", ".join(self._store.refs) or "none"
            response.reason = f"capture {request.capture_ref!r} is unknown, allowed: {kept}"
            return response
        response.is_known = True
        response.is_newest = self._store.is_navigable(capture.ref)
        image = next((i for i in capture.images if i.view == request.view), None)
        if image is None:
            views = ", ".join(i.view for i in capture.images)
            response.reason = f"view {request.view!r} is not in {capture.ref!r}, allowed: {views}"
            return response
        response.ok = True
        response.captured = to_captured_view(image, request.with_depth)
        return response
