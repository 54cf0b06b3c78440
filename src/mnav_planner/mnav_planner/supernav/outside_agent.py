"""Somebody else's agent program as the mind: one process a run, with limits, and what came of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from mnav_core.errors import UsageError
from mnav_planner.supernav.agent_home import AgentHome
from mnav_planner.supernav.client_configuration import TOKEN_VARIABLE
from mnav_planner.supernav.mcp_server import CallRecord
from mnav_planner.supernav.outside_program import OutsideProgram
from mnav_planner.supernav.statuses import FailureCode

TERM_S = 5.0
POLL_S = 0.1
TIMED_OUT_CODE = 124
MAX_OUTPUT_BYTES = 20_000_000
# All that the program inherits; everything else of this process stays here.
INHERITED = ("PATH", "LANG", "LC_ALL", "TERM", "SSL_CERT_FILE")


class OutsideOutcome(Enum):
    """How a run ended, by its close_session alone; whatever the program prints or exits with says nothing about it."""

    ACHIEVED = "achieved"
    BLOCKED = "blocked"
    UNSTRUCTURED_CLOSE = "unstructured_close"
    CLOSE_FAILED = "close_failed"
    NONE = "no_close"


@dataclass(frozen=True)
class ProgramEnd:
    """How the process ended: exit code (124: it ran out of time), wall seconds."""

    code: int
    wall_s: float

    @property
    def timed_out(self) -> bool:
        """Whether its time was up."""
        return self.code == TIMED_OUT_CODE


class Transcript:
    """Writes every call to a file as it is answered, and remembers how sessions were closed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.calls = 0
        self.close_attempts: list[CallRecord] = []

    def note(self, record: CallRecord) -> None:
        """One call."""
        self.calls += 1
        if record.tool.removeprefix("hab_") == "close_session":
            self.close_attempts.append(record)
        line = {
            "session_id": record.session_id,
            "robot_s": round(record.robot_s, 2),
            "wall_s": record.wall_s,
            "tool": record.tool,
            "arguments": dict(record.arguments),
            "reply": dict(record.reply),
        }
        with self._file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def outcome(self) -> OutsideOutcome:
        """By the last attempt to close; a close that was carried out is not undone by attempts after it."""
        for record in self.close_attempts:
            if record.reply.get("closed"):
                return OutsideOutcome(record.reply["terminal_claim"])
        if not self.close_attempts:
            return OutsideOutcome.NONE
        error: Any = self.close_attempts[-1].reply.get("error", {})
        wrong = error.get("code") == FailureCode.INVALID_ARGUMENTS.value
        return OutsideOutcome.UNSTRUCTURED_CLOSE if wrong else OutsideOutcome.CLOSE_FAILED


def run_program(
    program: OutsideProgram, home: AgentHome, token: str, stopped: Callable[[], bool] = lambda: False
) -> ProgramEnd:
    """Run the program to its end, at most `run_s`; then it and all its children are ended. Its output goes to files."""
    words = _filled(program.words, home)
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    environment |= {
        "HOME": str(home.home),
        "CODEX_HOME": str(home.home / ".codex"),
        "XDG_CONFIG_HOME": str(home.home / ".config"),
        "XDG_CACHE_HOME": str(home.home / ".cache"),
        TOKEN_VARIABLE: token,
        **(program.extra or {}),
    }
    (home.folder / "command.json").write_text(json.dumps({"words": words, "run_s": program.run_s}, indent=1) + "\n")
    started = time.monotonic()
    with (home.folder / "stdout.log").open("wb") as out, (home.folder / "stderr.log").open("wb") as err:
        try:
            process = subprocess.Popen(
                words,
                cwd=home.work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"agent program {words[0]!r}: {error.strerror or error}") from error
        try:
            code = _wait(process, program.run_s, home.folder, stopped)
        finally:
            _end_group(process)
    return ProgramEnd(code, round(time.monotonic() - started, 2))


def _filled(words: Sequence[str], home: AgentHome) -> list[str]:
    values = {
        "{prompt}": home.prompt.read_text(),
        "{prompt_file}": str(home.prompt),
        "{home}": str(home.home),
        "{work}": str(home.work),
    }
    filled = []
    for word in words:
        for key, value in values.items():
            word = word.replace(key, value)
        filled.append(word)
    return filled


def _wait(process: subprocess.Popen[bytes], run_s: float, folder: Path, stopped: Callable[[], bool]) -> int:
    deadline_s = time.monotonic() + run_s
    while time.monotonic() < deadline_s and not stopped():
        try:
            return process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            written = sum((folder / name).stat().st_size for name in ("stdout.log", "stderr.log"))
            if written > MAX_OUTPUT_BYTES:
                break
    return TIMED_OUT_CODE


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the program and whatever it started, first kindly."""
    for number, patience_s in ((signal.SIGTERM, TERM_S), (signal.SIGKILL, TERM_S)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            continue
    process.wait(TERM_S)
