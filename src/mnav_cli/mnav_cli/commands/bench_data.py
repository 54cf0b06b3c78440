"""`mnav bench data`: load and run what others made: maps, RGB-D folders, point clouds, models."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """The folder, the robot whose footprint plans on the maps, and where to write the rows."""
    parser.add_argument("--dir", type=Path, required=True, metavar="D", help="folder; everything below it is tried")
    parser.add_argument("--robot", default="cobot_magic", help="whose footprint plans on the maps")
    parser.add_argument("--out", type=Path, default=None, metavar="FILE", help="write the rows as JSON")


def run(args: argparse.Namespace) -> int:
    """Print a row at a time; 0 when all hold, 1 when one does not, 2 when a file could not be read."""
    from mnav_bench.figures.rows import RowOutcome, row_line, verdict_code, write_rows
    from mnav_bench.foreign.run import run_data
    from mnav_core.robot import find_robot

    rows = run_data(args.dir, find_robot(args.robot), lambda row: print(row_line(row), flush=True))
    counts = ", ".join(f"{sum(row.outcome is outcome for row in rows)} {outcome.value}" for outcome in RowOutcome)
    print(f"{len(rows)} rows: {counts}")
    if args.out is not None:
        write_rows(args.out, rows, {"folder": str(args.dir), "robot": args.robot})
        print(f"written to {args.out}")
    return verdict_code(rows)
