"""The commands, by name: one line of help and the module that does the work (imported only when it is asked for)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Command:
    """A command: `module` has `configure(parser)` and `run(args) -> exit code`. Help does not list hidden ones."""

    module: str
    help: str
    hidden: bool = False


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "demo": Command("mnav_cli.commands.demo", "a house, the whole ROS graph, one scored episode"),
        "test": Command("mnav_cli.commands.test", "lint and every test; with arguments, only pytest with them"),
        "up": Command("mnav_cli.commands.up", "start a system and keep it running"),
        "down": Command("mnav_cli.commands.down", "stop a running system"),
        "status": Command("mnav_cli.commands.status", "processes and nodes of the running systems"),
        "gen": Command("mnav_cli.commands.gen", "generate a house or the episodes of a suite"),
        "bench": Command("mnav_cli.commands.bench", "run a suite and score it"),
        "report": Command("mnav_cli.commands.report", "tables with intervals from benchmark results"),
        "collect": Command("mnav_cli.commands.collect", "full trajectory records of a suite: HDF5, LeRobot"),
        "doctor": Command("mnav_cli.commands.doctor", "look at machine, graph and robot file, and print fixes"),
        "models": Command("mnav_cli.commands.models", "what a chat model behind an endpoint can do"),
        "agent": Command("mnav_cli.commands.agent", "an agent on the robot of a running system"),
        "mcp": Command("mnav_cli.commands.mcp", "the robot's tools for agent programs, over stdio or HTTP"),
        "view": Command("mnav_cli.commands.view", "a recorded run in the Rerun viewer"),
        "warm": Command("mnav_cli.commands.warm", "compile the numeric kernels", hidden=True),
    }
)


def listed_commands() -> list[str]:
    """Names a user may give, `setup` first."""
    return ["setup", *(name for name, command in COMMANDS.items() if not command.hidden)]


def unknown_command(name: str) -> str:
    """What to say about a command that does not exist."""
    return f"unknown command {name!r}; allowed: {', '.join(listed_commands())}"
