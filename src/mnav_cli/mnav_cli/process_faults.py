"""Rows of processes that are killed under way: the run goes on, or ends lost; nothing outlives its supervisor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from mnav_bench.episodes import EpisodeFile, write_episodes
from mnav_bench.evaluate import mind_seed
from mnav_bench.figures.rows import FigureRow, RowOutcome, at_most, equal
from mnav_bench.navtoobj import demo_episode
from mnav_cli.domains import lease_free_domain
from mnav_cli.supervisor import Supervisor, SystemOutcome
from mnav_cli.systems import load_system
from mnav_core.robot import RobotDescription

SEED = 5
# Long enough to lose a process in the middle, short enough to wait for.
BUDGET_S = 90.0
# Wall seconds of driving before the kill.
DRIVEN_S = 8.0
RUN_LIMIT_S = 400.0
LOST_LIMIT_S = 30.0
CHILDREN, CHILDREN_GONE_S, CHILDREN_LIMIT_S = 4, 3.0, 120.0
POLL_S = 0.05
LOST = "lost"
# Process of the system `demo`, what is in it, and whether the run survives its death.
KILLED = (
    ("perception", "mapper", True),
    ("motion", "executor and gate", True),
    ("mind", "mind", False),
    ("sim", "simulator and detector", False),
)


@dataclass
class _Run:
    """What happened in one run: when the mind began, the outcome, how often the victim was started again."""

    began_s: float | None = None
    killed_s: float | None = None
    ended_s: float = 0.0
    outcome: str = LOST
    success: bool = False
    restarts: int = 0
    said: list[str] = field(default_factory=list)


def process_rows(robot: RobotDescription) -> Iterator[FigureRow]:
    """A row for each process of a running episode, killed with SIGKILL, and one for the supervisor."""
    suite = demo_episode(SEED, robot, None).model_copy(update={"budget_s": BUDGET_S})
    for process, what, survives in KILLED:
        run = run_with_kill(suite, robot, process)
        name = f"kill -9 of {what}"
        detail = (
            f"outcome {run.outcome}, {run.restarts} restarts, {run.ended_s - (run.killed_s or run.ended_s):.1f} s after"
        )
        if run.killed_s is None:
            yield FigureRow(name, RowOutcome.FAIL, detail="the run never began: " + " | ".join(run.said[-3:])[:200])
        elif survives:
            wrong = run.outcome == LOST or run.restarts != 1
            yield equal(f"{name}: runs that do not go on", float(wrong), 0.0, detail=detail)
        else:
            wrong = run.outcome != LOST or run.ended_s - run.killed_s > LOST_LIMIT_S
            yield equal(
                f"{name}: runs that do not end lost within {LOST_LIMIT_S:g} s", float(wrong), 0.0, detail=detail
            )
    yield _supervisor_row()


def run_with_kill(suite: EpisodeFile, robot: RobotDescription, victim: str) -> _Run:
    """Run the episode through the graph, free-running, and kill one process once the robot has driven a while."""
    run, episode = _Run(), suite.episodes[0]

    def on_line(process: str, line: str) -> None:
        run.said.append(f"{process}: {line}")
        if process == "mind" and "task:" in line and run.began_s is None:
            run.began_s = time.monotonic()

    with tempfile.TemporaryDirectory(prefix="mnav-kill-") as folder, lease_free_domain(folder) as lease:
        file, verdict = Path(folder) / "episode.json", Path(folder) / "verdict.json"
        write_episodes(file, suite)
        arguments = {"robot": robot.name, "episodes": str(file), "seed": str(mind_seed(episode))}
        system = load_system("demo", {**arguments, "verdict": str(verdict)})
        deadline = time.monotonic() + RUN_LIMIT_S
        with Supervisor(system, lease.domain, on_line) as supervisor:
            target = next(process for process in supervisor.processes if process.name == victim)
            while time.monotonic() < deadline and not verdict.is_file():
                now_s = time.monotonic()
                due = run.began_s is not None and now_s >= run.began_s + DRIVEN_S
                if due and run.killed_s is None and target.pid is not None:
                    os.kill(target.pid, signal.SIGKILL)
                    run.killed_s = now_s
                if supervisor.poll() is not SystemOutcome.RUNNING:
                    break
                time.sleep(POLL_S)
            run.ended_s, run.restarts = time.monotonic(), target.restarts
            if verdict.is_file():
                row = json.loads(verdict.read_text())
                run.outcome, run.success = str(row["outcome"]), bool(row["success"])
    return run


def _supervisor_row() -> FigureRow:
    """Kill a supervisor and count how long its processes live on."""
    name = "kill -9 of the supervisor: time until its processes are gone"
    command = [sys.executable, "-m", "mnav_cli", "demo", "--seed", str(SEED), "--json"]
    supervisor = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        children = _wait_for(lambda: _composed(supervisor.pid), CHILDREN_LIMIT_S)
        if len(children) < CHILDREN:
            return FigureRow(name, RowOutcome.FAIL, detail=f"{len(children)} processes within {CHILDREN_LIMIT_S:g} s")
        supervisor.kill()
        killed_s = time.monotonic()
        supervisor.wait()
        _, alive = psutil.wait_procs(children, timeout=3.0 * CHILDREN_GONE_S)
        taken = time.monotonic() - killed_s if not alive else float("inf")
        return at_most(name, taken, CHILDREN_GONE_S, "s", f"{len(children)} processes")
    finally:
        supervisor.kill()
        supervisor.wait()


def _composed(supervisor: int) -> list[psutil.Process]:
    try:
        return [p for p in psutil.Process(supervisor).children() if "mnav_cli.compose" in p.cmdline()]
    except psutil.NoSuchProcess:
        return []


def _wait_for(found: Callable[[], list[psutil.Process]], limit_s: float) -> list[psutil.Process]:
    deadline = time.monotonic() + limit_s
    while len(processes := found()) < CHILDREN and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return processes
