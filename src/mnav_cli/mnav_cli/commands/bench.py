"""`mnav bench`: run a suite and score it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mnav_cli.commands import bench_data, bench_perf, bench_robustness, supernav_suite
from mnav_cli.numbers import positive_int


def configure(parser: argparse.ArgumentParser) -> None:
    """The suites, and the figures."""
    names = "navtoobj|supernav|perf|data|robustness"
    suites = parser.add_subparsers(dest="suite", required=True, metavar=names, parser_class=type(parser))
    suite = suites.add_parser("navtoobj", help="object-goal navigation in houses whose doors are open")
    suite.add_argument("--episodes", type=Path, required=True)
    suite.add_argument("--agent", required=True, help="frontier, random-frontier or oracle")
    suite.add_argument("--workers", type=positive_int, default=1)
    suite.add_argument("--ros", action="store_true", help="through the ROS graph, in lockstep")
    suite.add_argument("--isolate", action="store_true", help="each mind in a child process that gets records only")
    suite.add_argument("--profile", default="clean", help="sensors and wheels: clean (default) or realistic")
    suite.add_argument("--out", type=Path, required=True)
    supernav_suite.configure_bench(suites)
    bench_perf.configure(suites.add_parser("perf", help="times and qualities of the kernels, beside peers"))
    bench_data.configure(suites.add_parser("data", help="maps, RGB-D folders, clouds, models made by others"))
    bench_robustness.configure(suites.add_parser("robustness", help="changed minds, dead inputs, killed processes"))


def run(args: argparse.Namespace) -> int:
    """Run the episodes and print the summary, or print the rows of figures."""
    figures = {"perf": bench_perf, "data": bench_data, "robustness": bench_robustness}
    if args.suite in figures:
        return int(figures[args.suite].run(args))
    from mnav_cli.graphics import use_backend

    use_backend()
    if args.suite == "supernav":
        return supernav_suite.run_bench(args)
    from mnav_bench.evaluate import RunOptions
    from mnav_bench.sweep import bench, run_all

    rows: Callable[..., Iterator[dict[str, Any]]] = run_all
    if args.ros:
        from mnav_cli.ros_sweep import run_all_over_ros

        rows = run_all_over_ros
    options = RunOptions(args.agent, args.isolate, args.profile)
    summary = bench(args.episodes, options, args.workers, args.out, _show, rows)
    print(json.dumps({key: value for key, value in summary.items() if key != "manifest"}, indent=1))
    print(f"written to {args.out / 'summary.json'} and {args.out / 'episodes.jsonl'}")
    return 0


def _show(done: int, n: int, row: dict[str, Any]) -> None:
    verdict = "success" if row["success"] else f"failed ({row['failure']})"
    print(
        f"[{done}/{n}] {row['id']} {row['category']}: {verdict}, SPL {row['spl']:.2f}, {row['path_m']:.1f} m"
        f" (reference {row['reference_m']:.1f} m), {row['sim_s'] or 0:.0f} s simulated, {row['wall_s'] or 0:.0f} s",
        flush=True,
    )
