"""The SDK's own server that answers every call with a reply made before: what a round trip costs without a robot."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def echo_server(result: types.CallToolResult) -> Server[Any]:
    """A server with one tool `echo` that always returns `result`."""

    async def on_list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

    async def on_call_tool(_ctx: Any, _params: Any) -> types.CallToolResult:
        return result

    return Server(
        "echo", get_tool_input_schema=lambda _name: None, on_list_tools=on_list_tools, on_call_tool=on_call_tool
    )


def main(words: list[str]) -> int:
    """Serve the result in a JSON file over stdio."""
    result = types.CallToolResult.model_validate_json(Path(words[0]).read_text(), by_name=False)

    async def serve() -> None:
        server = echo_server(result)
        async with stdio_server() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    anyio.run(serve)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
