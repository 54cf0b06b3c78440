"""Three robots in one world: each in its namespace, told apart by `status`, with the pace of their simulation."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("unitree_api")

from mnav_cli.domains import join_domain, lease_free_domain
from mnav_cli.supervisor import Supervisor, SystemOutcome, run_key
from mnav_cli.systems import load_system

STARTED_S = 150.0


@pytest.mark.sim
@pytest.mark.slow
def test_three_fake_robots_in_one_house(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    system = load_system("fleet", {"go1_address": address, "namespace_go1": "scout"})
    said: list[str] = []
    with (
        lease_free_domain(str(tmp_path)) as lease,
        Supervisor(system, lease.domain, lambda process, line: said.append(f"{process}: {line}"), tmp_path) as running,
    ):
        status = _await_status(running, tmp_path, said)
    assert status["namespaces"] == ["/robot1", "/robot3", "/scout"]
    assert status["real_time_factor"] > 0.0
    states = {node: state for process in status["processes"] for node, state in process["nodes"].items()}
    for robot, driver in (("robot1", "go2_driver"), ("scout", "go1_driver"), ("robot3", "tracer_driver")):
        for name in (driver, "mounts", "mapper", "executor", "velocity_gate", "task_server"):
            assert states[f"/{robot}/{name}"] == "active", said[-20:]
    print(json.dumps({"real_time_factor": status["real_time_factor"]}))


def _await_status(running: Supervisor, folder: Path, said: list[str]) -> dict[str, Any]:
    """The status once the simulation says how fast it goes, as it does when every robot's nodes are there, and all have
    answered: a busy machine keeps some from it within the second that they are given.
    """
    deadline = time.monotonic() + STARTED_S
    status: dict[str, Any] = {}
    while time.monotonic() < deadline:
        assert running.poll() is SystemOutcome.RUNNING, said[-20:]
        code = (
            "import json, pathlib, sys\n"
            "from mnav_cli.commands.status import describe\n"
            "from mnav_cli.run_files import running_systems\n"
            f"print(json.dumps([describe(s) for s in running_systems(pathlib.Path({str(folder)!r}))]))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        (status,) = json.loads(done.stdout)
        answers = {state for process in status["processes"] for state in process["nodes"].values()}
        if status["real_time_factor"] and answers == {"active"}:
            return status
    raise AssertionError(f"not all there within {STARTED_S:g} s: {status} {said[-30:]}")


def test_systems_of_one_kind_are_told_apart_by_their_namespace() -> None:
    keys = {run_key(load_system("go2", {"namespace": name}), 42) for name in ("", "robot1", "a/b", "/robot1/")}
    assert keys == {"go2-42", "go2-42-robot1", "go2-42-a-b"}
    with join_domain(42) as lease:
        assert lease.domain == 42
