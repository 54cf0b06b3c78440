"""A real HTTP server on the loopback that speaks the chat-completions protocol and misbehaves as scripted.

Run alone: `python -m mnav_models.testing.fault_server --port P FAULT [FAULT ...]` plays the faults in turn, for ever.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mnav_models.testing.behaviours import BEHAVIOURS, Behaviour, Exchange

HOST = "127.0.0.1"
MAX_BODY = 64_000_000


@dataclass
class Seen:
    """A request that arrived. Bodies are kept only where the server was told to."""

    path: str
    headers: dict[str, str]
    body_bytes: int
    body: dict[str, Any] | None = None


class FaultServer:
    """Serves `behaviours` in turn, the last one for ever after; a context manager that leaves no thread or socket
    behind."""

    def __init__(self, behaviours: Sequence[Behaviour], keep_bodies: bool = True, port: int = 0) -> None:
        self.behaviours = tuple(behaviours)
        self.keep_bodies = keep_bodies
        self.seen: list[Seen] = []
        self.stopping = threading.Event()
        self._port = port
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._connections = 0
        self._served = 0
        self._http: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Base URL as far as /v1. Raises RuntimeError unless started."""
        if self._http is None:
            raise RuntimeError("the server is not started")
        return f"http://{HOST}:{self._http.server_address[1]}/v1"

    def start(self) -> FaultServer:
        """Listen and serve in a thread."""
        handler = type("Handler", (_Handler,), {"fault_server": self})
        self._http = _Server((HOST, self._port), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), name="fault-server")
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop, ending silences early."""
        self.stopping.set()
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._http.server_close()
            self._thread.join(timeout=5.0)

    def __enter__(self) -> FaultServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait_until_no_connection(self, timeout_s: float) -> bool:
        """Whether all connections have ended within `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._connections == 0, timeout=timeout_s)

    def wait_until_seen(self, count: int, timeout_s: float) -> bool:
        """Whether `count` requests have arrived within `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.seen) >= count, timeout=timeout_s)

    def skip_to(self, number: int) -> None:
        """Serve behaviour `number` (from 0) next."""
        with self._changed:
            self._served = number

    def note_connection(self, change: int) -> None:
        """A connection came (+1) or went (-1)."""
        with self._changed:
            self._connections += change
            self._changed.notify_all()

    def next_behaviour(self, seen: Seen) -> Behaviour:
        """Note a request and say how to answer it."""
        with self._changed:
            self.seen.append(seen)
            self._changed.notify_all()
            behaviour = self.behaviours[min(self._served, len(self.behaviours) - 1)]
            self._served += 1
            return behaviour


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 32

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are what this server is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 0.2
    fault_server: FaultServer
    # Small writes leave at once, so that latency measured against this server is not Nagle's.
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.fault_server.note_connection(1)

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:
            self.close_connection = True
        finally:
            self.fault_server.note_connection(-1)

    def handle_one_request(self) -> None:
        """Wait for a request in slices, so that stopping ends idle connections."""
        self.connection.settimeout(0.2)
        while not self.fault_server.stopping.is_set():
            try:
                if self.connection.recv(1, socket.MSG_PEEK) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
            self.connection.settimeout(30.0)
            super().handle_one_request()
            return
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        """The list of models."""
        self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        """One completion, as the script has it."""
        length = min(int(self.headers.get("Content-Length", "0")), MAX_BODY)
        raw = self.rfile.read(length)
        body = json.loads(raw)
        server = self.fault_server
        seen = Seen(self.path, dict(self.headers.items()), len(raw), body if server.keep_bodies else None)
        behaviour = server.next_behaviour(seen)
        behaviour(_HttpExchange(self, body, server.stopping))

    def _json(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@dataclass
class _HttpExchange(Exchange):
    """Lets a behaviour act on the connection."""

    handler: _Handler
    request: dict[str, Any]
    stopping: threading.Event
    chunked: bool = field(default=False)

    def headers(self, status: int, length: int | None, content_type: str, extra: dict[str, str]) -> None:
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", content_type)
        if length is None:
            self.handler.send_header("Transfer-Encoding", "chunked")
            self.chunked = True
        else:
            self.handler.send_header("Content-Length", str(length))
        for name, value in extra.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()

    def write(self, data: bytes) -> bool:
        framed = f"{len(data):x}\r\n".encode() + data + b"\r\n" if self.chunked else data
        try:
            self.handler.wfile.write(framed)
            self.handler.wfile.flush()
        except OSError:
            self.handler.close_connection = True
            return False
        return True

    def end(self) -> None:
        if self.chunked:
            self.write(b"")

    def wait(self, seconds: float) -> bool:
        """Wait; False once the client has gone or the server stops."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.stopping.wait(0.02):
            if self._client_left():
                self.handler.close_connection = True
                return False
        return not self.stopping.is_set()

    def _client_left(self) -> bool:
        sock: socket.socket = self.handler.connection
        sock.settimeout(0.0)
        try:
            return len(sock.recv(1, socket.MSG_PEEK)) == 0
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            sock.settimeout(30.0)

    def close(self) -> None:
        self.handler.close_connection = True

    def reset(self) -> None:
        self.handler.close_connection = True
        # Lingering for zero seconds makes the kernel send a reset instead of an orderly end.
        self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.handler.connection.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted or until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("faults", nargs="+", choices=sorted(BEHAVIOURS))
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args(arguments)
    script = [BEHAVIOURS[name] for name in options.faults]

    def in_turn(exchange: Exchange) -> None:
        script.append(script.pop(0))
        script[-1](exchange)

    with FaultServer([in_turn], keep_bodies=False, port=options.port) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
