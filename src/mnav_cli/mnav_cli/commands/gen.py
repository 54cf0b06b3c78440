"""`mnav gen`: a house with pictures and checks, or the episodes of a suite."""

from __future__ import annotations

import argparse
from pathlib import Path

from mnav_cli.commands import multinav_suite, supernav_suite
from mnav_cli.numbers import positive_int, seed


def configure(parser: argparse.ArgumentParser) -> None:
    """`gen house` and `gen navtoobj`."""
    names = "house|navtoobj|multinav|supernav"
    kinds = parser.add_subparsers(dest="kind", required=True, metavar=names, parser_class=type(parser))
    house = kinds.add_parser("house", help="model.xml, plan.png, six room pictures, checks.json")
    house.add_argument("--seed", type=seed, required=True)
    house.add_argument("--robot", default="cobot_magic", help="the robot that must reach every room")
    house.add_argument("--out", type=Path, required=True)
    suite = kinds.add_parser("navtoobj", help="object-goal episodes in houses whose doors are open")
    suite.add_argument("--count", type=positive_int, required=True)
    suite.add_argument("--seed", type=seed, required=True)
    suite.add_argument("--robot", default="cobot_magic")
    suite.add_argument("--workers", type=positive_int, default=2)
    suite.add_argument("--out", type=Path, required=True)
    multinav_suite.configure_gen(kinds)
    supernav_suite.configure_gen(kinds)


def run(args: argparse.Namespace) -> int:
    """Write what was asked for and print what it is."""
    from mnav_cli.graphics import use_backend

    use_backend()
    if args.kind == "supernav":
        return supernav_suite.run_gen(args)
    if args.kind == "multinav":
        return multinav_suite.run_gen(args)
    return _house(args) if args.kind == "house" else _navtoobj(args)


def _house(args: argparse.Namespace) -> int:
    from mnav_core.robot import find_robot
    from mnav_sim_bridge.house.export import write_house

    checks = write_house(args.seed, args.out, find_robot(args.robot))
    for check in checks:
        print(f"{'ok  ' if check.passed else 'FAIL'} {check.name}: {check.value} (bound {check.bound})")
    print(f"house {args.seed} written to {args.out}")
    return 0 if all(check.passed for check in checks) else 1


def _navtoobj(args: argparse.Namespace) -> int:
    from mnav_bench.episodes import write_episodes
    from mnav_bench.navtoobj import difficulty, generate
    from mnav_core.robot import find_robot

    suite = generate(
        args.count,
        args.seed,
        find_robot(args.robot),
        args.workers,
        lambda done: print(f"{done}/{args.count} episodes", flush=True) if done % 10 == 0 else None,
    )
    write_episodes(args.out, suite)
    floor = difficulty(suite)
    for row in floor:
        print(f"{'ok  ' if row.passed else 'FAIL'} {row.name}: {row.measured:g} (floor {row.bound:g})")
    print(f"{len(suite.episodes)} episodes written to {args.out}")
    return 0 if all(row.passed for row in floor) else 1
