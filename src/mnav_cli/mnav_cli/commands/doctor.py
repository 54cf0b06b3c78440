"""`mnav doctor`: looks at the machine, the running graph and the robot file, and prints fixes; it changes nothing."""

from __future__ import annotations

import argparse
import json
import os

from mnav_cli.doctor.findings import Finding, Level, good, skipped, warning


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the graph is, and whose robot file."""
    parser.add_argument("--robot", help="robot whose file and topics are looked at (default: that of the system)")
    parser.add_argument("--domain", type=int, metavar="N", help="ROS domain (default: that of a running system)")
    parser.add_argument("--namespace", default=None, metavar="NS", help="namespace of the robot's topics")
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")


def run(args: argparse.Namespace) -> int:
    """Print what was found; 0 when nothing is bad, else 1."""
    from mnav_cli.checkout import checkout_root
    from mnav_cli.doctor.machine import machine_findings

    found: list[Finding] = []

    def tell(findings: list[Finding]) -> None:
        found.extend(findings)
        if not args.json:
            for finding in findings:
                print("\n".join(finding.lines()), flush=True)

    tell(machine_findings(checkout_root()))
    tell(_graph_and_robot(args))
    counts = {level: sum(finding.level is level for finding in found) for level in Level}
    if args.json:
        print(json.dumps({"findings": [finding.as_json() for finding in found]}))
    else:
        print(", ".join(f"{count} {level.value}" for level, count in counts.items()))
    return 1 if counts[Level.BAD] else 0


def _graph_and_robot(args: argparse.Namespace) -> list[Finding]:
    from mnav_cli.checkout import checkout_root
    from mnav_cli.run_files import running_systems
    from mnav_core.robot import find_robot

    systems = running_systems(checkout_root() / ".mnav" / "run")
    system = next((s for s in systems if args.domain in (None, s.domain)), None)
    arguments = {} if system is None else system.arguments
    robot = find_robot(args.robot or str(arguments.get("robot", "cobot_magic")))
    found = [unverified(robot.name, robot.unverified)]
    if system is None and args.domain is None:
        return [*found, skipped("graph", "nothing of this checkout runs; look at another graph with --domain N")]
    try:
        from mnav_cli.doctor.graph import graph_findings
    except ImportError as error:
        return [*found, skipped("graph", f"no ROS here: {error}")]
    namespace = str(arguments.get("namespace", "")) if args.namespace is None else args.namespace
    domain = args.domain if system is None else system.domain
    environment = dict(os.environ) if system is None else system.environment
    return [*found, *graph_findings(domain, f"/{namespace.strip('/')}", robot, environment)]


def unverified(robot: str, values: tuple[str, ...]) -> Finding:
    """Values of a robot file that nobody has measured on the robot."""
    name = f"robot file of {robot}"
    if not values:
        return good(name, "every value has a source")
    fix = "measure them on your robot, correct the file, and strike them off its list `unverified`"
    return warning(name, f"{len(values)} values without a source: {', '.join(values)}", fix)
