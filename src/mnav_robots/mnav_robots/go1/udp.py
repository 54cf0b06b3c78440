"""The UDP socket to a Go1: frames out, states in with the time of their arrival."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

from mnav_core.errors import UsageError
from mnav_robots.go1.wire import STATE_BYTES

# How long closing may go unnoticed.
POLL_S = 0.2


def parse_address(text: str) -> tuple[str, int]:
    """HOST:PORT. Raises UsageError for anything else."""
    host, separator, port = text.rpartition(":")
    if not separator or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UsageError(f"address {text!r}, allowed: HOST:PORT")
    return host, int(port)


class UdpLink:
    """Sends to one address and hands on what comes back, from a thread of its own; the robot answers the sender."""

    def __init__(self, address: str, on_state: Callable[[bytes], None]) -> None:
        self._address = parse_address(address)
        self._on_state = on_state
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Begin to listen. Raises UsageError when there is no way to the address."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(POLL_S)
        try:
            self._socket.connect(self._address)
        except OSError as error:
            self._socket.close()
            raise UsageError(f"address {self._address[0]}:{self._address[1]}: {error.strerror or error}") from error
        self._thread = threading.Thread(target=self._listen, name="go1", daemon=True)
        self._thread.start()

    def send(self, frame: bytes) -> bool:
        """Send a frame; False when the network would not take it, as while nobody listens."""
        try:
            self._socket.send(frame)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """End."""
        self._ends.set()
        if self._thread is not None:
            self._thread.join(2.0 * POLL_S)
            self._socket.close()

    def _listen(self) -> None:
        while not self._ends.is_set():
            try:
                frame = self._socket.recv(STATE_BYTES + 1)
            except TimeoutError:
                continue
            except OSError:
                # Refused: nobody listens there yet.
                self._ends.wait(POLL_S)
                continue
            self._on_state(frame)
