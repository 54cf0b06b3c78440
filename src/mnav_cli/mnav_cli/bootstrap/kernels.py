"""Compiles the numeric kernels once, so that the first command does not wait for them."""

from __future__ import annotations

from mnav_cli.bootstrap.ground import Ground
from mnav_cli.bootstrap.packages import packages_key, plain_environment
from mnav_cli.bootstrap.progress import PhaseLine
from mnav_cli.bootstrap.stamps import Stamps, hash_of

KERNELS_PHASE = "kernels"


def kernels_key(ground: Ground) -> dict[str, str]:
    """A hash of every module that compiles kernels, and of the environment."""
    parts: list[bytes | str] = []
    for path in sorted(ground.root.glob("src/*/mnav_*/**/*.py")):
        content = path.read_bytes()
        if b"numba" in content:
            parts += [str(path.relative_to(ground.root)), content]
    return {"sources": hash_of(parts), "packages": packages_key(ground)["locks"]}


def warm_kernels(ground: Ground, stamps: Stamps, key: dict[str, str]) -> None:
    """Run `mnav warm` in the environment of the workspace. Raises SetupFailed if it fails."""
    script = f'. "{ground.environment_file}"; exec "{ground.venv_python}" -m mnav_cli warm'
    with PhaseLine("compiling kernels", ground.logs / "kernels.log") as phase:
        phase.run(["/bin/sh", "-c", script], plain_environment(), ground.root)
    stamps.write(KERNELS_PHASE, key)
