"""`mnav report`: tables with intervals from benchmark results."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """The result folders, side by side."""
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="folders written by bench")


def run(args: argparse.Namespace) -> int:
    """Print one table; with two or more folders of the same episodes also paired differences."""
    from mnav_bench.report import report

    print(report(args.folders))
    return 0
