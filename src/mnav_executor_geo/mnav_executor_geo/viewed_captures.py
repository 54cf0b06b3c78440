"""The view of a capture that a visual point lies on, fetched from the capture store without waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mnav_core.messages.captures import rgbd_of
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.requests import Capture, GoToPoint
from mnav_interfaces.srv import GetView


@dataclass(frozen=True)
class ViewedCapture:
    """What the executor knows of captures when a motion starts: the newest one, and references that can be read."""

    newest: Capture | None = None
    known_refs: tuple[str, ...] = ()


@dataclass
class _Fetch:
    deadline: float
    answer: ViewedCapture | None = None


class ViewFetcher:
    """Asks `get_view` once per motion; when it is silent for `timeout_s` of wall time the image is unknown."""

    def __init__(self, node: Any, mailbox: Mailbox, timeout_s: float, on_answer: Callable[[], None]) -> None:
        self._node = node
        self._mailbox = mailbox
        self._timeout_s = timeout_s
        self._on_answer = on_answer
        self._fetches: dict[int, _Fetch] = {}

    def open(self) -> None:
        """Make the client."""
        self._client = self._node.create_client(GetView, "get_view")

    def view_for(self, motion_id: int, request: GoToPoint) -> ViewedCapture | None:
        """The view that a motion needs, None while it is on its way."""
        fetch = self._fetches.get(motion_id)
        if fetch is None:
            fetch = self._fetches[motion_id] = _Fetch(time.monotonic() + self._timeout_s)
            asked = GetView.Request(capture_ref=request.image_ref, view=request.view, with_depth=True)
            future = self._client.call_async(asked)
            self._mailbox.when_done(future, lambda done: self._on_response(motion_id, request, done))
        if fetch.answer is None and time.monotonic() < fetch.deadline:
            return None
        del self._fetches[motion_id]
        return fetch.answer or ViewedCapture()

    def _on_response(self, motion_id: int, request: GoToPoint, future: Any) -> None:
        fetch = self._fetches.get(motion_id)
        if fetch is None:
            return
        response = future.result()
        newest = None
        if response.is_known and response.is_newest:
            images = (rgbd_of(response.captured),) if response.ok else ()
            stamp_s = images[0].stamp_s if images else 0.0
            newest = Capture(request.image_ref, stamp_s, True, images)
        fetch.answer = ViewedCapture(newest, (request.image_ref,) if response.is_known else ())
        self._on_answer()
