"""One process of a system: starting it, noticing its end, starting it again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path

from mnav_cli.process_output import OutputReader
from mnav_cli.restarts import RestartPolicy
from mnav_cli.systems import ProcessDescription, Restart

EXIT_BAD_INPUT = 2


class ProcessState(str, Enum):
    """What a process is doing."""

    STOPPED = "stopped"
    RUNNING = "running"
    WAITING = "waiting"  # failed, to be started again
    ENDED = "ended"  # exited with 0
    FAILED = "failed"  # failed and not to be started again
    REFUSED = "refused"  # exited with 2: starting it again would not help


class SupervisedProcess:
    """A process and its restarts. All times are seconds of one monotonic clock, passed in."""

    def __init__(self, description: ProcessDescription, file: Path, policy: RestartPolicy) -> None:
        self.description = description
        self.state = ProcessState.STOPPED
        self.restarts = 0
        self._file = file
        self._policy = policy
        self._process: subprocess.Popen[bytes] | None = None
        self._started_s = 0.0
        self._start_again_s = 0.0
        self._failures = 0

    @property
    def name(self) -> str:
        """Its name in the system file."""
        return self.description.name

    @property
    def pid(self) -> int | None:
        """Its process id (and group) while it runs."""
        return self._process.pid if self._process is not None and self.state is ProcessState.RUNNING else None

    def start(self, now_s: float, env: Mapping[str, str], output: OutputReader) -> None:
        """Start it in a session of its own."""
        read, write = os.pipe()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(self.description.model_dump_json(indent=1))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mnav_cli.compose", str(self._file), str(os.getpid())],
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=write,
                stderr=write,
                start_new_session=True,
            )
        finally:
            os.close(write)
        output.add(self.name, read)
        self._started_s = now_s
        self.state = ProcessState.RUNNING

    def poll(self, now_s: float, env: Mapping[str, str], output: OutputReader, say: Callable[[str], None]) -> None:
        """Notice its end, and start it again when that is due; everything that happens is said."""
        if self.state is ProcessState.RUNNING:
            status = self._process.poll() if self._process is not None else None
            if status is not None:
                self._note_end(status, now_s, say)
        elif self.state is ProcessState.WAITING and now_s >= self._start_again_s:
            self.restarts += 1
            self.start(now_s, env, output)
            say(f"restarted, pid {self.pid} (restart {self.restarts})")

    def signal(self, number: int) -> None:
        """Send a signal to it and everything it started, if it runs."""
        if self._process is not None:
            _signal_group(self._process.pid, number)

    def note_stopped(self) -> None:
        """It is to stay as it is: no further restart."""
        if self.state in (ProcessState.RUNNING, ProcessState.WAITING):
            self.state = ProcessState.STOPPED

    def is_gone(self) -> bool:
        """Whether the process has ended (reaps it)."""
        return self._process is None or self._process.poll() is not None

    def _note_end(self, status: int, now_s: float, say: Callable[[str], None]) -> None:
        assert self._process is not None
        # What it started must not live on beside its successor.
        _signal_group(self._process.pid, signal.SIGKILL)
        how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exited with {status}"
        if status == 0:
            self.state = ProcessState.ENDED
            say(how)
            return
        if status == EXIT_BAD_INPUT:
            self.state = ProcessState.REFUSED
            say(f"{how}: it refuses its input")
            return
        if now_s - self._started_s >= self._policy.healthy_after_s:
            self._failures = 0
        self._failures += 1
        if self.description.restart is Restart.NEVER or self._failures > self._policy.most_in_a_row:
            self.state = ProcessState.FAILED
            say(f"{how}; not restarted ({self._failures} failures in a row)")
            return
        delay_s = self._policy.delay_s(self._failures)
        self._start_again_s = now_s + delay_s
        self.state = ProcessState.WAITING
        say(f"{how}; starting it again in {delay_s:.1f} s")


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return  # all of it ended already
