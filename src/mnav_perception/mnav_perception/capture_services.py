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
    """One caller that waits: when it asked in robot time, and when in wall time it is given up."""

    asked_s: float
    deadline: float
    reply: Callable[[Any], None]


class CaptureServices:
    """Answers from a capture store. A panorama is answered by `deliver`, or refused after `timeout_s` of wall time.

    `on_asked` is called when one is asked for. `asked` and `delivered` count, refusals included.
    """

    def __init__(
        self, node: Any, store: CaptureStore, timeout_s: float, now_s: Callable[[], float], on_asked: Callable[[], None]
    ) -> None:
        self._node = node
        self._store = store
        self._timeout_s = timeout_s
        self._now_s = now_s
        self._on_asked = on_asked
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
        """When the first capture that is still awaited was asked for; None when none is."""
        return self._pending[0].asked_s if self._pending else None

    def deliver(self, capture: Capture) -> None:
        """Answer everybody who waits with one capture."""
        views = [to_captured_view(image, with_depth=False) for image in capture.images]
        response = CapturePanorama.Response(
            ok=True, capture_ref=capture.ref, simultaneous=capture.simultaneous, views=views
        )
        pending, self._pending = self._pending, []
        self._answer(pending, response)

    def _on_panorama(self, request: CapturePanorama.Request, reply: Callable[[Any], None]) -> None:
        self._pending.append(_Pending(self._now_s(), time.monotonic() + self._timeout_s, reply))
        self.asked += 1
        self._on_asked()

    def _give_up(self) -> None:
        now = time.monotonic()
        late = [one for one in self._pending if now > one.deadline]
        self._pending = [one for one in self._pending if now <= one.deadline]
        self._answer(late, CapturePanorama.Response(reason=f"no image of every view within {self._timeout_s:g} s"))

    def _answer(self, pending: list[_Pending], response: CapturePanorama.Response) -> None:
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
