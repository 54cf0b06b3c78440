"""Ready configuration of the server for agent programs: Codex, Claude Code, OpenCode."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

START_S = 180
CALL_S = 300
TOKEN_VARIABLE = "MNAV_MCP_TOKEN"
NAME = "mnav"


@dataclass(frozen=True)
class StdioServer:
    """The server as a program that the client starts."""

    command: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class HttpServer:
    """The server at a URL; the client finds the token in a variable that its user sets from the file."""

    url: str
    token_file: Path


Server = StdioServer | HttpServer


def codex_toml(server: Server, tools: Sequence[str] = ()) -> str:
    """For `config.toml` under Codex's home."""
    lines = [f"[mcp_servers.{NAME}]"]
    if isinstance(server, StdioServer):
        lines += [f"command = {json.dumps(server.command)}", f"args = {json.dumps(list(server.arguments))}"]
    else:
        lines += [f"url = {json.dumps(server.url)}", f"bearer_token_env_var = {json.dumps(TOKEN_VARIABLE)}"]
    lines += [f"startup_timeout_sec = {START_S}", f"tool_timeout_sec = {CALL_S}"]
    if tools:
        lines.append(f"enabled_tools = {json.dumps(list(tools))}")
    return "\n".join(lines) + "\n"


def claude_json(server: Server) -> str:
    """For `.mcp.json` of a project, or Claude Code's `--mcp-config`."""
    if isinstance(server, StdioServer):
        entry: dict[str, object] = {"type": "stdio", "command": server.command, "args": list(server.arguments)}
    else:
        headers = {"Authorization": f"Bearer ${{{TOKEN_VARIABLE}}}"}
        entry = {"type": "http", "url": server.url, "headers": headers}
    return json.dumps({"mcpServers": {NAME: {**entry, "timeout": CALL_S * 1000}}}, indent=2) + "\n"


def opencode_json(server: Server) -> str:
    """For `opencode.json` of a project."""
    if isinstance(server, StdioServer):
        entry: dict[str, object] = {"type": "local", "command": [server.command, *server.arguments]}
    else:
        headers = {"Authorization": f"Bearer {{env:{TOKEN_VARIABLE}}}"}
        entry = {"type": "remote", "url": server.url, "headers": headers, "oauth": False}
    return json.dumps({"mcp": {"servers": {NAME: {**entry, "timeout": CALL_S * 1000}}}}, indent=2) + "\n"


def ready_configuration(server: Server) -> str:
    """All of them, with what to do first, for people."""
    parts = []
    if isinstance(server, HttpServer):
        parts.append(f'# first, where the client starts\nexport {TOKEN_VARIABLE}="$(cat {server.token_file})"\n')
    parts.append(f"# Codex: ~/.codex/config.toml\n{codex_toml(server)}")
    parts.append(f"# Claude Code: .mcp.json (start it with MCP_TIMEOUT={START_S * 1000})\n{claude_json(server)}")
    parts.append(f"# OpenCode: opencode.json\n{opencode_json(server)}")
    return "\n".join(parts)
