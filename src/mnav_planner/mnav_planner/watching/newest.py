"""Bounded hand-over from a robot's callbacks to whoever watches: the newest of each kind wins, nothing waits."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
MAX_LINES = 200


class NewestOnly(Generic[Key, Value]):
    """One slot a key. `put` never waits and replaces what nobody took; `dropped` counts what was replaced."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots: dict[Key, Value] = {}
        self.dropped = 0

    def put(self, key: Key, value: Value) -> None:
        """Keep the value as the newest of its key."""
        with self._lock:
            if key in self._slots:
                self.dropped += 1
            self._slots[key] = value

    def take_all(self) -> dict[Key, Value]:
        """Everything that is new since the last call, at most one value a key."""
        with self._lock:
            taken, self._slots = self._slots, {}
            return taken


class LineQueue:
    """Lines of a log, in order; the oldest leave when more than `most` wait."""

    def __init__(self, most: int = MAX_LINES) -> None:
        self._lines: deque[tuple[float, str]] = deque(maxlen=most)
        self.dropped = 0

    def put(self, stamp_s: float, text: str) -> None:
        """Add a line."""
        if len(self._lines) == self._lines.maxlen:
            self.dropped += 1
        self._lines.append((stamp_s, text))

    def take_all(self) -> list[tuple[float, str]]:
        """The lines since the last call."""
        taken = []
        while self._lines:
            taken.append(self._lines.popleft())
        return taken
