"""`mnav up`: start a system and keep it running until Ctrl-C or `mnav down`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from types import FrameType

from mnav_cli.checkout import checkout_root
from mnav_cli.domains import DomainLease, join_domain, lease_domain, lease_free_domain
from mnav_cli.run_files import running_systems
from mnav_cli.supervisor import SUPERVISOR, Supervisor, SystemOutcome, run_key
from mnav_cli.systems import SystemDescription, load_system, parse_overrides, system_names, systems_folder
from mnav_cli.terminal_log import TerminalLog
from mnav_core.errors import UsageError

POLL_S = 0.05


def configure(parser: argparse.ArgumentParser) -> None:
    """SYSTEM [key:=value ...] [--domain N [--join]]."""
    names = ", ".join(system_names(systems_folder()))
    parser.add_argument("system", metavar="SYSTEM", help=f"a file, or one of: {names}")
    parser.add_argument("overrides", metavar="key:=value", nargs="*", default=[], help="arguments of the system file")
    parser.add_argument("--domain", type=int, metavar="N", help="ROS domain (default: a free one)")
    parser.add_argument(
        "--join", action="store_true", help="share the domain with what already runs there, as robots of one fleet do"
    )


class Interrupt:
    """Whether SIGINT, SIGTERM or SIGHUP came."""

    def __init__(self) -> None:
        self.came = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Signal handler."""
        self.came = True


def lease_for(args: argparse.Namespace, system: SystemDescription) -> DomainLease:
    """The domain of a system. Raises UsageError when it cannot be had, or be joined."""
    if not args.join:
        return lease_domain(args.domain) if args.domain is not None else lease_free_domain(str(checkout_root()))
    if args.domain is None:
        raise UsageError("--join needs --domain N: the one in which the others run")
    folder = checkout_root() / ".mnav" / "run"
    running_systems(folder)  # removes what others left behind
    if (folder / f"{run_key(system, args.domain)}.json").exists():
        raise UsageError(
            f"system {system.name!r} already runs in domain {args.domain} with that namespace; give another"
            " namespace:=NAME"
        )
    return join_domain(args.domain)


def run(args: argparse.Namespace) -> int:
    """Supervise in the foreground; 0 when it was asked to end, else how the system ended."""
    system = load_system(args.system, parse_overrides(args.overrides))
    lease = lease_for(args, system)
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
