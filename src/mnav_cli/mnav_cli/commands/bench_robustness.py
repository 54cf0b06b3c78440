"""`mnav bench robustness`: what breaks nothing: cancels, faults, kills, full disks, resets."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mnav_cli.numbers import positive_int

if TYPE_CHECKING:
    from mnav_bench.figures.rows import FigureRow

SECTIONS = ("motions", "inputs", "processes", "disk", "resets")
# ROS nodes of these run in this process.
IN_PROCESS = ("motions", "inputs")


def configure(parser: argparse.ArgumentParser) -> None:
    """Sections, how often each ending is tried, and where to write the rows."""
    parser.add_argument("--only", choices=SECTIONS, action="append", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--robot", default="cobot_magic", help="robot of the sections processes, disk, resets")
    parser.add_argument("--repeats", type=positive_int, default=50, help="cancels, newer goals, stops, resets")
    parser.add_argument("--out", type=Path, default=None, metavar="FILE", help="write the rows as JSON")


def run(args: argparse.Namespace) -> int:
    """Print a row at a time; 0 when all hold, 1 when one does not."""
    from mnav_bench.figures.rows import RowOutcome, row_line, verdict_code, write_rows
    from mnav_cli.domains import lease_free_domain
    from mnav_cli.graphics import use_backend
    from mnav_cli.process_environment import process_environment
    from mnav_cli.systems import load_system

    use_backend()
    rows = []
    for section in args.only or SECTIONS:
        with lease_free_domain(f"bench robustness {os.getpid()}") as lease:
            if section in IN_PROCESS:
                os.environ.update(process_environment(load_system("demo"), lease.domain))
            for row in _rows(section, args):
                rows.append(row)
                print(row_line(row), flush=True)
    counts = ", ".join(f"{sum(row.outcome is outcome for row in rows)} {outcome.value}" for outcome in RowOutcome)
    print(f"{len(rows)} rows: {counts}")
    if args.out is not None:
        write_rows(args.out, rows, {"robot": args.robot, "repeats": args.repeats})
        print(f"written to {args.out}")
    return verdict_code(rows)


def _rows(section: str, args: argparse.Namespace) -> Iterator[FigureRow]:
    from mnav_core.robot import find_robot

    if section == "motions":
        from mnav_bench.robustness.motions import motion_rows

        yield from motion_rows(args.repeats)
    elif section == "inputs":
        from mnav_bench.robustness.inputs import input_rows

        yield from input_rows()
    elif section == "processes":
        from mnav_cli.process_faults import process_rows

        yield from process_rows(find_robot(args.robot))
    elif section == "disk":
        from mnav_bench.robustness.full_disk import disk_rows

        yield from disk_rows(find_robot(args.robot))
    else:
        from mnav_bench.robustness.resets import reset_rows

        yield from reset_rows(find_robot(args.robot), args.repeats)
