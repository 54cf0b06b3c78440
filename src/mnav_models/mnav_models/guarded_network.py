"""HTTP whose every wait ends:

at the turn's deadline, at its cancellation, or at its byte limit, without a thread to watch it.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import httpcore2
import httpx2

from mnav_models.api_key import ApiKey

SLICE_S = 0.05
WRITE_CHUNK = 65_536
KEEP_ALIVE_S = 30.0
PASSED_HEADERS = (
    b"host",
    b"content-type",
    b"content-length",
    b"transfer-encoding",
    b"accept",
    b"user-agent",
    b"connection",
)


class Interruption(Enum):
    """Why the guard ended an exchange."""

    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    TOO_MANY_BYTES = "too_many_bytes"


class ExchangeInterrupted(httpcore2.ReadError):
    """The guard ended the exchange; `ExchangeGuard.interruption` says why."""


@dataclass(frozen=True)
class Cancellation:
    """Set as soon as any of its events is."""

    events: tuple[threading.Event, ...]

    def is_set(self) -> bool:
        """Whether the turn is to end now."""
        return any(event.is_set() for event in self.events)

    def wait(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s`, noticing a cancellation within SLICE_S; whether it came."""
        until = time.monotonic() + timeout_s
        while not self.is_set() and (left := until - time.monotonic()) > 0.0:
            self.events[0].wait(min(left, SLICE_S))
        return self.is_set()


@dataclass
class ExchangeGuard:
    """Limits of one HTTP exchange and what it has moved so far. `deadline` is on the monotonic clock."""

    deadline: float
    cancel: Cancellation
    max_response_bytes: int
    interruption: Interruption | None = None
    sent_bytes: int = 0
    received_bytes: int = 0

    def slice_s(self) -> float:
        """How long the next wait may last. Raises ExchangeInterrupted where none may start."""
        remaining = self.deadline - time.monotonic()
        if self.cancel.is_set():
            self.interrupt(Interruption.CANCELLED)
        if remaining <= 0.0:
            self.interrupt(Interruption.DEADLINE)
        return min(remaining, SLICE_S)

    def interrupt(self, why: Interruption) -> None:
        """Note why and raise ExchangeInterrupted."""
        self.interruption = why
        raise ExchangeInterrupted(why.value)


class GuardedStream(httpcore2.NetworkStream):
    """A connected socket that waits in slices.

    `current` gives the guard of the exchange that the calling thread is in.
    """

    def __init__(self, sock: socket.socket, current: Callable[[], ExchangeGuard]) -> None:
        self._sock = sock
        self._current = current

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Up to `max_bytes`, b"" at the end. The guard's limits stand in for `timeout`."""
        guard = self._current()
        while True:
            self._sock.settimeout(guard.slice_s())
            try:
                data = self._sock.recv(max_bytes)
            except TimeoutError:
                continue
            except OSError as error:
                raise httpcore2.ReadError(str(error)) from error
            guard.received_bytes += len(data)
            if guard.received_bytes > guard.max_response_bytes:
                guard.interrupt(Interruption.TOO_MANY_BYTES)
            return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of `buffer`. The guard's limits stand in for `timeout`."""
        guard = self._current()
        view = memoryview(buffer)
        while view:
            self._sock.settimeout(guard.slice_s())
            try:
                sent = self._sock.send(view[:WRITE_CHUNK])
            except TimeoutError:
                continue
            except OSError as error:
                raise httpcore2.WriteError(str(error)) from error
            guard.sent_bytes += sent
            view = view[sent:]

    def close(self) -> None:
        """Close the socket."""
        self._sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        """The same connection under TLS; the handshake waits in slices too."""
        guard = self._current()
        try:
            tls = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname, do_handshake_on_connect=False)
        except OSError as error:
            self._sock.close()
            raise httpcore2.ConnectError(str(error)) from error
        try:
            while True:
                tls.settimeout(guard.slice_s())
                try:
                    tls.do_handshake()
                    return GuardedStream(tls, self._current)
                except TimeoutError:
                    continue
        except ExchangeInterrupted:
            tls.close()
            raise
        except OSError as error:
            tls.close()
            raise httpcore2.ConnectError(str(error)) from error

    def get_extra_info(self, info: str) -> Any:
        """What the connection pool asks: the socket, and whether the peer has spoken or gone."""
        if info == "socket":
            return self._sock
        if info == "is_readable":
            return self._sock.fileno() < 0 or bool(_poll(self._sock, select.POLLIN, 0.0))
        return None


