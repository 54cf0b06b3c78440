"""When to start a failed process again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RestartPolicy:
    """Exponential backoff: seconds to wait, and how many failures in a row are borne."""

    first_delay_s: float = 0.5
    last_delay_s: float = 10.0
    healthy_after_s: float = 30.0
    most_in_a_row: int = 8

    def delay_s(self, failures: int) -> float:
        """The wait after the `failures`-th failure in a row (1 is the first)."""
        return min(self.first_delay_s * 2.0 ** (failures - 1), self.last_delay_s)
