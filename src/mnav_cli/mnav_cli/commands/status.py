"""`mnav status`: the processes and nodes of the running systems of this checkout."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import psutil

from mnav_cli.checkout import checkout_root
from mnav_cli.graph_probe import probe_graph
from mnav_cli.run_files import RunningSystem, running_systems

CPU_SAMPLE_S = 0.3
# Nodes that say how fast simulated time goes, and belong to no robot.
SIMULATIONS = frozenset({"/simulation", "/house"})


def configure(parser: argparse.ArgumentParser) -> None:
    """[--json]."""
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")


def run(args: argparse.Namespace) -> int:
    """Print; 0 also when nothing runs."""
    systems = [describe(system) for system in running_systems(checkout_root() / ".mnav" / "run")]
    if args.json:
        print(json.dumps({"systems": systems}))
    elif not systems:
        print("nothing is running")
    for system in [] if args.json else systems:
        where = f"in ROS domain {system['domain']}, supervisor {system['pid']}"
        print(f"{system['system']} {where}, up {system['up_s']:.0f} s")
        robots = f"  robots in {', '.join(system['namespaces'])}" if system["namespaces"] else "  no robot"
        factor = system["real_time_factor"]
        print(robots + (f"; real-time factor {factor:.2f}" if factor is not None else ""))
        print(f"  {'process':<16} {'pid':>8} {'state':<9} {'restarts':>8} {'rss MB':>8} {'cpu %':>6}")
        for process in system["processes"]:
            print(
                f"  {process['name']:<16} {process['pid'] or '-':>8} {process['state']:<9} {process['restarts']:>8} "
                f"{process['rss_mb']:>8.0f} {process['cpu_percent']:>6.0f}"
            )
            for node, state in process["nodes"].items():
                print(f"    {node:<32} {state}")
    return 0


def describe(system: RunningSystem) -> dict[str, Any]:
    """One system as JSON: pids, states, restarts, memory (MB), CPU (percent of one core), lifecycle states, pace."""
    measured = {process.name: _process(process.pid) for process in system.processes}
    for process in measured.values():
        _cpu_percent(process)
    time.sleep(CPU_SAMPLE_S)
    cpu = {name: _cpu_percent(process) for name, process in measured.items()}
    nodes = [node for process in system.processes for node in process.nodes]
    graph = probe_graph(nodes, system.domain, system.environment, awaits_pace=bool(set(nodes) & SIMULATIONS))
    return {
        "system": system.system,
        "domain": system.domain,
        "pid": system.pid,
        "up_s": time.time() - system.start_time,
        "arguments": system.arguments,
        "namespaces": sorted({node.rpartition("/")[0] or "/" for node in set(nodes) - SIMULATIONS}),
        "real_time_factor": graph.real_time_factor,
        "processes": [
            {
                "name": process.name,
                "pid": process.pid,
                "state": process.state,
                "restarts": process.restarts,
                "rss_mb": _rss_mb(measured[process.name]),
                "cpu_percent": cpu[process.name],
                "nodes": {node: graph.states[node] for node in process.nodes},
            }
            for process in system.processes
        ],
    }


def _process(pid: int | None) -> psutil.Process | None:
    try:
        return psutil.Process(pid) if pid is not None else None
    except psutil.NoSuchProcess:
        return None


def _cpu_percent(process: psutil.Process | None) -> float:
    try:
        return float(process.cpu_percent()) if process else 0.0
    except psutil.NoSuchProcess:
        return 0.0


def _rss_mb(process: psutil.Process | None) -> float:
    try:
        return process.memory_info().rss / 1e6 if process else 0.0
    except psutil.NoSuchProcess:
        return 0.0