def _poll(sock: socket.socket, events: int, timeout_s: float) -> list[tuple[int, int]]:
    poller = select.poll()
    poller.register(sock.fileno(), events)
    return poller.poll(timeout_s * 1000.0)


@dataclass
class GuardedBackend(httpcore2.NetworkBackend):
    """Opens guarded connections. Each thread enters its own exchange, so one backend serves many."""

    connect_timeout_s: float
    _local: threading.local = field(default_factory=threading.local)

    @contextlib.contextmanager
    def exchange(self, guard: ExchangeGuard) -> Iterator[ExchangeGuard]:
        """Everything that this thread does on the network inside the block obeys `guard`."""
        self._local.guard = guard
        try:
            yield guard
        finally:
            del self._local.guard

    def current(self) -> ExchangeGuard:
        """The guard of the calling thread's exchange. Raises RuntimeError outside of one."""
        guard = getattr(self._local, "guard", None)
        if not isinstance(guard, ExchangeGuard):
            raise RuntimeError("network use outside an exchange")
        return guard

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """A connection to the first address of `host` that accepts one. Only the name look-up cannot be interrupted."""
        guard = self.current()
        guard.slice_s()
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore2.ConnectError(f"{host}: {error}") from error
        latest = time.monotonic() + self.connect_timeout_s
        problem = "no address"
        for family, kind, protocol, _, address in addresses:
            sock = socket.socket(family, kind, protocol)
            try:
                problem = _connect(sock, address, guard, latest)
            except ExchangeInterrupted:
                sock.close()
                raise
            if not problem:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return GuardedStream(sock, self.current)
            sock.close()
        raise httpcore2.ConnectError(f"{host}:{port}: {problem}")

    def sleep(self, seconds: float) -> None:
        """Not used: waiting between attempts belongs to the retry policy."""
        raise RuntimeError("the connection pool must not retry by itself")


def _connect(sock: socket.socket, address: Any, guard: ExchangeGuard, latest: float) -> str:
    """Connect in slices; "" or what went wrong."""
    sock.setblocking(False)
    try:
        sock.connect(address)
    except BlockingIOError:
        pass
    except OSError as error:
        return str(error)
    while not _poll(sock, select.POLLOUT, guard.slice_s()):
        if time.monotonic() > latest:
            return "connecting timed out"
    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return "" if code == 0 else os.strerror(code)


class GuardedTransport(httpx2.BaseTransport):
    """Carries httpx requests over a pool of guarded connections; no proxy, no retry of its own.

    It alone knows the key, and passes on only PASSED_HEADERS: a client library may add headers that the environment
    holds.
    """

    def __init__(self, backend: GuardedBackend, key: ApiKey | None) -> None:
        self._key = key
        self._pool = httpcore2.ConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=16,
            max_keepalive_connections=2,
            keepalive_expiry=KEEP_ALIVE_S,
            network_backend=backend,
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; its body is read while the exchange lasts. Raises httpx2.TransportError."""
        assert isinstance(request.stream, httpx2.SyncByteStream)
        outgoing = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=self._headers(request),
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_transport_errors():
            incoming = self._pool.handle_request(outgoing)
        assert isinstance(incoming.stream, Iterable)
        return httpx2.Response(status_code=incoming.status, headers=incoming.headers, stream=_Body(incoming))

    def _headers(self, request: httpx2.Request) -> list[tuple[bytes, bytes]]:
        passed = [(name, value) for name, value in request.headers.raw if name.lower() in PASSED_HEADERS]
        # Not compressed: the byte limit is on what arrives, and a small answer gains nothing.
        passed.append((b"Accept-Encoding", b"identity"))
        if self._key is not None:
            passed.append((b"Authorization", b"Bearer " + self._key.reveal().encode("ascii")))
        return passed

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    """The body of a response, its errors in the vocabulary of httpx."""

    def __init__(self, incoming: httpcore2.Response) -> None:
        self._incoming = incoming

    def __iter__(self) -> Iterator[bytes]:
        with _as_transport_errors():
            yield from self._incoming.iter_stream()

    def close(self) -> None:
        """Give the connection back, or close it where the body was not read to its end."""
        self._incoming.close()


@contextlib.contextmanager
def _as_transport_errors() -> Generator[None]:
    try:
        yield
    except httpcore2.ConnectError as error:
        raise httpx2.ConnectError(str(error)) from error
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol) as error:
        raise httpx2.ReadError(str(error)) from error
