"""`mnav bench perf`: what the kernels and the seams cost, beside peers."""

from __future__ import annotations

import argparse
from pathlib import Path

from mnav_cli.numbers import positive_int

SECTIONS = ("insertion", "planning", "rendering", "messages", "growth", "rooms", "memory")


def configure(parser: argparse.ArgumentParser) -> None:
    """Peers, sections, the length of the memory run, and where to write the rows."""
    parser.add_argument("--peers", action="store_true", help="compare with pyoctomap, pyastar2d, scikit-image")
    parser.add_argument("--only", choices=SECTIONS, action="append", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--robot", default="cobot_magic")
    parser.add_argument("--minutes", type=positive_int, default=30, help="robot time of the memory run")
    parser.add_argument("--houses", type=positive_int, default=20, help="houses of the section rooms")
    parser.add_argument("--out", type=Path, default=None, metavar="FILE", help="write the rows as JSON")


def run(args: argparse.Namespace) -> int:
    """Print a row at a time; 0 when all hold, 1 when one does not."""
    from mnav_bench.figures.peers import install_peers
    from mnav_bench.figures.perf import PerfOptions, perf_rows
    from mnav_bench.figures.rows import RowOutcome, row_line, verdict_code, write_rows
    from mnav_cli.checkout import checkout_root
    from mnav_cli.domains import lease_free_domain
    from mnav_cli.graphics import use_backend
    from mnav_cli.process_environment import process_environment
    from mnav_cli.systems import load_system
    from mnav_core.robot import find_robot

    root = checkout_root()
    peers = install_peers(root / "requirements" / "peers.lock", root / ".mnav" / "peers") if args.peers else None
    sections = tuple(args.only or SECTIONS)
    if {"rendering", "rooms"} & set(sections):
        use_backend()
    rows = []
    with lease_free_domain("bench perf") as lease:
        environment = process_environment(load_system("demo"), lease.domain)
        options = PerfOptions(find_robot(args.robot), peers, environment, args.minutes, args.houses, sections)
        for row in perf_rows(options):
            rows.append(row)
            print(row_line(row), flush=True)
    counts = ", ".join(f"{sum(row.outcome is outcome for row in rows)} {outcome.value}" for outcome in RowOutcome)
    print(f"{len(rows)} rows: {counts}")
    if args.out is not None:
        write_rows(args.out, rows, {"robot": args.robot, "peers": args.peers})
        print(f"written to {args.out}")
    return verdict_code(rows)
