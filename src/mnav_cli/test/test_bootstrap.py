"""The set-up: what is done again, and what is not."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mnav_cli.bootstrap import workspace
from mnav_cli.bootstrap.ground import Ground, SetupFailed, ground_at
from mnav_cli.bootstrap.machine import SystemNeed, missing_packages
from mnav_cli.bootstrap.progress import PhaseLine
from mnav_cli.bootstrap.stamps import Stamps, hash_of
from mnav_cli.checkout import checkout_root


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def package_at(folder: Path) -> workspace.SourcePackage:
    """A small package."""
    (folder / "thing").mkdir(parents=True)
    (folder / "test").mkdir()
    (folder / "package.xml").write_text("<package><name>thing</name></package>")
    (folder / "setup.py").write_text("setup()")
    (folder / "thing" / "core.py").write_text("")
    return workspace.SourcePackage("thing", folder)


@pytest.mark.parametrize(
    ("name", "content", "rebuilds"),
    [
        ("package.xml", "<package><name>other</name></package>", True),
        ("setup.py", "setup(entry_points={})", True),
        ("msg/New.msg", "int32 x", True),
        ("config/new.yaml", "", True),
        ("thing/core.py", "x = 1", False),
        ("thing/another.py", "", False),
        ("test/test_core.py", "", False),
        ("thing/__pycache__/core.pyc", "", False),
    ],
)
def test_what_makes_a_package_build_again(tmp_path: Path, name: str, content: str, rebuilds: bool) -> None:
    package = package_at(tmp_path / "thing")
    before = package.key()
    path = package.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    assert (package.key() != before) is rebuilds


def test_stamps_survive_and_broken_ones_mean_not_done(tmp_path: Path) -> None:
    stamps = Stamps(tmp_path / "stamps")
    assert stamps.read("build") == {}
    stamps.write("build", {"a": "1"})
    assert stamps.read("build") == {"a": "1"}
    (tmp_path / "stamps" / "build.json").write_text('{"a":')
    assert stamps.read("build") == {}


def test_hash_depends_on_where_parts_end() -> None:
    assert hash_of(["ab", "c"]) != hash_of(["a", "bc"])


def test_failed_phase_says_its_last_lines_and_log(tmp_path: Path) -> None:
    stream = io.StringIO()
    with pytest.raises(SetupFailed) as caught, PhaseLine("work", tmp_path / "work.log", stream) as phase:
        phase.run(["sh", "-c", "echo first; echo went wrong >&2; exit 5"], dict(os.environ), tmp_path)
    assert caught.value.code == 3
    assert "work failed (exit 5)" in str(caught.value) and "went wrong" in str(caught.value)
    assert str(tmp_path / "work.log") in str(caught.value)
    assert stream.getvalue() == "mnav: work ... failed in 0 s\n"


def test_bar_only_on_a_terminal(tmp_path: Path) -> None:
    terminal = Terminal()
    with PhaseLine("work", tmp_path / "work.log", terminal) as phase:
        phase.run(["echo", "half"], dict(os.environ), tmp_path, lambda line: 0.5 if line == "half\n" else None)
    assert "[############------------]" in terminal.getvalue()
    assert terminal.getvalue().endswith("work done in 0 s\n")


def test_missing_system_packages_are_named() -> None:
    needs = (SystemNeed("coreutils", programs=("ls",)), SystemNeed("no-such-package", programs=("no-such-program",)))
    assert missing_packages(needs) == ["no-such-package"]


def test_compat_is_built_only_where_the_underlay_lacks_it(tmp_path: Path) -> None:
    for name in ("tf2_msgs", "nav2_msgs"):
        package_at(tmp_path / "compat" / name)
        (tmp_path / "compat" / name / "package.xml").write_text(f"<package><name>{name}</name></package>")
    underlay = tmp_path / "ros"
    (underlay / "share" / "tf2_msgs").mkdir(parents=True)
    (underlay / "share" / "tf2_msgs" / "package.xml").touch()
    ground = Ground(root=tmp_path, underlay=underlay)
    assert [package.name for package in workspace.source_packages(ground)] == ["nav2_msgs"]


def test_locks_name_no_host_and_hash_everything() -> None:
    for lock in (checkout_root() / "requirements").glob("*.lock"):
        text = lock.read_text()
        assert "://" not in text and "--index" not in text and "--find-links" not in text
        pins = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
        assert pins and all("==" in pin and pin.endswith("\\") for pin in pins)
        # Two distributions of OpenCV would overwrite each other's files.
        assert len({pin.split("==")[0] for pin in pins if pin.startswith("opencv")}) <= 1


def test_unknown_command_is_refused_before_anything_is_set_up(tmp_path: Path) -> None:
    command = [sys.executable, "-S", "-m", "mnav_cli.bootstrap", str(tmp_path), "fly"]
    env = {**os.environ, "PYTHONPATH": str(checkout_root() / "src" / "mnav_cli")}
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=30, check=False)
    assert result.returncode == 2 and result.stderr.startswith("mnav: unknown command 'fly'; allowed: setup, demo")
    assert list(tmp_path.iterdir()) == []


SETUP = """
from setuptools import setup
setup(name="{name}", version="0.1.0", packages=["{name}"], data_files=[
    ("share/ament_index/resource_index/packages", ["resource/{name}"]), ("share/{name}", ["package.xml"])])
{more}
"""
MANIFEST = """<package format="3"><name>{name}</name><version>0.1.0</version><description>d</description>
<maintainer email="m@example.org">m</maintainer><license>Apache-2.0</license>
<export><build_type>ament_python</build_type></export></package>"""


def write_python_package(root: Path, name: str, more: str = "") -> None:
    """A package that builds, unless `more` (in its setup.py) prevents it."""
    folder = root / "src" / name
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "resource").mkdir(exist_ok=True)
    (folder / "resource" / name).touch()
    (folder / name / "__init__.py").touch()
    (folder / "package.xml").write_text(MANIFEST.format(name=name))
    (folder / "setup.py").write_text(SETUP.format(name=name, more=more))


@pytest.mark.slow
def test_a_build_goes_on_where_it_failed(tmp_path: Path) -> None:
    real = ground_at(checkout_root())
    ground = Ground(root=tmp_path, underlay=real.underlay)
    ground.state.mkdir()
    ground.venv.symlink_to(real.venv)
    (tmp_path / "requirements").symlink_to(real.root / "requirements")
    write_python_package(tmp_path, "good")
    write_python_package(tmp_path, "bad", more="raise SystemExit('not yet')")
    stamps = Stamps(ground.state / "stamps")
    with pytest.raises(SetupFailed, match="1 package failed: bad"):
        workspace.build_workspace(ground, stamps, workspace.workspace_key(ground))
    assert "good" in stamps.read(workspace.PHASE) and "bad" not in stamps.read(workspace.PHASE)

    write_python_package(tmp_path, "bad")
    workspace.build_workspace(ground, stamps, workspace.workspace_key(ground))
    log = (ground.logs / "build.log").read_text()
    assert "Finished <<< bad" in log and "Starting >>> good" not in log
