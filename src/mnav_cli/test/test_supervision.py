"""The supervisor with real processes and real nodes."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from mnav_cli.restarts import RestartPolicy
from mnav_cli.run_files import running_systems
from mnav_cli.supervisor import Supervisor, SystemOutcome
from mnav_cli.systems import load_system

pytestmark = pytest.mark.ros

WriteSystem = Callable[[str], Path]
TALKER = "- {name: one, nodes: [{package: tiny_nodes, executable: talker, name: talker}]}\n"
START_S = 20.0


def only(executable: str, more: str = "") -> str:
    """One process with one node."""
    return f"- {{name: one{more}, nodes: [{{package: tiny_nodes, executable: {executable}, name: {executable}}}]}}\n"


class Lines:
    """Lines a supervisor handed on, searched in order."""

    def __init__(self) -> None:
        self.queue: queue.Queue[str] = queue.Queue()
        self.seen: list[str] = []

    def add(self, process: str, line: str) -> None:
        self.queue.put(f"{process}: {line}")

    def find(self, pattern: str, supervisor: Supervisor | None, timeout_s: float = START_S) -> re.Match[str]:
        """The next line that matches, while the supervisor is polled."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if supervisor is not None:
                supervisor.poll()
            try:
                line = self.queue.get(timeout=0.05)
            except queue.Empty:
                continue
            self.seen.append(line)
            match = re.search(pattern, line)
            if match:
                return match
        raise AssertionError(f"no line matches {pattern!r} in {self.seen}")


@pytest.fixture
def lines() -> Lines:
    return Lines()


def gone(pid: int) -> bool:
    """Whether no such process runs any more."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Poll a condition of other processes."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@pytest.mark.usefixtures("tiny_nodes")
def test_nodes_get_names_namespaces_parameters_and_remappings(
    system_file: WriteSystem, lines: Lines, ros_domain: int, tmp_path: Path
) -> None:
    two = """
- name: one
  nodes:
    - {package: tiny_nodes, executable: talker, name: left, namespace: robot1, parameters: {speed: 0.5, names: [a, b]}}
    - {package: tiny_nodes, executable: talker, name: right, remappings: {chatter: gossip}}
