"""`mnav down`: stop running systems of this checkout."""

from __future__ import annotations

import argparse
import os
import signal
import time

from mnav_cli.checkout import checkout_root
from mnav_cli.run_files import RunningSystem, running_systems
from mnav_core.errors import UsageError

TIMEOUT_S = 6.0
EXIT_NOT_ENDED = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """[SYSTEM] [--domain N]."""
    parser.add_argument("system", metavar="SYSTEM", nargs="?", help="default: every running system of this checkout")
    parser.add_argument("--domain", type=int, metavar="N", help="only the one in this ROS domain")


def selected(running: list[RunningSystem], system: str | None, domain: int | None) -> list[RunningSystem]:
    """The systems asked for. Raises UsageError if one was named and is not running."""
    chosen = [item for item in running if system in (None, item.system) and domain in (None, item.domain)]
    if not chosen and (system is not None or domain is not None):
        what = " ".join(
            filter(None, [repr(system) if system else "", f"in domain {domain}" if domain is not None else ""])
        )
        names = ", ".join(f"{item.system} (domain {item.domain})" for item in running)
        raise UsageError(f"no running system {what}; running: {names or 'none'}")
    return chosen


def run(args: argparse.Namespace) -> int:
    """Ask each supervisor to end and wait until it has."""
    chosen = selected(running_systems(checkout_root() / ".mnav" / "run"), args.system, args.domain)
    for item in chosen:
        os.kill(item.pid, signal.SIGTERM)
    deadline = time.monotonic() + TIMEOUT_S
    left = chosen
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = [item for item in left if item.is_alive()]
    for item in chosen:
        print(f"{item.system} (domain {item.domain}): {'still running' if item in left else 'stopped'}")
    if not chosen:
        print("nothing is running")
    return EXIT_NOT_ENDED if left else 0
