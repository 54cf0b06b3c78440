"""Reading the output of several processes, line by line, in one thread."""

from __future__ import annotations

import os
import selectors
import threading
from collections.abc import Callable

OnLine = Callable[[str, str], None]
READ_BYTES = 65536
# A longer line is handed on in pieces, so that memory stays bounded.
LINE_BYTES = 16384


class OutputReader:
    """Calls `on_line(process, line)` from its own thread for each line of each added pipe, until `close`."""

    def __init__(self, on_line: OnLine) -> None:
        self._on_line = on_line
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closing = False

    def start(self) -> None:
        """Start reading."""
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._read_all, name="process-output", daemon=True)
        self._thread.start()

    def add(self, process: str, descriptor: int) -> None:
        """Read `descriptor` (which becomes this reader's) as the output of `process`."""
        os.set_blocking(descriptor, False)
        with self._lock:
            self._selector.register(descriptor, selectors.EVENT_READ, (process, bytearray()))
        os.write(self._wake_write, b".")

    def close(self, timeout_s: float = 0.5) -> None:
        """Hand on what is left to read and end the thread."""
        if self._thread is None:
            return
        self._closing = True
        os.write(self._wake_write, b".")
        self._thread.join(timeout_s)
        self._thread = None

    def _read_all(self) -> None:
        while True:
            ready = self._selector.select(timeout=0.5)
            for key, _ in ready:
                if key.data is None:
                    os.read(self._wake_read, READ_BYTES)
                else:
                    self._read(key)
            # Whatever was written before closing was ready by now.
            if self._closing and all(key.data is None for key, _ in ready):
                break
        with self._lock:
            for key in list(self._selector.get_map().values()):
                if key.data is not None:
                    self._finish(key)
            self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _read(self, key: selectors.SelectorKey) -> None:
        process, buffer = key.data
        try:
            data = os.read(key.fd, READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            with self._lock:
                self._finish(key)
            return
        buffer += data
        *lines, rest = bytes(buffer).split(b"\n")
        if len(rest) > LINE_BYTES:
            lines.append(rest)
            rest = b""
        buffer[:] = rest
        for line in lines:
            self._on_line(process, line.decode(errors="replace"))

    def _finish(self, key: selectors.SelectorKey) -> None:
        process, buffer = key.data
        self._selector.unregister(key.fd)
        os.close(key.fd)
        if buffer:
            self._on_line(process, bytes(buffer).decode(errors="replace"))
