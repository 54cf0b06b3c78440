"""What a result rests on: versions, seeds, thresholds, hashes."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("mujoco", "numpy", "scipy", "numba", "opencv-python-headless", "embreex", "pydantic")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a score depends on; "absent" where one is not installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "absent"
    return found


def file_hash(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def source_hash() -> str:
    """SHA-256 over the project's own Python sources, so that two results can be told to come from the same code."""
    digest = hashlib.sha256()
    source = Path(__file__).resolve().parents[2]
    for file in sorted(source.glob("mnav_*/mnav_*/**/*.py")):
        digest.update(file.relative_to(source).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def manifest(episodes: Path, agent: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The manifest of one evaluation."""
    return {
        "agent": agent,
        "episode_file_sha256": file_hash(episodes),
        "source_sha256": source_hash(),
        "versions": versions(),
        "platform": platform.platform(),
        **settings,
    }
