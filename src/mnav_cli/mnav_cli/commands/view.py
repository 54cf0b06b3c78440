"""`mnav view`: a recorded run in the Rerun viewer."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """RUN [--out FILE] [--no-open]."""
    parser.add_argument("run", type=Path, metavar="RUN", help="a folder that bench supernav --record made")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the recording (default RUN/run.rrd)")
    parser.add_argument("--no-open", action="store_true", help="only write the recording")


def run(args: argparse.Namespace) -> int:
    """Write the recording and open it."""
    from mnav_bench.supernav.rerun_view import to_rerun
    from mnav_core.errors import UsageError

    out = args.out or args.run / "run.rrd"
    steps = to_rerun(args.run, out)
    print(f"{steps} steps written to {out}", flush=True)
    if args.no_open:
        return 0
    try:
        return subprocess.run(["rerun", str(out)], check=False).returncode
    except OSError as error:
        raise UsageError(f"viewer rerun: {error.strerror or error}; open {out} where it is installed") from error
