"""`mnav gen supernav` and `mnav bench supernav`."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

from mnav_cli.numbers import positive_int, seed


def configure_gen(kinds: Any) -> None:
    """`gen supernav`."""
    suite = kinds.add_parser("supernav", help="tasks with one goal, several in order, or needs")
    suite.add_argument("--kind", dest="task_kind", choices=("single", "multi", "demand"), required=True)
    suite.add_argument("--count", type=positive_int, required=True)
    suite.add_argument("--seed", type=seed, required=True)
    suite.add_argument("--robot", default="cobot_magic")
    suite.add_argument("--workers", type=positive_int, default=2)
    suite.add_argument("--out", type=Path, required=True)


def run_gen(args: argparse.Namespace) -> int:
    """Write the tasks and print what they are."""
    from statistics import fmean, median

    from mnav_bench.supernav.generation import generate
    from mnav_bench.supernav.task_files import write_tasks
    from mnav_core.robot import find_robot

    suite = generate(
        args.task_kind,
        args.count,
        args.seed,
        find_robot(args.robot),
        args.workers,
        lambda done: print(f"{done}/{args.count} tasks", flush=True) if done % 10 == 0 else None,
    )
    write_tasks(args.out, suite)
    lengths = [task.reference_m for task in suite.episodes]
    goals = fmean([len(task.goals) for task in suite.episodes])
    rooms = fmean([task.house_rooms for task in suite.episodes])
    print(f"{len(lengths)} {args.task_kind} tasks written to {args.out}: {goals:.1f} goals, {rooms:.1f} rooms a house")
    print(f"reference: shortest {min(lengths):.1f} m, median {median(lengths):.1f} m, longest {max(lengths):.1f} m")
    return 0


def configure_bench(suites: Any) -> None:
    """`bench supernav`."""
    suite = suites.add_parser("supernav", help="an agent that drives by tools over labelled images")
    suite.add_argument("--episodes", type=Path, required=True)
    suite.add_argument("--model", default="builtin", help="builtin, URL#NAME or replay:FILE")
    suite.add_argument("--variant", default="paper", help="paper, ovon-0.25, ovon-1, apexnav, wmnav, msgnav or mtu3d")
    suite.add_argument(
        "--configuration",
        choices=("full", "front_only", "no_skills", "grounding"),
        default="full",
        help="tools and skills",
    )
    suite.add_argument("--program", metavar="COMMAND", help="an agent program as the mind; {prompt} is filled in")
    suite.add_argument("--run-s", type=positive_int, default=3600, help="wall seconds of a program")
    suite.add_argument("--record", action="store_true", help="keep images, map and path of each run under recordings")
    suite.add_argument("--thinking", choices=("paused", "charged"), default="paused")
    suite.add_argument("--turns", type=positive_int, default=400, help="decisions of the loop")
    suite.add_argument("--workers", type=positive_int, default=1)
    suite.add_argument("--out", type=Path, required=True)


def run_bench(args: argparse.Namespace) -> int:
    """Run the tasks and print the summary."""
    from mnav_bench.supernav.evaluation import SuiteOptions
    from mnav_bench.supernav.suite import bench
    from mnav_bench.supernav.variants import find_variant
    from mnav_models.open_model import open_model
    from mnav_planner.asking import Thinking
    from mnav_planner.supernav.catalogue import Configuration
    from mnav_planner.supernav.outside_program import OutsideProgram
    from mnav_planner.supernav.tasks import LoopBudget

    model = open_model(args.model)
    if model is not None:
        model.close()
    options = SuiteOptions(
        model=args.model,
        configuration=Configuration(args.configuration),
        variant=find_variant(args.variant),
        thinking=Thinking(args.thinking),
        budget=LoopBudget(turns=args.turns),
        record=args.out / "recordings" if args.record else None,
    )
    program = None if args.program is None else OutsideProgram(tuple(shlex.split(args.program)), float(args.run_s))
    summary = bench(args.episodes, options, args.workers, args.out, _show, program)
    print(json.dumps({key: value for key, value in summary.items() if key != "manifest"}, indent=1))
    if summary["credited_unreachable"]:
        print(f"{summary['credited_unreachable']} designated unreachable episodes were credited with SR and SPL 1")
    print(f"written to {args.out}: summary.json, episodes.jsonl, transcripts")
    return 0


def _show(done: int, n: int, row: dict[str, Any]) -> None:
    verdict = "success" if row["success"] else "failed"
    print(
        f"[{done}/{n}] {row['id']}: {verdict}, {row['reached']} of {row['goals']} goals,"
        f" claims {row['claim']['outcome']},"
        f" SPL {row['spl']:.2f}, {row['path_m']:.1f} m (reference {row['reference_m']:.1f} m),"
        f" {row.get('turns', 0)} turns, {row.get('sim_s') or 0:.0f} s simulated, {row['wall_s'] or 0:.0f} s",
        flush=True,
    )
