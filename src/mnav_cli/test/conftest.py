"""A tiny package of nodes, installed beside the test as a distribution with entry points, and systems made of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

NODES = '''
"""Nodes for tests of the supervisor."""
import os
import signal
import subprocess

from mnav_core.errors import UsageError
from rclpy.node import Node


class Talker(Node):
    """Says its name, namespace and parameters once it runs."""

    def __init__(self, **options):
        super().__init__("talker", automatically_declare_parameters_from_overrides=True, **options)
        parameters = {name: parameter.value for name, parameter in sorted(self._parameters.items()) if "." not in name}
        for standard in ("use_sim_time", "start_type_description_service"):
            parameters.pop(standard, None)
        print(f"ready {self.get_fully_qualified_name()} pid={os.getpid()} {parameters}", flush=True)
        print(f"topic {self.resolve_topic_name('chatter')}", flush=True)


class Refuser(Node):
    """Refuses its parameters."""

    def __init__(self, **options):
        super().__init__("refuser", **options)
        raise UsageError("parameter 'speed': 9.0: allowed 0.0 to 1.0")


class Thrower(Node):
    """Throws in a timer callback."""

    def __init__(self, **options):
        super().__init__("thrower", **options)
        self.create_timer(0.05, self.throw)

    def throw(self):
        raise ValueError("thrown on purpose")


class Deaf(Node):
    """Hangs in its destruction and ignores SIGTERM, with a child that ignores everything but SIGKILL."""

    def __init__(self, **options):
        super().__init__("deaf", **options)
        script = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; time.sleep(60)"
        self.child = subprocess.Popen(["python3", "-S", "-c", script])
        print(f"ready deaf pid={os.getpid()} child={self.child.pid}", flush=True)

    def destroy_node(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.sigtimedwait([signal.SIGUSR1], 60)
'''

SYSTEM = """
environment:
  ROS_AUTOMATIC_DISCOVERY_RANGE: LOCALHOST
arguments: {robot: cobot_magic, namespace: "", seed: 0, rate_hz: 2.0, quiet: false}
processes:
"""


@pytest.fixture
def tiny_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package `tiny_nodes` on the import path of every child process; its folder."""
    folder = tmp_path / "site"
    metadata = folder / "tiny_nodes-0.1.dist-info"
    metadata.mkdir(parents=True)
    (folder / "tiny_nodes.py").write_text(NODES)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny_nodes\nVersion: 0.1\n")
    names = ("talker", "refuser", "thrower", "deaf")
    lines = [f"{name} = tiny_nodes:{name.capitalize()}" for name in names]
    (metadata / "entry_points.txt").write_text("\n".join(["[mnav.nodes]", *lines]))
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    return folder


@pytest.fixture
def system_file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a system file with the given processes (YAML, a list)."""

    def write(processes: str) -> Path:
        path = tmp_path / "tiny.yaml"
        path.write_text(SYSTEM + processes)
        return path

    return write
