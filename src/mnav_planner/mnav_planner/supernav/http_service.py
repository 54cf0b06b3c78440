"""The HTTP server of the tools in a thread, for as long as something needs it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from mnav_planner.supernav.access import Access
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.mcp_transports import PATH, HttpAddress, bound_socket, http_server

START_S = 10.0


class HttpService:
    """Listens on a free port of the loopback; a context manager. Raises TimeoutError when it does not start."""

    def __init__(self, tools: McpTools, accesses: Sequence[Access]) -> None:
        self._tools = tools
        self._accesses = tuple(accesses)
        self.url = ""

    def __enter__(self) -> HttpService:
        self._listener = bound_socket(HttpAddress())
        port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}{PATH}"
        self._server = http_server(self._tools, self._accesses, HttpAddress(), port)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],), name="mcp", daemon=True)
        self._thread.start()
        deadline_s = time.monotonic() + START_S
        while not self._server.started:
            if time.monotonic() > deadline_s or not self._thread.is_alive():
                raise TimeoutError(f"the tool server did not start within {START_S:g} s")
            self._thread.join(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=START_S)
        self._listener.close()
