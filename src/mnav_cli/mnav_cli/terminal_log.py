"""Prefixed lines of several processes on one terminal."""

from __future__ import annotations

import sys
import threading
import zlib
from typing import TextIO

COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)


class TerminalLog:
    """Writes `process | line`, each process in its colour on a terminal. May be called from any thread."""

    def __init__(self, names: list[str], stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._width = max(map(len, names), default=0)
        self._coloured = self._stream.isatty()
        self._lock = threading.Lock()
        self._order = {name: index for index, name in enumerate(names)}

    def write(self, process: str, line: str) -> None:
        """One line; a reader that went away is no reason to fail."""
        prefix = f"{process:<{self._width}} |"
        if self._coloured:
            index = self._order.get(process, zlib.crc32(process.encode()))
            prefix = f"\033[{COLOURS[index % len(COLOURS)]}m{prefix}\033[0m"
        with self._lock:
            try:
                self._stream.write(f"{prefix} {line}\n")
                self._stream.flush()
            except BrokenPipeError:
                return
