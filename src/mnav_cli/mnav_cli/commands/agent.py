"""`mnav agent supernav`: the agent on a robot of a running system."""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading

from mnav_cli.numbers import positive_int

READY_S = 60.0


def configure(parser: argparse.ArgumentParser) -> None:
    """`agent supernav --task TEXT`."""
    agents = parser.add_subparsers(dest="agent", required=True, metavar="supernav", parser_class=type(parser))
    agent = agents.add_parser("supernav", help="drives by tools over labelled images")
    agent.add_argument("--task", required=True, help='"find the mug", several goals apart by ";"')
    agent.add_argument("--model", default="builtin", help="builtin, URL#NAME or replay:FILE")
    agent.add_argument("--key", help="the model's key: a file, or keyring:SERVICE")
    agent.add_argument("--system", metavar="S", help="which running system, needed only where several run")
    agent.add_argument(
        "--configuration",
        choices=("full", "front_only", "no_skills", "grounding"),
        default="full",
        help="tools and skills",
    )
    agent.add_argument("--turns", type=positive_int, default=400, help="decisions of the loop")
    agent.add_argument("--json", action="store_true", help="one JSON object as the last line of stdout")


def run(args: argparse.Namespace) -> int:
    """0 when the agent says that it has achieved the task, 1 when not."""
    from mnav_cli.tool_service import only_running_system, running_system
    from mnav_core.robot import find_robot
    from mnav_models.open_model import open_model
    from mnav_planner.asking import ModelAsker, Thinking
    from mnav_planner.supernav.catalogue import Configuration
    from mnav_planner.supernav.making import agent_run
    from mnav_planner.supernav.tasks import LoopBudget, task_from_text

    task = task_from_text(args.task)
    model = open_model(args.model, args.key)
    system = only_running_system() if args.system is None else running_system(args.system)
    os.environ.update(system.environment)
    from mnav_planner.mind_node import RemoteMind, spin_until

    robot = find_robot(str(system.arguments.get("robot", system.system)))
    budget = LoopBudget(turns=args.turns)
    agent = agent_run(task, robot, robot.name, Configuration(args.configuration), model, budget)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda _number, _frame: interrupted.set())
    remote = RemoteMind(
        robot,
        agent.mind(),
        system.domain,
        str(system.arguments.get("namespace", "")),
        "supernav",
        ModelAsker(model, Thinking.LIVE),
        lambda stamp, text: print(f"{stamp:7.1f} s  {text}", flush=True),
    )
    with remote:
        remote.wait_until_ready(READY_S)
        result = spin_until(remote, interrupted.is_set)
    if model is not None:
        model.close()
    outcome = "cancelled" if result is None else result.outcome.value
    reason = "interrupted" if result is None else result.reason
    print(f"{outcome}: {reason}", flush=True)
    if args.json:
        counts = agent.counts.as_fields()
        marked = sorted(index + 1 for index in agent.session.goals.marked_s)
        print(json.dumps({"outcome": outcome, "reason": reason, "marked": marked, **counts}), flush=True)
    return 0 if outcome == "achieved" else 1
