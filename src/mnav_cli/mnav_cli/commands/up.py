"""`mnav up`: start a system and keep it running until Ctrl-C or `mnav down`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from types import FrameType

from mnav_cli.checkout import checkout_root
from mnav_cli.domains import lease_domain, lease_free_domain
from mnav_cli.supervisor import SUPERVISOR, Supervisor, SystemOutcome
from mnav_cli.systems import load_system, parse_overrides, system_names, systems_folder
from mnav_cli.terminal_log import TerminalLog

POLL_S = 0.05


def configure(parser: argparse.ArgumentParser) -> None:
    """SYSTEM [key:=value ...] [--domain N]."""
    names = ", ".join(system_names(systems_folder()))
    parser.add_argument("system", metavar="SYSTEM", help=f"a file, or one of: {names}")
    parser.add_argument("overrides", metavar="key:=value", nargs="*", default=[], help="arguments of the system file")
    parser.add_argument("--domain", type=int, metavar="N", help="ROS domain (default: a free one)")


class Interrupt:
    """Whether SIGINT, SIGTERM or SIGHUP came."""

    def __init__(self) -> None:
        self.came = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Signal handler."""
        self.came = True


def run(args: argparse.Namespace) -> int:
    """Supervise in the foreground; 0 when it was asked to end, else how the system ended."""
    system = load_system(args.system, parse_overrides(args.overrides))
    lease = lease_domain(args.domain) if args.domain is not None else lease_free_domain(str(checkout_root()))
    interrupt = Interrupt()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt.note)
    log = TerminalLog([SUPERVISOR, *(process.name for process in system.processes)])
    with lease, Supervisor(system, lease.domain, log.write) as supervisor:
        log.write(SUPERVISOR, f"system {system.name!r} in ROS domain {lease.domain}; Ctrl-C ends it")
        while not interrupt.came:
            outcome = supervisor.poll()
            if outcome is not SystemOutcome.RUNNING:
                print(f"mnav: system {system.name!r} {outcome.name.lower()}", file=sys.stderr)
                return int(outcome.value or 0)
            time.sleep(POLL_S)
        log.write(SUPERVISOR, "ending")
    return 0
