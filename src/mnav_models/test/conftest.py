"""What the tests of this package share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
TIDY_S = 3.0


def open_sockets() -> int:
    """Sockets that this process holds now."""
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        try:
            count += str(link.readlink()).startswith("socket:")
        except OSError:
            continue
    return count


@pytest.fixture
def data_dir() -> Path:
    """The folder of test data."""
    return DATA


@pytest.fixture
def nothing_left_behind() -> Iterator[None]:
    """After the test as many threads and sockets as before it."""
    threads, sockets = set(threading.enumerate()), open_sockets()
    yield
    for thread in set(threading.enumerate()) - threads:
        thread.join(timeout=TIDY_S)
    assert set(threading.enumerate()) <= threads
    assert open_sockets() == sockets
