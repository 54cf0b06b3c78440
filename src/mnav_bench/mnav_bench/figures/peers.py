"""Other people's packages in an environment of their own, each job in a child process with one thread."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnav_core.errors import UsageError

JOB_LIMIT_S = 1800.0
INSTALL_LIMIT_S = 900.0
ONE_THREAD = {
    name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
}


@dataclass(frozen=True)
class Peers:
    """The interpreter of the peers' environment."""

    python: Path

    def run(self, job: str, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Arrays out of one job of `peer_process`. Raises RuntimeError with its last words when it fails."""
        with tempfile.TemporaryDirectory() as name:
            source, target = Path(name) / "in.npz", Path(name) / "out.npz"
            np.savez(source, **inputs)
            script = Path(__file__).with_name("peer_process.py")
            environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | ONE_THREAD
            done = subprocess.run(
                [self.python, script, job, source, target],
                env=environment,
                capture_output=True,
                text=True,
                timeout=JOB_LIMIT_S,
                check=False,
            )
            if done.returncode != 0:
                raise RuntimeError(f"peer job {job!r} failed: {' '.join(done.stderr.split())[-300:]}")
            with np.load(target, allow_pickle=False) as data:
                return {key: data[key] for key in data.files}


def install_peers(lock: Path, folder: Path) -> Peers:
    """The environment `folder` with exactly what `lock` pins, made anew when either changed. Raises UsageError."""
    if not lock.is_file():
        raise UsageError(f"peers: {lock} is missing, allowed: the lock of the checkout")
    key = hashlib.sha256(f"{sys.version}\n{folder}\n".encode() + lock.read_bytes()).hexdigest()
    stamp, python = folder / "peers.stamp", folder / "bin" / "python"
    if stamp.is_file() and stamp.read_text() == key and python.exists():
        return Peers(python)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(folder)])
    options = ["--no-deps", "--require-hashes", "--no-input", "--progress-bar", "off", "--disable-pip-version-check"]
    _run([str(python), "-m", "pip", "install", *options, "-r", str(lock)])
    stamp.write_text(key)
    return Peers(python)


def _run(command: list[str]) -> None:
    # What the caller's environment says of Python and ROS must not leak into this one.
    foreign = ("PYTHON", "VIRTUAL_ENV", "AMENT_", "COLCON_", "LD_LIBRARY_PATH")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"peers: {' '.join(str(error).split())[:300]}") from error
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())[-300:]
        raise UsageError(f"peers: {' '.join(command[1:4])} failed: {said}")
