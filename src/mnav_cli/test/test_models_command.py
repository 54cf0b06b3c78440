"""`mnav models probe` as a user runs it, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from mnav_models.testing.behaviours import BEHAVIOURS
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.pointing_model import PointingModel

ABLE = PointingModel(lambda x, y, width, height: (1000.0 * x / width, 1000.0 * y / height))


def mnav(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mnav_cli", "models", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_probe_prints_what_the_endpoint_can_do() -> None:
    with FaultServer([ABLE], keep_bodies=False) as server:
        shown = mnav("probe", f"{server.url}#scripted")
        machine = mnav("probe", f"{server.url}#scripted", "--json")
    assert shown.returncode == 0, shown.stderr
    assert "per_mille, xy order; sees rgb, mirrored none" in shown.stdout and "latency" in shown.stdout
    report = json.loads(machine.stdout)
    assert report["tools"] and report["images"] and report["coordinates"]["convention"] == "per_mille"
    assert 0.0 < report["latency_s"] < 2.0


def test_endpoint_that_fails_is_exit_one() -> None:
    with FaultServer([BEHAVIOURS["http-500"]], keep_bodies=False) as server:
        result = mnav("probe", f"{server.url}#scripted", "--deadline", "2")
    assert result.returncode == 1 and "server_error: HTTP 500" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("probe", "qwen"), "http(s)://HOST"),
        (("probe", "http://127.0.0.1:1/v1#m", "--key", "/nowhere/key"), "key file"),
        (("probe", "http://127.0.0.1:1/v1#m", "--deadline", "0"), "> 0 seconds"),
        (("list",), "probe"),
        ((), "ACTION"),
    ],
)
def test_wrong_use_is_one_line_and_exit_two(arguments: tuple[str, ...], said: str) -> None:
    result = mnav(*arguments)
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1 and said in result.stderr
