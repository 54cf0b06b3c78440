"""The Python environment: venv, hash-pinned packages, and the wheels made into a ROS prefix."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mnav_cli.bootstrap.ground import Ground
from mnav_cli.bootstrap.progress import PhaseLine
from mnav_cli.bootstrap.stamps import Stamps, hash_of

PHASE = "packages"
PIN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*==", re.MULTILINE)


def packages_key(ground: Ground) -> dict[str, str]:
    """What the environment depends on: the locks, this Python, the underlay, and where the checkout lies."""
    parts = [lock.read_bytes() for lock in ground.locks()]
    return {
        "locks": hash_of(parts),
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}.{sys.version_info[2]} {sys.executable}",
        "prefix": str(ground.venv),
        "underlay": str(ground.underlay or "wheels"),
    }


def install_packages(ground: Ground, stamps: Stamps, key: dict[str, str]) -> None:
    """Make the environment hold exactly the pinned versions. An environment left half-made is made again."""
    done = stamps.read(PHASE)
    unfinished = ground.venv / "unfinished"
    same_base = all(done.get(name) == key[name] for name in ("python", "prefix", "underlay"))
    keep = same_base and ground.venv_python.exists() and not unfinished.exists()
    stamps.clear(PHASE)
    with PhaseLine("python packages", ground.logs / "packages.log") as phase:
        if not keep:
            shutil.rmtree(ground.venv, ignore_errors=True)
            options = ["--system-site-packages"] if ground.underlay else []
            phase.run([sys.executable, "-m", "venv", *options, ground.venv], plain_environment(), ground.root)
        unfinished.touch()
        _pip_install(ground, phase)
        if ground.underlay is None:
            phase.run(
                [ground.venv_python, Path(__file__).with_name("wheel_prefix.py")], plain_environment(), ground.root
            )
        unfinished.unlink()
    stamps.write(PHASE, key)


def plain_environment() -> dict[str, str]:
    """The caller's environment without what would leak another Python or ROS into ours."""
    foreign = ("PYTHON", "AMENT_", "COLCON_", "CMAKE_PREFIX_PATH", "ROS_", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "_ROS_")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}


def _pip_install(ground: Ground, phase: PhaseLine) -> None:
    locks = ground.locks()
    expected = len({pin for lock in locks for pin in PIN.findall(lock.read_text())})
    collected = 0

    def fraction(line: str) -> float | None:
        nonlocal collected
        if line.startswith(("Collecting", "Requirement already satisfied")):
            collected += 1
            return 0.7 * collected / expected
        return 0.75 if line.startswith("Installing collected") else None

    # The locks are complete, so pip need not resolve anything; and pinned setuptools builds what comes as sources.
    pip: list[str | Path] = [ground.venv_python, "-m", "pip", "install", "--no-deps", "--require-hashes", "--no-input"]
    pip += ["--disable-pip-version-check", "--progress-bar", "off"]
    phase.run([*pip, "-r", ground.root / "requirements" / "build.lock"], plain_environment(), ground.root)
    pip += ["--no-build-isolation", "--use-pep517"]
    for lock in locks:
        pip += ["-r", lock]
    phase.run(pip, plain_environment(), ground.root, fraction)


def environment_works(ground: Ground) -> bool:
    """Whether the environment's Python still runs (its base may have been removed)."""
    try:
        return subprocess.run([ground.venv_python, "-S", "-c", ""], timeout=20, check=False).returncode == 0
    except OSError:
        return False
