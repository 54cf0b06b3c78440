"""`mnav demo`: a house never seen before, the whole ROS graph, one scored episode."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnav_cli.numbers import seed
from mnav_cli.terminal_log import TerminalLog

if TYPE_CHECKING:
    from mnav_cli.domains import DomainLease
    from mnav_core.robot import RobotDescription

WALL_LIMIT_S = 1200.0
PROCESSES = ("mnav", "sim", "driver", "perception", "motion", "mind")
DRIVERS = ("contract", "vendor")
FIELDS = (
    "success",
    "outcome",
    "reason",
    "failure",
    "spl",
    "path_m",
    "reference_m",
    "distance_m",
    "sim_s",
    "wall_s",
    "startup_s",
    "first_motion_s",
    "rtf",
    "seed",
    "task",
    "robot",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Every argument has a default."""
    parser.add_argument("--seed", type=seed, default=1, help="the house, the start and the target (default 1)")
    parser.add_argument("--robot", default="cobot_magic")
    parser.add_argument(
        "--drivers", choices=DRIVERS, default=DRIVERS[0], help="vendor: through the robot's driver and vendor messages"
    )
    parser.add_argument("--task", help='"find the CATEGORY" (default: drawn from the seed)')
    parser.add_argument("--record", type=Path, metavar="DIR", help="write a picture and a GIF there")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line of stdout")
    parser.add_argument("--domain", type=int, metavar="N", help="ROS domain (default: a free one)")


def run(args: argparse.Namespace) -> int:
    """0 when the episode was a success, 1 when it was not."""
    started_unix_s = time.time()
    from mnav_cli.graphics import use_backend

    use_backend()
    from mnav_cli.checkout import checkout_root
    from mnav_cli.domains import lease_domain, lease_free_domain
    from mnav_core.robot import find_robot

    robot = find_robot(args.robot)
    category = None if args.task is None else category_of(args.task)
    if args.record is not None:
        _make_folder(args.record)
    log = TerminalLog(list(PROCESSES), sys.stderr if args.json else sys.stdout)
    with lease_free_domain(str(checkout_root())) if args.domain is None else lease_domain(args.domain) as lease:
        task, row = _episode(args, robot, category, log, lease)
    result = summary(row, started_unix_s, args.seed, task, robot.name)
    log.write("mnav", verdict_line(result))
    if args.record is not None:
        log.write("mnav", f"recorded in {args.record}")
    if args.json:
        print(json.dumps(result), flush=True)
    return 0 if result["success"] else 1


def _episode(
    args: argparse.Namespace, robot: RobotDescription, category: str | None, log: TerminalLog, lease: DomainLease
) -> tuple[str, dict[str, Any]]:
    """Build the house, run the graph; what was asked for, and the verdict's row."""
    from mnav_bench.episodes import write_episodes
    from mnav_bench.evaluate import mind_seed
    from mnav_bench.navtoobj import demo_episode
    from mnav_cli.ros_episode import EpisodeLost, run_ros_episode

    log.write("mnav", f"building a house from seed {args.seed}")
    suite = demo_episode(args.seed, robot, category)
    episode = suite.episodes[0]
    task = f"find the {spoken(episode.category)}"
    log.write("mnav", f"{episode.house_rooms} rooms, {robot.name} starts in the {spoken(episode.start_room)}: {task}")
    with tempfile.TemporaryDirectory(prefix="mnav-demo-") as folder:
        file = Path(folder) / "episode.json"
        write_episodes(file, suite)
        arguments = {"robot": robot.name, "episodes": str(file), "seed": str(mind_seed(episode))}
        if args.record is not None:
            arguments["record"] = str(args.record.resolve())
        try:
            verdict, system = Path(folder) / "verdict.json", "demo"
            if args.drivers == "vendor":
                system = f"fake_{robot.name}"
            return task, run_ros_episode(arguments, verdict, WALL_LIMIT_S, log.write, lease, system)
        except EpisodeLost as error:
            lost = {"success": False, "outcome": "lost", "reason": str(error), "failure": "crash", "spl": 0.0}
            return task, {**lost, "reference_m": episode.reference.length_m}


def _make_folder(folder: Path) -> None:
    from mnav_core.errors import UsageError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--record {folder}: {error.strerror or error}, allowed: a folder that can be written"
        ) from error


def category_of(task: str) -> str:
    """The category of "find the CATEGORY". Raises UsageError with the categories for anything else."""
    from mnav_core.errors import UsageError
    from mnav_sim_bridge.house.catalogue import target_categories

    known = target_categories()
    match = re.fullmatch(r"\s*find\s+(?:the|a|an|my)\s+(.+?)\s*[.!]?\s*", task, re.IGNORECASE)
    name = re.sub(r"[\s-]+", "_", match.group(1).lower()) if match else ""
    if name not in known:
        spoken_names = ", ".join(spoken(c) for c in known)
        raise UsageError(f'task {task!r}, allowed: "find the CATEGORY" with one of: {spoken_names}')
    return name


def spoken(name: str) -> str:
    """A name as one says it: `bedroom_2` is "bedroom 2"."""
    return name.replace("_", " ")


def summary(row: dict[str, Any], started_unix_s: float, number: int, task: str, robot: str) -> dict[str, Any]:
    """The fields of the result; times to start-up and first motion count from the command."""
    moved = row.get("first_motion_unix_s")
    began = row.get("started_unix_s")
    known = {
        **row,
        "wall_s": round(time.time() - started_unix_s, 2),
        "startup_s": None if began is None else round(began - started_unix_s, 2),
        "first_motion_s": None if moved is None else round(moved - started_unix_s, 2),
        "seed": number,
        "task": task,
        "robot": robot,
    }
    return {field: known.get(field) for field in FIELDS}


def verdict_line(result: dict[str, Any]) -> str:
    """The result in one line."""
    if result.get("sim_s") is None:
        return f"lost: {result['reason']}"
    word = "success" if result["success"] else f"failed ({result['failure']})"
    return (
        f"{word}: {result['reason']}; SPL {result['spl']:.2f}, drove {result['path_m']:.1f} m (shortest"
        f" {result['reference_m']:.1f} m), {result['sim_s']:.0f} s simulated at {result['rtf'] or 0:.2f} x real time"
    )
