"""One motion lease per robot: who may move it now."""

from __future__ import annotations


class MotionLease:
    """Held by one holder at a time; the holder's newer goal may supersede, everybody else waits."""

    def __init__(self) -> None:
        self._holder: str | None = None

    @property
    def holder(self) -> str | None:
        """Who holds the lease, None when it is free."""
        return self._holder

    def acquire(self, holder: str) -> str | None:
        """Take the lease. None when granted, else the name of who holds it. Raises ValueError for an empty name."""
        if not holder:
            raise ValueError("lease: holder '' is empty, allowed: a name")
        if self._holder is not None and self._holder != holder:
            return self._holder
        self._holder = holder
        return None

    def release(self) -> None:
        """Free the lease."""
        self._holder = None
