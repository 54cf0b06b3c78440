"""`mnav gen multinav` and `mnav bench multinav`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from mnav_cli.numbers import positive_int, seed


def configure_gen(kinds: Any) -> None:
    """`gen multinav`."""
    suite = kinds.add_parser("multinav", help="episodes whose doors and containers matter")
    suite.add_argument("--domain", choices=("channel", "container", "mixed", "all"), required=True)
    suite.add_argument("--count", type=positive_int, required=True)
    suite.add_argument("--seed", type=seed, required=True)
    suite.add_argument(
        "--task-form",
        choices=("objectgoal", "pointgoal", "instructiongoal"),
        default="objectgoal",
        help="what is asked",
    )
    suite.add_argument("--split", choices=("train", "val"), default="val", help="houses never coincide between the two")
    suite.add_argument("--robot", default="cobot_magic")
    suite.add_argument("--workers", type=positive_int, default=2)
    suite.add_argument("--out", type=Path, required=True)


def run_gen(args: argparse.Namespace) -> int:
    """Write the episodes and print what they are, and the floor on their difficulty."""
    from mnav_bench.multinav.episode_files import write_multinav
    from mnav_bench.multinav.generation import composition, difficulty, generate
    from mnav_core.robot import find_robot

    suite = generate(
        args.domain,
        args.count,
        args.seed,
        find_robot(args.robot),
        args.task_form,
        args.split,
        args.workers,
        lambda done: print(f"{done}/{args.count} episodes", flush=True),
    )
    write_multinav(args.out, suite)
    print(composition(suite))
    floor = difficulty(suite)
    for row in floor:
        print(f"{'ok  ' if row.passed else 'FAIL'} {row.name}: {row.measured:g} (floor {row.bound:g})")
    print(f"{len(suite.episodes)} episodes written to {args.out}")
    return 0 if all(row.passed for row in floor) else 1


def configure_bench(suites: Any) -> None:
    """`bench multinav`."""
    suite = suites.add_parser("multinav", help="object-goal navigation where doors and containers may be closed")
    suite.add_argument("--episodes", type=Path, required=True)
    suite.add_argument(
        "--agent",
        required=True,
        help="multinav, moma_llm, multinav-flat, multinav-greedy, multinav-perception_only, frontier or oracle",
    )
    suite.add_argument("--model", default="builtin", help="the chooser: builtin, URL#NAME or replay:FILE")
    suite.add_argument("--workers", type=positive_int, default=1)
    suite.add_argument("--isolate", action="store_true", help="each mind in a child process that gets records only")
    suite.add_argument("--out", type=Path, required=True)


def run_bench(args: argparse.Namespace) -> int:
    """Run the episodes and print the summary."""
    from mnav_bench.multinav.running import MultiNavOptions
    from mnav_bench.multinav.suite import bench
    from mnav_models.open_model import open_model

    model = open_model(args.model)
    if model is not None:
        model.close()
    options = MultiNavOptions(args.agent, args.model, args.isolate)
    summary = bench(args.episodes, options, args.workers, args.out, _show)
    print(json.dumps({key: value for key, value in summary.items() if key != "manifest"}, indent=1))
    print(f"written to {args.out / 'summary.json'} and {args.out / 'episodes.jsonl'}")
    return 0


def _show(done: int, n: int, row: dict[str, Any]) -> None:
    verdict = "success" if row["success"] else f"failed ({row['failure']})"
    scores = row["score"]
    print(
        f"[{done}/{n}] {row['id']} {row['category']}, {row['recipe']}: {verdict}, SPL {row['spl']:.2f},"
        f" {row['path_m']:.1f} m (reference {row['reference_m']:.1f} m), {scores['attempts']} attempts,"
        f" {scores['errors']} of them in vain, {row['sim_s'] or 0:.0f} s simulated, {row['wall_s'] or 0:.0f} s",
        flush=True,
    )
