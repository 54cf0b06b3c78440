"""Services that answer later than their callback returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DeferredService:
    """Calls `on_request(request, reply)`; the answer is sent when `reply(response)` is called, from any callback.

    rclpy answers when a callback returns: waiting in one would take a thread, awaiting would keep the executor polling.
    """

    def __init__(
        self, node: Any, service_type: Any, name: str, on_request: Callable[[Any, Callable[[Any], None]], None]
    ) -> None:
        self._on_request = on_request
        service = node.create_service(service_type, name, lambda request, _response: request)
        self._send = service.send_response
        service.send_response = self._respond

    def _respond(self, request: Any, header: Any) -> None:
        """What rclpy calls with the callback's return value, here the request, and the caller's address."""
        self._on_request(request, lambda response: self._send(response, header))
