"""Running one phase: its line, its bar, its log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from mnav_cli.bootstrap.ground import SetupFailed

BAR_WIDTH = 24
TAIL_LINES = 12


class PhaseLine:
    """One terminal line for one phase: a bar on a terminal, plain text elsewhere. Written to stderr."""

    def __init__(self, title: str, log: Path, stream: IO[str] | None = None) -> None:
        self.title = title
        self.log = log
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._last_drawn = 0.0
        self._fraction = 0.0

    def __enter__(self) -> PhaseLine:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        if not self._stream.isatty():
            self._stream.write(f"mnav: {self.title} ... ")
            self._stream.flush()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        verdict = "done" if kind is None else "interrupted" if kind is KeyboardInterrupt else "failed"
        elapsed = time.monotonic() - self._started
        if self._stream.isatty():
            self._stream.write(f"\r\033[Kmnav: {self.title} {verdict} in {elapsed:.0f} s\n")
        else:
            self._stream.write(f"{verdict} in {elapsed:.0f} s\n")
        self._stream.flush()

    def show(self, fraction: float | None = None) -> None:
        """Draw the bar at `fraction` (0..1), or the last one with the time gone on."""
        if fraction is not None:
            self._fraction = max(self._fraction, min(fraction, 1.0))
        now = time.monotonic()
        if not self._stream.isatty() or now - self._last_drawn < 0.1:
            return
        self._last_drawn = now
        filled = round(self._fraction * BAR_WIDTH)
        bar = "#" * filled + "-" * (BAR_WIDTH - filled)
        self._stream.write(f"\r\033[Kmnav: {self.title} [{bar}] {now - self._started:.0f} s")
        self._stream.flush()

    def run(
        self,
        command: Sequence[str | Path],
        env: Mapping[str, str],
        cwd: Path,
        on_line: Callable[[str], float | None] = lambda line: None,
        code: int = 3,
    ) -> None:
        """Run `command`, its output into the log and through `on_line` (which may return the fraction done).

        Raises SetupFailed with exit code `code` and the last lines of the output if it does not exit with 0.
        """
        with self.log.open("a") as log:
            log.write(f"$ {' '.join(map(str, command))}\n")
            log.flush()
            process = subprocess.Popen(
                [str(part) for part in command],
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
                # The set-up's lock goes along: should this process be killed, the next one waits for what it left.
                close_fds=False,
            )
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    log.write(line)
                    self.show(on_line(line))
                status = process.wait()
            except BaseException:
                # Ctrl-C reaches only us, since the child has its own session.
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(timeout=30)
                raise
        if status != 0:
            raise SetupFailed(f"{self.title} failed (exit {status})\n{self.tail()}", code=code)

    def tail(self) -> str:
        """The last lines of the log and where it is."""
        lines = self.log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        return "\n".join([*(f"  {line[:200]}" for line in lines), f"  log: {self.log}"])
