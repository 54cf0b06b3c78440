"""The colcon workspace: which packages changed, and building them."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from mnav_cli.bootstrap.environment import underlay_environment
from mnav_cli.bootstrap.ground import Ground, SetupFailed
from mnav_cli.bootstrap.packages import packages_key
from mnav_cli.bootstrap.progress import PhaseLine
from mnav_cli.bootstrap.stamps import Stamps, hash_of

PHASE = "build"
# Stamped when the environment of the built workspace has been written.
ENVIRONMENT_FILE = "/environment_file"
IGNORED_FOLDERS = frozenset({"__pycache__", "test", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache"})
# With symlinked installs, the content of other files needs no build; a new file does, for it needs its link.
BUILD_FILES = frozenset({"package.xml", "CMakeLists.txt", "setup.py", "setup.cfg"})
INTERFACE_SUFFIXES = frozenset({".msg", ".srv", ".action"})


@dataclass(frozen=True)
class SourcePackage:
    """One package of the workspace."""

    name: str
    path: Path

    @property
    def is_cmake(self) -> bool:
        """Whether CMake builds it (interface packages)."""
        return (self.path / "CMakeLists.txt").exists()

    def dependencies(self) -> set[str]:
        """Names of the packages its manifest depends on."""
        return set(re.findall(r"<\w*depend>\s*([A-Za-z0-9_]+)\s*<", (self.path / "package.xml").read_text()))

    def key(self) -> str:
        """A hash of what a build of this package depends on."""
        parts: list[bytes | str] = []
        for folder, folders, files in os.walk(self.path):
            folders[:] = sorted(
                name for name in folders if name not in IGNORED_FOLDERS and not name.endswith(".egg-info")
            )
            for name in sorted(files):
                path = Path(folder, name)
                read = name in BUILD_FILES or path.suffix in INTERFACE_SUFFIXES
                if read or path.suffix not in (".py", ".pyc", ".new"):
                    parts.append(str(path.relative_to(self.path)))
                if read:
                    parts.append(path.read_bytes())
        return hash_of(parts)


def source_packages(ground: Ground) -> list[SourcePackage]:
    """The packages to build: the project's, and those of compat/ that the underlay lacks."""
    found = [path.parent for path in sorted(ground.root.glob("src/*/package.xml"))]
    if (ground.root / "launch" / "package.xml").exists():
        found.append(ground.root / "launch")
    for path in sorted(ground.root.glob("compat/*/package.xml")):
        if not (ground.ros_prefix / "share" / path.parent.name / "package.xml").exists():
            found.append(path.parent)
    return [SourcePackage(_name_in(path / "package.xml"), path) for path in found]


def _name_in(manifest: Path) -> str:
    match = re.search(r"<name>\s*([A-Za-z0-9_]+)\s*</name>", manifest.read_text())
    if match is None:
        raise SetupFailed(f"{manifest} has no <name>", code=2)
    return match.group(1)


def workspace_key(ground: Ground) -> dict[str, str]:
    """The key of each package, and of the environment they are built in."""
    keys = {package.name: package.key() for package in source_packages(ground)}
    environment = packages_key(ground)
    keys["/environment"] = hash_of(f"{name}={environment[name]}" for name in sorted(environment))
    keys[ENVIRONMENT_FILE] = hash_of([str(ground.environment_file)])
    return keys


def build_workspace(ground: Ground, stamps: Stamps, key: dict[str, str]) -> None:
    """Build what changed since it was last built. Raises SetupFailed, with the log's end, if a package fails."""
    done = stamps.read(PHASE)
    packages = source_packages(ground)
    removed = set(done) - set(key)
    if done.get("/environment") != key["/environment"] or removed:
        done = {}
        for folder in ("build", "install"):
            shutil.rmtree(ground.state / folder, ignore_errors=True)
    changed = [package for package in packages if done.get(package.name) != key[package.name]]
    changed_interfaces = {package.name for package in changed if package.is_cmake}
    # Interface packages include the generated code of those they depend on.
    changed = [
        package
        for package in packages
        if package in changed or (package.is_cmake and package.dependencies() & changed_interfaces)
    ]
    names = [package.name for package in changed]
    # What is built is stamped at once: an interrupted build goes on with the rest.
    built = {name: value for name, value in key.items() if name not in (*names, ENVIRONMENT_FILE)}
    stamps.write(PHASE, built)
    if not names:
        return

    def fraction(line: str) -> float | None:
        match = re.match(r"Finished <<< (\S+)", line)
        if match is None:
            return None
        built[match.group(1)] = key[match.group(1)]
        stamps.write(PHASE, built)
        return 1.0 - sum(name not in built for name in names) / len(names)

    command: list[str | Path] = [
        ground.venv_python,
        "-m",
        "colcon",
        "--log-base",
        ground.logs / "colcon",
        "build",
        "--merge-install",
        "--symlink-install",
        "--base-paths",
        *(package.path for package in packages),
        "--packages-select",
        *names,
        "--build-base",
        ground.state / "build",
        "--install-base",
        ground.install,
        "--continue-on-error",
        "--event-handlers",
        "console_start_end+",
        "console_cohesion+",
        "--cmake-args",
        "-DBUILD_TESTING=OFF",
        "-DCMAKE_BUILD_TYPE=Release",
        # Generated conversions gain nothing measurable from more, and take a tenth longer to compile.
        "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
        f"-DPython3_EXECUTABLE={ground.venv_python}",
        "--no-warn-unused-cli",
    ]
    env = {**underlay_environment(ground), "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1)}
    env["MAKEFLAGS"] = f"-j{os.cpu_count() or 1}"
    with PhaseLine(f"building {len(changed)} packages", ground.logs / "build.log") as phase:
        phase.run(command, env, ground.root, fraction)
