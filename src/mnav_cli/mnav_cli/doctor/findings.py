"""What was found, and how to mend it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class Level(Enum):
    """GOOD, or something that may matter (WARNING), or that will not work (BAD); SKIPPED could not be looked at."""

    GOOD = "ok"
    WARNING = "warn"
    BAD = "BAD"
    SKIPPED = "skip"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; `fix` is a command or a step for people, empty where there is nothing to mend."""

    name: str
    level: Level
    text: str
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"level": self.level.value}

    def lines(self) -> list[str]:
        """What a terminal shows."""
        first = f"{self.level.value:<5} {self.name}: {self.text}"
        return [first, f"      fix: {self.fix}"] if self.fix else [first]


def good(name: str, text: str) -> Finding:
    """All is well."""
    return Finding(name, Level.GOOD, text)


def warning(name: str, text: str, fix: str) -> Finding:
    """May matter."""
    return Finding(name, Level.WARNING, text, fix)


def bad(name: str, text: str, fix: str) -> Finding:
    """Will not work."""
    return Finding(name, Level.BAD, text, fix)


def skipped(name: str, text: str) -> Finding:
    """Not looked at, and why."""
    return Finding(name, Level.SKIPPED, text)
