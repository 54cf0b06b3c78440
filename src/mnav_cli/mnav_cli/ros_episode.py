"""One episode through the ROS graph: the demo system brought up, its verdict waited for, everything ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mnav_cli.domains import DomainLease
from mnav_cli.supervisor import Supervisor, SystemOutcome
from mnav_cli.systems import load_system

POLL_S = 0.05


class EpisodeLost(Exception):
    """The graph ended, or time ran out, before there was a verdict."""


def run_ros_episode(
    arguments: Mapping[str, str],
    verdict: Path,
    wall_limit_s: float,
    on_line: Callable[[str, str], None],
    lease: DomainLease,
    name: str = "demo",
) -> dict[str, Any]:
    """Bring up the system `name` with these arguments in the leased domain and return the verdict of its episode.

    Raises UsageError for an argument that the system does not have, and EpisodeLost when no verdict comes within
    `wall_limit_s` of wall time.
    """
    system = load_system(name, {**arguments, "verdict": str(verdict)})
    verdict.unlink(missing_ok=True)
    deadline = time.monotonic() + wall_limit_s
    with Supervisor(system, lease.domain, on_line) as supervisor:
        while not verdict.is_file():
            outcome = supervisor.poll()
            if outcome is not SystemOutcome.RUNNING and not verdict.is_file():
                raise EpisodeLost(f"the system {outcome.name.lower()} before the verdict")
            if time.monotonic() > deadline:
                raise EpisodeLost(f"no verdict within {wall_limit_s:g} s of wall time")
            time.sleep(POLL_S)
    row: dict[str, Any] = json.loads(verdict.read_text())
    return row
