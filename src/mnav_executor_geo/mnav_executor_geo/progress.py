"""Notices that a motion is stuck."""

from __future__ import annotations

import math

from mnav_executor_geo.settings import ProgressSettings


class ProgressMonitor:
    """Compares path and heading left with the best so far; both are bounded, so it cannot be satisfied for ever."""

    def __init__(self, settings: ProgressSettings) -> None:
        self._settings = settings
        self._best_m = math.inf
        self._best_rad = math.inf
        self._since_s: float | None = None
        self._blocked_since_s: float | None = None

    def restart(self, now_s: float) -> None:
        """Begin to measure anew, after a new path or a recovery."""
        self._best_m = self._best_rad = math.inf
        self._since_s = now_s
        self._blocked_since_s = None

    def is_stuck(self, now_s: float, remaining_m: float, turn_left_rad: float, blocked: bool) -> bool:
        """Whether nothing got better for the window, or the follower found no free velocity for `blocked_s`."""
        settings = self._settings
        if self._since_s is None or remaining_m <= self._best_m - settings.min_progress_m:
            self._best_m, self._best_rad, self._since_s = remaining_m, turn_left_rad, now_s
        elif turn_left_rad <= self._best_rad - settings.min_progress_rad:
            self._best_rad, self._since_s = turn_left_rad, now_s
        if not blocked:
            self._blocked_since_s = None
        elif self._blocked_since_s is None:
            self._blocked_since_s = now_s
        blocked_s = 0.0 if self._blocked_since_s is None else now_s - self._blocked_since_s
        return now_s - self._since_s >= settings.window_s or blocked_s >= settings.blocked_s
