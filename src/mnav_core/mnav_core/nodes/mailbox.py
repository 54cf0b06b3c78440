"""From other threads and futures into a node's own callbacks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any


class Mailbox:
    """Runs posted calls in the node's default callback group, in order, one at a time.

    Futures complete outside of callback groups; posting from there keeps a node's state free of locks.
    """

    def __init__(self, node: Any) -> None:
        self._calls: deque[Callable[[], None]] = deque()
        self._guard = node.create_guard_condition(self._deliver)

    def post(self, call: Callable[[], None]) -> None:
        """Have `call` run soon; from any thread."""
        self._calls.append(call)
        self._guard.trigger()

    def when_done(self, future: Any, call: Callable[[Any], None]) -> None:
        """Have `call(future)` run once the future is done."""
        future.add_done_callback(lambda done: self.post(lambda: call(done)))

    def _deliver(self) -> None:
        for _ in range(len(self._calls)):
            self._calls.popleft()()
