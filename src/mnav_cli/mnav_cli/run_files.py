"""Run files: what a running supervisor says about itself, `.mnav/run/<system>-<domain>.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from mnav_cli.supervised_process import SupervisedProcess
from mnav_cli.systems import SystemDescription

# psutil computes start times from clock ticks and boot time; they agree to a tick.
START_TIME_TOLERANCE_S = 0.05


@dataclass(frozen=True)
class RunningProcess:
    """One process of a running system; `pid` is None while it is not running."""

    name: str
    pid: int | None
    state: str
    restarts: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class RunningSystem:
    """A system with a live supervisor."""

    system: str
    domain: int
    pid: int
    start_time: float
    arguments: dict[str, bool | int | float | str]
    environment: dict[str, str]
    processes: tuple[RunningProcess, ...]

    def is_alive(self) -> bool:
        """Whether the supervisor still runs: its pid, and the time it was started, since pids are used again."""
        try:
            supervisor = psutil.Process(self.pid)
            same = abs(float(supervisor.create_time()) - self.start_time) <= START_TIME_TOLERANCE_S
            return same and supervisor.status() != str(psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False


class RunFile:
    """The run file of this process's supervisor."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, system: SystemDescription, domain: int, processes: Sequence[SupervisedProcess]) -> None:
        """Replace the file by the present state."""
        content = {
            "system": system.name,
            "domain": domain,
            "pid": os.getpid(),
            "start_time": psutil.Process().create_time(),
            "arguments": system.arguments,
            "environment": system.environment,
            "processes": [
                {
                    "name": process.name,
                    "pid": process.pid,
                    "state": process.state.value,
                    "restarts": process.restarts,
                    "nodes": [node.full_name for node in process.description.nodes],
                }
                for process in processes
            ],
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(".new")
        partial.write_text(json.dumps(content, indent=1))
        partial.replace(self._path)

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)


def running_systems(folder: Path) -> list[RunningSystem]:
    """The systems of the run files in `folder` whose supervisor lives; files of others are removed."""
    found = []
    for path in sorted(folder.glob("*.json")):
        system = _read(path)
        if system is not None and system.is_alive():
            found.append(system)
        else:
            path.unlink(missing_ok=True)
    return found


def _read(path: Path) -> RunningSystem | None:
    try:
        content = json.loads(path.read_text())
        processes = tuple(
            RunningProcess(entry["name"], entry["pid"], entry["state"], entry["restarts"], tuple(entry["nodes"]))
            for entry in content.pop("processes")
        )
        return RunningSystem(**content, processes=processes)
    except (OSError, ValueError, KeyError, TypeError):
        return None
