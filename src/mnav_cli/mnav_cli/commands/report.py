"""`mnav report`: tables with intervals from benchmark results."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """The result folders, side by side."""
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="folders written by bench, of one suite")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also one page with plots and every episode")


def run(args: argparse.Namespace) -> int:
    """Print tables; with two or more folders of the same episodes also paired differences to the first one."""
    from mnav_bench.reports.page import page
    from mnav_bench.reports.results import read_results
    from mnav_bench.reports.text import report
    from mnav_core.errors import UsageError

    results = read_results(args.folders)
    print(report(results))
    if args.html is not None:
        try:
            args.html.parent.mkdir(parents=True, exist_ok=True)
            args.html.write_text(page(results))
        except OSError as error:
            allowed = "a file that can be written"
            raise UsageError(f"html = {args.html}: {error.strerror or error}, allowed: {allowed}") from error
        print(f"page written to {args.html}")
    return 0
