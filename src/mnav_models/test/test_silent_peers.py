"""Peers that accept a connection and then do nothing, below HTTP."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from mnav_core.chat import ModelFault, TurnOutcome
from mnav_models.endpoint import Patience, parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.testing.behaviours import GOOD_CALL
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.scripted_tools import turn_request

DEADLINE_S = 0.6
SLACK_S = 0.4


@pytest.fixture
def silent_port() -> Iterator[int]:
    """The kernel completes connections to this port; nobody ever reads from them."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        yield listener.getsockname()[1]


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("text_bytes", [10, 7_000_000], ids=["no_answer", "nobody_reads"])
def test_silence_below_http_is_bounded(silent_port: int, scheme: str, text_bytes: int) -> None:
    model = open_endpoint(parse_endpoint(f"{scheme}://127.0.0.1:{silent_port}/v1#m"), patience=Patience())
    start = time.monotonic()
    turn = model.ask(turn_request("x" * text_bytes), DEADLINE_S)
    assert time.monotonic() - start < DEADLINE_S + SLACK_S
    model.close()
    assert turn.outcome is TurnOutcome.TIMED_OUT and turn.faults == (ModelFault.ATTEMPT_TIMED_OUT,)
    assert turn.usage.request_bytes < 7_000_000


@pytest.mark.usefixtures("nothing_left_behind")
def test_cancelling_ends_a_handshake(silent_port: int) -> None:
    model = open_endpoint(parse_endpoint(f"https://127.0.0.1:{silent_port}/v1#m"))
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    start = time.monotonic()
    assert model.ask(turn_request(), 20.0, cancel).outcome is TurnOutcome.CANCELLED
    assert time.monotonic() - start < 0.1 + 0.4
    model.close()


@pytest.mark.usefixtures("nothing_left_behind")
def test_tls_with_a_server_that_speaks_plain_http() -> None:
    with FaultServer([GOOD_CALL]) as server:
        url = server.url.replace("http:", "https:")
        model = open_endpoint(parse_endpoint(f"{url}#m"), patience=Patience(attempts=1))
        turn = model.ask(turn_request(), 5.0)
        model.close()
        assert server.wait_until_no_connection(timeout_s=3.0)
    assert turn.outcome is TurnOutcome.UNREACHABLE and "SSL" in turn.reason
