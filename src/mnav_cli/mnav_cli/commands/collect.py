"""`mnav collect`: full trajectory records of a suite."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """`collect multinav`."""
    suites = parser.add_subparsers(dest="suite", required=True, metavar="multinav", parser_class=type(parser))
    suite = suites.add_parser("multinav", help="HDF5 files and a LeRobot dataset of rollouts")
    suite.add_argument("--episodes", type=Path, required=True)
    suite.add_argument("--agent", default="oracle", help="who drives: oracle (default), or an agent of the suite")
    suite.add_argument("--with-failures", action="store_true", help="keep rollouts that do not reach the goal too")
    suite.add_argument("--out", type=Path, required=True)


def run(args: argparse.Namespace) -> int:
    """Run and record; 0 when something was kept, 1 when nothing was."""
    from mnav_cli.graphics import use_backend

    use_backend()
    from mnav_bench.collection.collecting import collect
    from mnav_bench.collection.records import Trajectory

    def show(done: int, n: int, trajectory: Trajectory) -> None:
        verdict = "success" if trajectory.success else f"failed ({trajectory.row['outcome']})"
        print(f"[{done}/{n}] {trajectory.episode_id}: {verdict}, {len(trajectory.frames)} frames", flush=True)

    kept, count = collect(args.episodes, args.agent, args.out, args.with_failures, show)
    print(f"{kept} of {count} rollouts written to {args.out}: hdf5, lerobot")
    return 0 if kept else 1
