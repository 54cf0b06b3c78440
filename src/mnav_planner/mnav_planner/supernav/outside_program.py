"""Which agent program is run, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mnav_core.errors import UsageError

RUN_S = 3600.0


@dataclass(frozen=True)
class OutsideProgram:
    """A command; `{prompt}`, `{prompt_file}`, `{home}`, `{work}` in its words are filled in. `extra` adds variables."""

    words: tuple[str, ...]
    run_s: float = RUN_S
    extra: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if not self.words:
            raise UsageError("agent program: no command, allowed: a command with its arguments")
        if not 0.0 < self.run_s <= 86_400.0:
            raise UsageError(f"agent program: run_s is {self.run_s}, allowed is > 0 and <= 86400")
