"""Services `capture_panorama` and `get_view`: fresh images of every view, and the last captures again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

from mnav_core.messages.captures import to_captured_view
from mnav_core.requests import Capture
from mnav_interfaces.srv import CapturePanorama, GetView
from mnav_perception.captures import CaptureStore


@dataclass
class _Pending:
    """One caller that waits."""

    asked_s: float
    done: threading.Event = field(default_factory=threading.Event)
    capture: Capture | None = None


class CaptureServices:
    """Answers from a capture store. `capture_panorama` waits in a callback group of its own, at most `timeout_s`.

    `on_asked` is called, from that group's thread, when a capture is asked for; `deliver` answers whoever waits.
    """

    def __init__(
        self, node: Any, store: CaptureStore, timeout_s: float, now_s: Callable[[], float], on_asked: Callable[[], None]
    ) -> None:
        self._node = node
        self._store = store
        self._timeout_s = timeout_s
        self._now_s = now_s
        self._on_asked = on_asked
        self._lock = threading.Lock()
        self._pending: list[_Pending] = []
        self.asked = 0
        self.delivered = 0

    def open(self) -> None:
        """Offer the services."""
        self._node.create_service(
            CapturePanorama, "capture_panorama", self._capture, callback_group=MutuallyExclusiveCallbackGroup()
        )
        self._node.create_service(GetView, "get_view", self._get_view)

    @property
    def oldest_asked_s(self) -> float | None:
        """When the first capture that is still awaited was asked for; None when none is."""
        with self._lock:
            return self._pending[0].asked_s if self._pending else None

    def deliver(self, capture: Capture) -> None:
        """Answer everybody who waits with one capture."""
        with self._lock:
            pending, self._pending = self._pending, []
            self.delivered += len(pending)
        for one in pending:
            one.capture = capture
            one.done.set()

    def _capture(
        self, request: CapturePanorama.Request, response: CapturePanorama.Response
    ) -> CapturePanorama.Response:
        pending = _Pending(self._now_s())
        with self._lock:
            self._pending.append(pending)
            self.asked += 1
        self._on_asked()
        if not pending.done.wait(self._timeout_s) or pending.capture is None:
            with self._lock:
                if pending in self._pending:
                    self._pending.remove(pending)
                    self.delivered += 1
            response.reason = f"no image of every view within {self._timeout_s:g} s"
            return response
        capture = pending.capture
        response.ok = True
        response.capture_ref = capture.ref
        response.simultaneous = capture.simultaneous
        response.views = [to_captured_view(image, with_depth=False) for image in capture.images]
        return response

    def _get_view(self, request: GetView.Request, response: GetView.Response) -> GetView.Response:
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
