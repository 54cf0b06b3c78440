"""`mnav mcp`: the robot's tools for agent programs, over stdio or HTTP."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnav_cli.numbers import positive_int, seed

if TYPE_CHECKING:
    from mnav_planner.supernav.access import Access
    from mnav_planner.supernav.hosting import ServedRobot
    from mnav_planner.supernav.session import SessionPolicy

READY_S = 120.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Without --system a simulated house is served; without --http over stdio (a terminal gets configuration)."""
    parser.add_argument("--http", type=positive_int, metavar="PORT", help="serve over HTTP on the loopback")
    parser.add_argument("--host", default="127.0.0.1", help="another address than the loopback; tokens stay required")
    parser.add_argument("--system", metavar="S", help="the robot of a running system instead of a simulated house")
    parser.add_argument("--house", type=seed, default=1, metavar="SEED", help="the simulated house (default 1)")
    parser.add_argument("--robot", action="append", metavar="R", help="may be given twice; default cobot_magic")
    parser.add_argument("--task", default="", help='goals of the session, "find the mug; find the book"')
    parser.add_argument("--configuration", choices=("full", "front_only", "no_skills", "grounding"), default="full")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="TOOL", help="an optional tool: detections, ..."
    )
    parser.add_argument("--only", action="append", default=[], metavar="TOOL", help="the allow-list, instead of all")
    parser.add_argument("--operator", action="store_true", help="do not filter poses out of replies")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="default .mnav/mcp/token, made if missing")
    parser.add_argument("--print-config", action="store_true", help="print the clients' configuration and end")


def run(args: argparse.Namespace) -> int:
    """Serve until the client goes away or Ctrl-C."""
    from mnav_cli.checkout import checkout_root

    token_file = args.token_file or checkout_root() / ".mnav" / "mcp" / "token"
    shown = _configuration(args, token_file)
    if args.print_config or (args.http is None and sys.stdin.isatty()):
        print(shown)
        return 0
    policy = _policy(args)
    if args.http is not None:
        print(shown, flush=True)
        return _serve_http(args, policy, token_file)
    return _serve_stdio(args, policy)


def _configuration(args: argparse.Namespace, token_file: Path) -> str:
    from mnav_cli.checkout import checkout_root
    from mnav_planner.supernav.client_configuration import HttpServer, StdioServer, ready_configuration

    if args.http is not None:
        return ready_configuration(HttpServer(f"http://{args.host}:{args.http}/mcp", token_file))
    passed = [word for word in sys.argv[1:] if word != "--print-config"]
    arguments = passed[passed.index("mcp") :] if "mcp" in passed else ["mcp"]
    return ready_configuration(StdioServer(str(checkout_root() / "mnav"), tuple(arguments)))


def _policy(args: argparse.Namespace) -> SessionPolicy:
    from mnav_core.errors import UsageError
    from mnav_planner.supernav.catalogue import Configuration, ToolName, allowed_by_default
    from mnav_planner.supernav.session import SessionPolicy

    def tool(name: str) -> ToolName:
        try:
            return ToolName(name)
        except ValueError as error:
            allowed = ", ".join(entry.value for entry in ToolName)
            raise UsageError(f"tool {name!r} is unknown, allowed: {allowed}") from error

    configuration = Configuration(args.configuration)
    allowed = frozenset(tool(name) for name in args.only) or allowed_by_default(configuration)
    allowed |= {tool(name) for name in args.allow}
    return SessionPolicy(configuration, allowed, global_task=not args.operator)


@contextmanager
def _robots(args: argparse.Namespace) -> Iterator[list[ServedRobot]]:
    """The robots that are served: of a running system, or of a house simulated here."""
    if args.system is not None:
        from mnav_cli.tool_service import robots_of_system

        with robots_of_system(args.system, READY_S) as robots:
            yield robots
    else:
        from mnav_cli.tool_service import robots_of_house

        with robots_of_house(args.house, args.robot or ["cobot_magic"], READY_S) as robots:
            yield robots


def _goals(args: argparse.Namespace) -> list[str]:
    from mnav_planner.supernav.tasks import task_from_text

    return [goal.description for goal in task_from_text(args.task).goals] if args.task else []


def _serve_stdio(args: argparse.Namespace, policy: SessionPolicy) -> int:
    import anyio

    from mnav_planner.supernav.access import Access
    from mnav_planner.supernav.hosting import SessionHost
    from mnav_planner.supernav.mcp_server import McpTools
    from mnav_planner.supernav.mcp_transports import serve_stdio

    with _robots(args) as robots:
        tools = McpTools(SessionHost(robots, _goals(args)))
        anyio.run(serve_stdio, tools, Access("stdio", policy))
    return 0


def _serve_http(args: argparse.Namespace, policy: SessionPolicy, token_file: Path) -> int:
    from mnav_planner.supernav.access import Access, kept_token
    from mnav_planner.supernav.hosting import SessionHost
    from mnav_planner.supernav.mcp_server import McpTools
    from mnav_planner.supernav.mcp_transports import HttpAddress, bound_socket, http_server

    access: Access = Access("operator", policy, kept_token(token_file))
    address = HttpAddress(args.host, args.http)
    listener = bound_socket(address)
    with listener, _robots(args) as robots:
        server: Any = http_server(McpTools(SessionHost(robots, _goals(args))), [access], address, args.http)
        print(f"serving {', '.join(robot.name for robot in robots)} on http://{args.host}:{args.http}/mcp", flush=True)
        server.run(sockets=[listener])
    return 0
