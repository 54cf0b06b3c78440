"""Brings the workspace to the state its sources and locks ask for; does nothing where it is there already.

Exit codes: 0 set up, run the command; 100 the command was `setup` itself, or help, and is done; 2 and 3 as everywhere.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from mnav_cli.bootstrap import packages, workspace
from mnav_cli.bootstrap.environment import write_environment
from mnav_cli.bootstrap.ground import Ground, SetupFailed, ground_at
from mnav_cli.bootstrap.kernels import KERNELS_PHASE, kernels_key, warm_kernels
from mnav_cli.bootstrap.machine import install_system_packages
from mnav_cli.bootstrap.stamps import Stamps
from mnav_cli.registry import COMMANDS, unknown_command

DONE = 100
LOCK_TIMEOUT_S = 1800.0


def set_up(ground: Ground) -> bool:
    """Do the phases whose key changed; whether there was anything to do."""
    stamps = Stamps(ground.state / "stamps")
    worked = False
    key = packages.packages_key(ground)
    if stamps.read(packages.PHASE) != key or not ground.venv_python.exists() or not packages.environment_works(ground):
        install_system_packages(ground)
        packages.install_packages(ground, stamps, key)
        worked = True
    built = workspace.workspace_key(ground)
    if stamps.read(workspace.PHASE) != built or not ground.environment_file.exists():
        workspace.build_workspace(ground, stamps, built)
        write_environment(ground)
        stamps.write(workspace.PHASE, built)
        worked = True
    warm = kernels_key(ground)
    if stamps.read(KERNELS_PHASE) != warm:
        warm_kernels(ground, stamps, warm)
        worked = True
    return worked


def is_current(ground: Ground) -> bool:
    """Whether there is nothing to do, without taking the lock."""
    stamps = Stamps(ground.state / "stamps")
    return (
        stamps.read(packages.PHASE) == packages.packages_key(ground)
        and stamps.read(workspace.PHASE) == workspace.workspace_key(ground)
        and stamps.read(KERNELS_PHASE) == kernels_key(ground)
        and ground.environment_file.exists()
        and packages.environment_works(ground)
    )


def lock_state(ground: Ground) -> int:
    """Wait until no other set-up works in this checkout; the descriptor that holds the lock, in children too."""
    ground.state.mkdir(exist_ok=True)
    descriptor = os.open(ground.state / "lock", os.O_RDWR | os.O_CREAT)
    os.set_inheritable(descriptor, True)
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    said = False
    while time.monotonic() < deadline:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if not said:
                print("mnav: waiting for another set-up of this checkout", file=sys.stderr)
                said = True
            time.sleep(0.2)
    raise SetupFailed(f"another set-up of this checkout did not end within {LOCK_TIMEOUT_S:.0f} s")


def main(arguments: Sequence[str]) -> int:
    """`arguments`: the checkout, then the user's command line."""
    root, *command = arguments
    name = next((word for word in command if not word.startswith("-")), "")
    if name and name not in COMMANDS and name != "setup":
        print(f"mnav: {unknown_command(name)}", file=sys.stderr)
        return 2
    started = time.monotonic()
    if name == "setup" and command != ["setup"]:
        extra = [word for word in command if word != "setup"]
        print(
            "usage: ./mnav setup"
            if extra[0] in ("-h", "--help")
            else f"mnav: setup takes no argument, got {extra[0]!r}",
            file=sys.stderr,
        )
        return DONE if extra[0] in ("-h", "--help") else 2
    ground = ground_at(Path(root))
    # Both end the phase under way and say so; a shell starts background jobs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if not is_current(ground):
            lock_state(ground)
            set_up(ground)
    except SetupFailed as failure:
        print(f"mnav: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print("mnav: set-up interrupted; run the command again to go on", file=sys.stderr)
        return 130
    if name == "setup":
        print(f"mnav: set up ({time.monotonic() - started:.1f} s)", file=sys.stderr)
        return DONE
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
