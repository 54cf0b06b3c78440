"""Stops asking an endpoint that keeps failing, and tries it again later."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass
class CircuitBreaker:
    """Opens after `failures_to_open` failures in a row; after `cooldown_s` one trial is let through and decides.

    Thread-safe; time is passed in.
    """

    failures_to_open: int
    cooldown_s: float
    _failures: int = 0
    _opened_at: float | None = None
    _trial_running: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def admits(self, now_s: float) -> bool:
        """Whether an attempt may start now.

        An admitted attempt must be followed by `succeeded`, `failed` or `undecided`.
        """
        with self._lock:
            if self._opened_at is None:
                return True
            if self._trial_running or now_s - self._opened_at < self.cooldown_s:
                return False
            self._trial_running = True
            return True

    def succeeded(self) -> None:
        """The endpoint answered."""
        with self._lock:
            self._failures, self._opened_at, self._trial_running = 0, None, False

    def failed(self, now_s: float) -> None:
        """The endpoint did not answer as it should."""
        with self._lock:
            self._failures += 1
            self._trial_running = False
            if self._opened_at is not None or self._failures >= self.failures_to_open:
                self._opened_at = now_s

    def undecided(self) -> None:
        """The attempt was called off, which says nothing about the endpoint."""
        with self._lock:
            self._trial_running = False

    def retry_in_s(self, now_s: float) -> float:
        """Seconds until a trial is let through, 0 when closed."""
        with self._lock:
            return 0.0 if self._opened_at is None else max(0.0, self._opened_at + self.cooldown_s - now_s)
