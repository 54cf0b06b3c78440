"""Keeps the processes of one system running."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
from types import TracebackType

from mnav_cli.checkout import checkout_root
from mnav_cli.process_environment import process_environment
from mnav_cli.process_output import OnLine, OutputReader
from mnav_cli.restarts import RestartPolicy
from mnav_cli.run_files import RunFile
from mnav_cli.supervised_process import ProcessState, SupervisedProcess
from mnav_cli.systems import SystemDescription

SUPERVISOR = "mnav"
# After the first request to stop: when the next, stronger signal is sent.
STOP_SIGNALS = ((0.0, signal.SIGINT), (1.5, signal.SIGTERM), (2.5, signal.SIGKILL))
STOP_TIMEOUT_S = 3.0
STOP_POLL_S = 0.02


class SystemOutcome(Enum):
    """How a system stands; the value is the exit code of `mnav up` (None while it runs)."""

    RUNNING = None
    ENDED = 0
    REFUSED = 2
    FAILED = 3


def run_key(system: SystemDescription, domain: int) -> str:
    """What tells a running system from others of this checkout: its name, domain and namespace."""
    namespace = str(system.arguments.get("namespace", "")).strip("/").replace("/", "-")
    return f"{system.name}-{domain}" + (f"-{namespace}" if namespace else "")


class Supervisor:
    """Starts, watches, restarts and stops the processes of `system` in `domain`.

    `on_line(process, line)` is called from one reader thread for every line of output, and from the caller's thread for
    what the supervisor itself says (process name `mnav`). Processes die with the thread that called `start` and `poll`:
    call both from a thread that outlives the system. After `stop` neither a process nor a thread is left.
    """

    def __init__(
        self,
        system: SystemDescription,
        domain: int,
        on_line: OnLine,
        folder: Path | None = None,
        policy: RestartPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.system = system
        self.domain = domain
        self._on_line = on_line
        self._clock = clock
        self._folder = folder or checkout_root() / ".mnav" / "run"
        key = run_key(system, domain)
        self._run_file = RunFile(self._folder / f"{key}.json")
        policy = policy or RestartPolicy()
        self.processes = [
            SupervisedProcess(process, self._folder / key / f"{process.name}.json", policy)
            for process in system.processes
        ]
        self._env: dict[str, str] = {}
        self._output = OutputReader(on_line)
        self._started = False

    def start(self) -> None:
        """Start every process. Raises UsageError where the environment of the system cannot be had."""
        self._env = process_environment(self.system, self.domain)
        self._output.start()
        self._started = True
        for process in self.processes:
            process.start(self._clock(), self._env, self._output)
            self._say(process, f"started, pid {process.pid}")
        self._write_run_file()

    def poll(self) -> SystemOutcome:
        """Look after the processes once, without waiting; how the system stands."""
        before = [(process.state, process.pid) for process in self.processes]
        for process in self.processes:
            process.poll(self._clock(), self._env, self._output, partial(self._say, process))
        if before != [(process.state, process.pid) for process in self.processes]:
            self._write_run_file()
        return self.outcome()

    def outcome(self) -> SystemOutcome:
        """How the system stands: it is over when a required process is over, or all are."""
        states = {process.state for process in self.processes if process.description.required}
        if ProcessState.REFUSED in states:
            return SystemOutcome.REFUSED
        if ProcessState.FAILED in states:
            return SystemOutcome.FAILED
        over = (ProcessState.ENDED, ProcessState.FAILED, ProcessState.REFUSED)
        if ProcessState.ENDED in states or all(process.state in over for process in self.processes):
            return SystemOutcome.ENDED
        return SystemOutcome.RUNNING

    def stop(self) -> None:
        """End every process within 3 s: SIGINT, then SIGTERM, then SIGKILL. A second call does nothing."""
        if not self._started:
            return
        self._started = False
        for process in self.processes:
            process.note_stopped()
        began = self._clock()
        pending = list(STOP_SIGNALS)
        while self._clock() - began < STOP_TIMEOUT_S and not all(process.is_gone() for process in self.processes):
            if pending and self._clock() - began >= pending[0][0]:
                number = pending.pop(0)[1]
                for process in self.processes:
                    if not process.is_gone():
                        process.signal(number)
            time.sleep(STOP_POLL_S)
        for process in self.processes:
            # Whatever a process left behind in its group goes with it.
            process.signal(signal.SIGKILL)
        self._output.close()
        self._run_file.remove()

    def __enter__(self) -> Supervisor:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _say(self, process: SupervisedProcess, text: str) -> None:
        self._on_line(SUPERVISOR, f"{process.name}: {text}")

    def _write_run_file(self) -> None:
        self._run_file.write(self.system, self.domain, self.processes)
