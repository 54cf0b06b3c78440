"""What is wrong with a file that somebody else made."""

from __future__ import annotations

from pathlib import Path

from mnav_core.errors import UsageError


class UnreadableFile(UsageError):
    """A file that cannot be used; the message names it, what is wrong and what is allowed."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path.name}: {reason}")
        self.path = path
        self.reason = reason
