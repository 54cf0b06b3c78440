"""System packages: a compiler, CMake, make, and OpenGL without a screen."""

from __future__ import annotations

import ctypes.util
import os
import shutil
from dataclasses import dataclass

from mnav_cli.bootstrap.ground import Ground, SetupFailed
from mnav_cli.bootstrap.progress import PhaseLine


@dataclass(frozen=True)
class SystemNeed:
    """One thing the system must have: any of `programs` on the path, or the shared library `library`."""

    package: str
    programs: tuple[str, ...] = ()
    library: str = ""

    def is_met(self) -> bool:
        """Whether it is there."""
        if self.library:
            return ctypes.util.find_library(self.library) is not None
        return any(shutil.which(program) for program in self.programs)


BUILD_NEEDS = (
    SystemNeed("g++", programs=("c++", "g++", "clang++")),
    SystemNeed("cmake", programs=("cmake",)),
    SystemNeed("make", programs=("make",)),
)
# EGL (with Mesa's drivers where there is no GPU) renders the simulated cameras; OSMesa is the fallback.
RENDER_NEEDS = (
    SystemNeed("libegl1", library="EGL"),
    SystemNeed("libgl1", library="GL"),
    SystemNeed("libgl1-mesa-dri", library="gbm"),
    SystemNeed("libosmesa6", library="OSMesa"),
)


def missing_packages(needs: tuple[SystemNeed, ...]) -> list[str]:
    """Debian names of what is missing."""
    return [need.package for need in needs if not need.is_met()]


def install_system_packages(ground: Ground) -> None:
    """Install what is missing as root on Debian or Ubuntu; elsewhere raise SetupFailed with the exact command.

    Only the build tools are required: without OpenGL a robot works, and the simulator says so when it starts.
    """
    missing = missing_packages(BUILD_NEEDS + RENDER_NEEDS)
    if not missing:
        return
    required = missing_packages(BUILD_NEEDS)
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        if required:
            raise SetupFailed(
                f"missing: {', '.join(required)}; run: sudo apt-get update && sudo {' '.join(install)}", code=2
            )
        return
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        with PhaseLine(f"system packages ({' '.join(missing)})", ground.logs / "system.log") as phase:
            phase.run(["apt-get", "update"], env, ground.root, code=2)
            phase.run(install, env, ground.root, code=2)
    except SetupFailed:
        if required:
            raise
