"""Robots behind desks, for the commands that serve tools: of a house simulated here, or of a running system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnav_cli.run_files import RunningSystem
    from mnav_core.seams import World
    from mnav_planner.supernav.hosting import ServedRobot


@contextmanager
def robots_of_house(seed: int, names: Sequence[str], ready_s: float) -> Iterator[list[ServedRobot]]:
    """Robots in the house of a seed, each at a free place of its own. Time stands still while nobody calls."""
    from mnav_cli.graphics import use_backend

    use_backend()
    from mnav_bench.supernav.serving import WorldService
    from mnav_core.robot import find_robot
    from mnav_planner.supernav.desk import Desk
    from mnav_planner.supernav.hosting import ServedRobot

    described = {_unique(name, list(names)[:i]): find_robot(name) for i, name in enumerate(names)}
    desks = {name: Desk() for name in described}

    def make() -> World:
        from mnav_bench.supernav.placing import house_with_robots

        return house_with_robots(seed, described)

    with WorldService(make, desks) as service:
        service.wait_until_ready(ready_s)
        yield [ServedRobot(name, robot, desks[name]) for name, robot in described.items()]


def _unique(name: str, before: Sequence[str]) -> str:
    return name if name not in before else f"{name}_{before.count(name) + 1}"


def running_system(name: str) -> RunningSystem:
    """The running system of a name. Raises UsageError naming those that run."""
    from mnav_cli.checkout import checkout_root
    from mnav_cli.run_files import running_systems
    from mnav_core.errors import UsageError

    found = running_systems(checkout_root() / ".mnav" / "run")
    for system in found:
        if system.system == name:
            return system
    running = ", ".join(system.system for system in found) or "none runs; start one with ./mnav up"
    raise UsageError(f"system {name!r} is not running, allowed: {running}")


def only_running_system() -> RunningSystem:
    """The one running system. Raises UsageError when none or several run."""
    from mnav_cli.checkout import checkout_root
    from mnav_cli.run_files import running_systems
    from mnav_core.errors import UsageError

    found = running_systems(checkout_root() / ".mnav" / "run")
    if len(found) == 1:
        return found[0]
    running = ", ".join(system.system for system in found) or "none runs; start one with ./mnav up"
    raise UsageError(f"system: not given, allowed: {running}")


@contextmanager
def robots_of_system(name: str, ready_s: float) -> Iterator[list[ServedRobot]]:
    """The robot of a running system, over ROS."""
    system = running_system(name)
    os.environ.update(system.environment)
    from mnav_core.robot import find_robot
    from mnav_planner.mind_node import RemoteMind
    from mnav_planner.supernav.desk import Desk
    from mnav_planner.supernav.hosting import ServedRobot
    from mnav_planner.supernav.served_mind import served_mind

    robot = find_robot(str(system.arguments.get("robot", name)))
    desk = Desk()
    namespace = str(system.arguments.get("namespace", ""))
    with RemoteMind(robot, served_mind(desk), system.domain, namespace, "supernav_tools") as remote:
        desk.on_change = remote.nudge
        remote.wait_until_ready(ready_s)
        try:
            yield [ServedRobot(robot.name, robot, desk)]
        finally:
            desk.close()