"""
    with Supervisor(load_system(str(system_file(two))), ros_domain, lines.add, tmp_path) as supervisor:
        first = lines.find(r"one: ready /robot1/left pid=(\d+) \{'names': \['a', 'b'\], 'speed': 0.5\}", supervisor)
        lines.find(r"topic /robot1/chatter", supervisor)
        second = lines.find(r"one: ready /right pid=(\d+) \{\}", supervisor)
        lines.find(r"topic /gossip", supervisor)
        assert first.group(1) == second.group(1)
        (running,) = running_systems(tmp_path)
        assert running.processes[0].pid == int(first.group(1)) and running.processes[0].nodes == (
            "/robot1/left",
            "/right",
        )
        threads_within = threading.active_count()
    assert running_systems(tmp_path) == [] and gone(int(first.group(1)))
    assert threading.active_count() < threads_within


@pytest.mark.usefixtures("tiny_nodes")
def test_killed_child_is_restarted_and_said(
    system_file: WriteSystem, lines: Lines, ros_domain: int, tmp_path: Path
) -> None:
    with Supervisor(load_system(str(system_file(TALKER))), ros_domain, lines.add, tmp_path) as supervisor:
        first = int(lines.find(r"ready /talker pid=(\d+)", supervisor).group(1))
        os.kill(first, signal.SIGKILL)
        lines.find(r"mnav: one: killed by SIGKILL; starting it again in 0.5 s", supervisor)
        lines.find(r"mnav: one: restarted, pid \d+ \(restart 1\)", supervisor)
        second = int(lines.find(r"ready /talker pid=(\d+)", supervisor).group(1))
        assert second != first and gone(first)
        assert running_systems(tmp_path)[0].processes[0].restarts == 1
        assert supervisor.outcome() is SystemOutcome.RUNNING


@pytest.mark.usefixtures("tiny_nodes")
def test_node_that_throws_is_restarted_up_to_the_bound(
    system_file: WriteSystem, lines: Lines, ros_domain: int, tmp_path: Path
) -> None:
    policy = RestartPolicy(first_delay_s=0.05, most_in_a_row=1)
    with Supervisor(
        load_system(str(system_file(only("thrower")))), ros_domain, lines.add, tmp_path, policy
    ) as supervisor:
        lines.find(r"ValueError: thrown on purpose", supervisor)
        lines.find(r"exited with 3; starting it again in 0.1 s", supervisor)
        lines.find(r"exited with 3; not restarted \(2 failures in a row\)", supervisor)
        assert supervisor.poll() is SystemOutcome.FAILED


@pytest.mark.usefixtures("tiny_nodes")
def test_node_that_refuses_its_parameters_ends_the_system(
    system_file: WriteSystem, lines: Lines, ros_domain: int, tmp_path: Path
) -> None:
    with Supervisor(load_system(str(system_file(only("refuser")))), ros_domain, lines.add, tmp_path) as supervisor:
        lines.find(r"one: mnav: parameter 'speed': 9.0: allowed 0.0 to 1.0", supervisor)
        lines.find(r"exited with 2: it refuses its input", supervisor)
        assert supervisor.poll() is SystemOutcome.REFUSED


@pytest.mark.usefixtures("tiny_nodes")
def test_unknown_executable_is_refused_with_what_there_is(
    system_file: WriteSystem, lines: Lines, ros_domain: int, tmp_path: Path
) -> None:
    with Supervisor(load_system(str(system_file(only("walker")))), ros_domain, lines.add, tmp_path) as supervisor:
        lines.find(r"'tiny_nodes' has no node 'walker'; allowed: deaf, refuser, talker, thrower", supervisor)


@pytest.mark.usefixtures("tiny_nodes")
def test_deaf_processes_are_gone_within_three_seconds(
    system_file: WriteSystem, lines: Lines, ros_domain: int, tmp_path: Path
) -> None:
    with Supervisor(load_system(str(system_file(only("deaf")))), ros_domain, lines.add, tmp_path) as supervisor:
        match = lines.find(r"ready deaf pid=(\d+) child=(\d+)", supervisor)
        started = time.monotonic()
    assert time.monotonic() - started < 3.0
    assert wait_until(lambda: gone(int(match.group(1))) and gone(int(match.group(2))), 0.5)


@pytest.fixture
def up(system_file: WriteSystem, tiny_nodes: Path, ros_domain: int) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `mnav up` on a tiny system as a user would; ended afterwards."""
    started: list[subprocess.Popen[str]] = []

    def start(processes: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "mnav_cli", "up", str(system_file(processes)), *arguments]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def read_until(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """The first line of its output that matches."""
    seen = []
    assert process.stdout is not None
    for line in process.stdout:
        seen.append(line)
        match = re.search(pattern, line)
        if match:
            return match
    raise AssertionError(f"{pattern!r} not in {seen}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_everything_within_three_seconds(up: Callable[..., subprocess.Popen[str]], number: int) -> None:
    process = up(TALKER)
    child = int(read_until(process, r"one +\| ready /talker pid=(\d+)").group(1))
    began = time.monotonic()
    os.kill(process.pid, number)
    assert process.wait(10) == 0
    assert time.monotonic() - began < 3.0 and gone(child)


def test_children_die_with_a_killed_supervisor(up: Callable[..., subprocess.Popen[str]]) -> None:
    process = up(TALKER)
    child = int(read_until(process, r"ready /talker pid=(\d+)").group(1))
    os.kill(process.pid, signal.SIGKILL)
    assert wait_until(lambda: gone(child), 3.0)


def test_up_says_in_one_line_what_is_wrong(up: Callable[..., subprocess.Popen[str]]) -> None:
    first = up(TALKER)
    domain = read_until(first, r"in ROS domain (\d+)").group(1)
    read_until(first, r"ready /talker")
    for arguments, expected in (
        (["--domain", domain], f"mnav: domain {domain} is in use by another mnav system"),
        (["speed:=3"], "mnav: unknown argument 'speed'"),
        (["--domian", "3"], "mnav: unrecognized arguments: --domian"),
    ):
        refused = up(TALKER, *arguments)
        output, _ = refused.communicate(timeout=20)
        assert refused.returncode == 2 and output.startswith(expected) and output.count("\n") == 1, output


def test_status_and_down_find_the_running_system(up: Callable[..., subprocess.Popen[str]]) -> None:
    process = up(TALKER)
    domain = int(read_until(process, r"in ROS domain (\d+)").group(1))
    child = int(read_until(process, r"ready /talker pid=(\d+)").group(1))
    command = [sys.executable, "-m", "mnav_cli"]
    shown = subprocess.run([*command, "status", "--json"], capture_output=True, text=True, timeout=30, check=True)
    (system,) = (item for item in json.loads(shown.stdout)["systems"] if item["domain"] == domain)
    (one,) = system["processes"]
    assert (one["name"], one["pid"], one["state"], one["restarts"]) == ("one", child, "running", 0)
    assert one["rss_mb"] > 10 and one["nodes"] == {"/talker": "-"}
    stopped = subprocess.run(
        [*command, "down", "--domain", str(domain)], capture_output=True, text=True, timeout=30, check=True
    )
    assert stopped.stdout == f"tiny (domain {domain}): stopped\n"
    assert process.wait(5) == 0 and gone(child)
