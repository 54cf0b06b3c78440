"""The server over stdio, and over HTTP behind a guard: loopback, bearer token, Host and Origin."""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from mnav_core.errors import UsageError
from mnav_planner.supernav.access import Access, access_of
from mnav_planner.supernav.mcp_server import McpTools

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATH = "/mcp"
MAX_BODY_BYTES = 1_000_000

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class HttpAddress:
    """Where to listen. Port 0 takes a free one."""

    host: str = "127.0.0.1"
    port: int = 0

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host in LOOPBACK


async def serve_stdio(tools: McpTools, access: Access) -> None:
    """Serve one caller on standard input and output until it goes away."""
    server = tools.server(access)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


def bound_socket(address: HttpAddress) -> socket.socket:
    """A listening socket: who connects before the server runs waits for it. UsageError names a port that is taken."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # With the protocol named, asyncio sends small packets at once; without, replies wait 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host, address.port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise UsageError(f"address {address.host}:{address.port}: {error.strerror or error}") from error
    return listener


def http_server(tools: McpTools, accesses: Sequence[Access], address: HttpAddress, port: int) -> uvicorn.Server:
    """The HTTP server, guarded; serve it on the socket of `bound_socket`. Raises UsageError without a token."""
    if not accesses or not all(access.token for access in accesses):
        raise UsageError("http: a bearer token is missing, allowed: one for each right")
    hosts = _names(address, port)
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=sorted(hosts),
        allowed_origins=sorted(f"http://{host}" for host in hosts),
    )
    app = tools.server().streamable_http_app(
        streamable_http_path=PATH,
        transport_security=security,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=64,
        host=address.host,
    )
    guarded = guard(app, accesses, hosts)
    config = uvicorn.Config(guarded, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=2)
    return uvicorn.Server(config)


def _names(address: HttpAddress, port: int) -> frozenset[str]:
    """Values of the Host header under which the server is meant."""
    names = set(LOOPBACK) if address.is_loopback else {address.host}
    bracketed = {f"[{name}]" if ":" in name else name for name in names}
    return frozenset(f"{name}:{port}" for name in bracketed)


def guard(app: App, accesses: Sequence[Access], hosts: frozenset[str]) -> App:
    """Lets a request through that names this host, comes from no foreign page, and brings a known token."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in hosts:
            await _refuse(send, 421, "foreign_host", f"Host {host[:100]!r} is not this server", "use the printed URL")
            return
        if origin is not None and origin.removeprefix("http://") not in hosts:
            await _refuse(send, 403, "foreign_origin", f"Origin {origin[:100]!r} is not allowed", "call from no page")
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        access = access_of(accesses, token.strip()) if scheme.lower() == "bearer" else None
        if access is None:
            await _refuse(
                send, 401, "unauthorized", "the bearer token is missing or wrong", "send Authorization: Bearer TOKEN"
            )
            return
        scope["mnav_access"] = access
        await app(scope, receive, send)

    return guarded


async def _refuse(send: Send, status: int, code: str, message: str, remedy: str) -> None:
    body = json.dumps({"error": {"code": code, "message": message, "remedy": remedy}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="mnav"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
