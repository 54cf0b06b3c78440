"""Each fault of an endpoint: bounded time, a typed outcome, counted, no thread or socket left."""

from __future__ import annotations

import threading
import time

import pytest

from mnav_core.chat import ChatTurn, Fallback, ModelFault, ModelTally, TurnOutcome
from mnav_models.endpoint import Patience, parse_endpoint
from mnav_models.endpoint_model import EndpointModel, open_endpoint
from mnav_models.testing.behaviours import BEHAVIOURS, GOOD_CALL, Behaviour, body, events, failure, silence
from mnav_models.testing.fault_server import FaultServer
from mnav_models.testing.scripted_tools import TurnArguments, turn_request

QUICK = Patience(attempt_s=0.3, connect_s=0.3, backoff_s=0.01, backoff_max_s=0.02, max_response_bytes=200_000)
DEADLINE_S = 0.8
SLACK_S = 0.4

# The fault, how the turn ends, and what was counted how often; the server's answer is the same whenever it is asked.
EXPECTED = {
    "http-500": (TurnOutcome.SERVER_ERROR, ModelFault.SERVER_ERROR, 3),
    "http-503": (TurnOutcome.SERVER_ERROR, ModelFault.SERVER_ERROR, 3),
    # Retry-After is longer than the deadline: asking again within the turn would be rude and useless.
    "rate-limit": (TurnOutcome.RATE_LIMITED, ModelFault.RATE_LIMITED, 1),
    "silence": (TurnOutcome.TIMED_OUT, ModelFault.ATTEMPT_TIMED_OUT, 3),
    "cut-json": (TurnOutcome.INVALID_OUTPUT, ModelFault.CUT_OUTPUT, 2),
    "cut-body": (TurnOutcome.SERVER_ERROR, ModelFault.MALFORMED_BODY, 3),
    "cut-connection": (TurnOutcome.UNREACHABLE, ModelFault.CONNECTION_LOST, 3),
    "not-json": (TurnOutcome.SERVER_ERROR, ModelFault.MALFORMED_BODY, 3),
    "prose": (TurnOutcome.INVALID_OUTPUT, ModelFault.NO_TOOL_CALL, 2),
    "unknown-tool": (TurnOutcome.INVALID_OUTPUT, ModelFault.UNKNOWN_TOOL, 2),
    "wrong-type": (TurnOutcome.INVALID_OUTPUT, ModelFault.SCHEMA_VIOLATION, 2),
    "out-of-bounds": (TurnOutcome.INVALID_OUTPUT, ModelFault.SCHEMA_VIOLATION, 2),
    "endless-blanks": (TurnOutcome.INVALID_OUTPUT, ModelFault.ENDLESS_WHITESPACE, 2),
    "blanks-before-body": (TurnOutcome.TIMED_OUT, ModelFault.ATTEMPT_TIMED_OUT, 3),
    "half-streamed-call": (TurnOutcome.INVALID_OUTPUT, ModelFault.CUT_OUTPUT, 2),
    "reset": (TurnOutcome.UNREACHABLE, ModelFault.CONNECTION_LOST, 3),
    "hang-up": (TurnOutcome.UNREACHABLE, ModelFault.CONNECTION_LOST, 3),
    "empty": (TurnOutcome.INVALID_OUTPUT, ModelFault.EMPTY_OUTPUT, 2),
    "content-filter": (TurnOutcome.CONTENT_FILTERED, None, 0),
}


def asked(*behaviours: Behaviour, stream: bool = False, deadline_s: float = DEADLINE_S) -> tuple[ChatTurn, ModelTally]:
    """One turn against a server, everything closed and gone afterwards."""
    with FaultServer(behaviours) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"), patience=QUICK, stream=stream)
        start = time.monotonic()
        turn = model.ask(turn_request(), deadline_s)
        elapsed = time.monotonic() - start
        tally = model.tally()
        model.close()
        assert server.wait_until_no_connection(timeout_s=3.0)
    assert elapsed < deadline_s + SLACK_S
    return turn, tally


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_fault_ends_typed_in_time_and_counted(name: str, stream: bool) -> None:
    outcome, fault, times = EXPECTED[name]
    turn, tally = asked(BEHAVIOURS[name], stream=stream)
    assert turn.outcome is outcome, turn.reason
    assert turn.tool_calls == () and turn.answer is None
    assert turn.reason
    assert tally.outcomes == {outcome: 1}
    if fault is not None:
        assert tally.faults[fault] == times


def test_every_scripted_fault_is_tried() -> None:
    assert set(BEHAVIOURS) - set(EXPECTED) == {"text", "call", "split-call"}


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize(
    "name", ["http-500", "not-json", "reset", "prose", "out-of-bounds", "cut-json", "endless-blanks"]
)
def test_fault_that_passes_is_mended(name: str) -> None:
    turn, tally = asked(BEHAVIOURS[name], GOOD_CALL)
    assert turn.outcome is TurnOutcome.TOOL_CALLS
    assert turn.tool_calls[0].arguments == TurnArguments(angle_deg=30.0)
    assert tally.fallbacks.keys() & {Fallback.RETRIED, Fallback.REASKED}


@pytest.mark.usefixtures("nothing_left_behind")
def test_retry_after_is_waited_for() -> None:
    start = time.monotonic()
    turn, _ = asked(failure(429, retry_after="1"), GOOD_CALL, deadline_s=3.0)
    assert turn.outcome is TurnOutcome.TOOL_CALLS
    assert time.monotonic() - start >= 1.0


def test_exhausted_quota_is_not_retried() -> None:
    turn, tally = asked(failure(429, code="insufficient_quota"))
    assert turn.outcome is TurnOutcome.RATE_LIMITED and turn.usage.attempts == 1
    assert Fallback.RETRIED not in tally.fallbacks


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (400, "", TurnOutcome.BAD_REQUEST),
        (404, "model_not_found", TurnOutcome.BAD_REQUEST),
        (401, "", TurnOutcome.UNAUTHORIZED),
        (403, "", TurnOutcome.UNAUTHORIZED),
        (413, "", TurnOutcome.REQUEST_TOO_LARGE),
        (400, "context_length_exceeded", TurnOutcome.REQUEST_TOO_LARGE),
        (307, "", TurnOutcome.BAD_REQUEST),
    ],
)
def test_what_will_not_pass_is_asked_once(status: int, code: str, outcome: TurnOutcome) -> None:
    turn, _ = asked(failure(status, code=code))
    assert turn.outcome is outcome and turn.usage.attempts == 1
    assert str(status) in turn.reason


@pytest.mark.usefixtures("nothing_left_behind")
def test_call_split_over_chunks_is_whole() -> None:
    turn, _ = asked(BEHAVIOURS["split-call"], stream=True)
    assert turn.tool_calls[0].arguments == TurnArguments(angle_deg=30.0)
    assert turn.faults == () and turn.fallbacks == ()


def test_error_inside_a_good_status_is_an_error() -> None:
    turn, tally = asked(body(b'{"error": {"message": "out of memory"}}'))
    assert turn.outcome is TurnOutcome.SERVER_ERROR and tally.faults[ModelFault.SERVER_ERROR] == 3
    assert "out of memory" in turn.reason


def test_reply_beyond_the_byte_limit_is_dropped() -> None:
    turn, tally = asked(body(b'{"padding": "' + b"x" * 400_000 + b'"}'))
    assert turn.outcome is TurnOutcome.SERVER_ERROR
    assert tally.faults == {ModelFault.RESPONSE_TOO_LARGE: 1}
    assert turn.usage.response_bytes < 400_000


def test_event_line_without_end_is_bounded() -> None:
    turn, tally = asked(body(b"data: " + b"x" * 400_000, "text/event-stream"), stream=True)
    assert turn.outcome is TurnOutcome.SERVER_ERROR and tally.faults == {ModelFault.RESPONSE_TOO_LARGE: 1}


def test_stream_without_events_is_malformed() -> None:
    turn, _ = asked(events([], finish=None, done=False), stream=True)
    assert turn.outcome is TurnOutcome.SERVER_ERROR


@pytest.mark.usefixtures("nothing_left_behind")
def test_nobody_listens() -> None:
    with FaultServer([GOOD_CALL]) as server:
        url = server.url
    model = open_endpoint(parse_endpoint(f"{url}#scripted"), patience=QUICK)
    turn = model.ask(turn_request(), DEADLINE_S)
    model.close()
    assert turn.outcome is TurnOutcome.UNREACHABLE and ModelFault.CONNECTION_LOST in turn.faults


def test_unknown_host_is_unreachable() -> None:
    model = open_endpoint(parse_endpoint("http://no-such-host.invalid/v1#m"), patience=QUICK)
    assert model.ask(turn_request(), 5.0).outcome is TurnOutcome.UNREACHABLE
    model.close()


@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize("name", ["silence", "blanks-before-body"])
def test_cancelling_from_another_thread_ends_the_wait(name: str) -> None:
    with FaultServer([BEHAVIOURS[name]]) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"), patience=Patience(attempt_s=20.0))
        cancel = threading.Event()
        turns: list[ChatTurn] = []
        asking = threading.Thread(target=lambda: turns.append(model.ask(turn_request(), 20.0, cancel)))
        asking.start()
        assert server.wait_until_seen(1, timeout_s=3.0)
        start = time.monotonic()
        cancel.set()
        asking.join(timeout=3.0)
        # 0.2 s as promised, and what a busy machine takes to wake two threads.
        assert time.monotonic() - start < 0.2 + 0.2
        assert turns[0].outcome is TurnOutcome.CANCELLED
        # Calling off says nothing about the endpoint.
        assert model.tally().faults == {}
        model.close()


@pytest.mark.usefixtures("nothing_left_behind")
def test_cancelling_ends_the_pause_between_attempts() -> None:
    with FaultServer([failure(503, retry_after="20")]) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"), patience=Patience())
        cancel = threading.Event()
        turns: list[ChatTurn] = []
        asking = threading.Thread(target=lambda: turns.append(model.ask(turn_request(), 60.0, cancel)))
        asking.start()
        assert server.wait_until_seen(1, timeout_s=3.0)
        cancel.set()
        asking.join(timeout=3.0)
        assert not asking.is_alive() and turns[0].outcome is TurnOutcome.CANCELLED
        model.close()


@pytest.mark.usefixtures("nothing_left_behind")
def test_closing_ends_running_turns() -> None:
    with FaultServer([silence()]) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"))
        turns: list[ChatTurn] = []
        asking = threading.Thread(target=lambda: turns.append(model.ask(turn_request(), 20.0)))
        asking.start()
        assert server.wait_until_seen(1, timeout_s=3.0)
        model.close()
        asking.join(timeout=3.0)
        assert turns[0].outcome is TurnOutcome.CANCELLED


def test_endpoint_that_keeps_failing_is_left_alone_and_tried_again() -> None:
    patience = Patience(attempts=1, breaker_failures=3, breaker_cooldown_s=0.3)
    with FaultServer([failure(500)] * 3 + [GOOD_CALL]) as server:
        model: EndpointModel = open_endpoint(parse_endpoint(f"{server.url}#scripted"), patience=patience)
        outcomes = [model.ask(turn_request(), 1.0).outcome for _ in range(4)]
        assert outcomes == [TurnOutcome.SERVER_ERROR] * 3 + [TurnOutcome.CIRCUIT_OPEN]
        assert len(server.seen) == 3
        refused = model.ask(turn_request(), 1.0)
        assert refused.retry_after_s is not None and 0.0 < refused.retry_after_s <= 0.3
        limit = time.monotonic() + 3.0
        outcome = TurnOutcome.CIRCUIT_OPEN
        while outcome is TurnOutcome.CIRCUIT_OPEN and time.monotonic() < limit:
            outcome = model.ask(turn_request(), 1.0).outcome
        assert outcome is TurnOutcome.TOOL_CALLS
        model.close()


def test_request_beyond_the_limit_is_not_sent() -> None:
    with FaultServer([GOOD_CALL]) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"), patience=Patience(max_request_bytes=10_000))
        turn = model.ask(turn_request("x" * 20_000), 1.0)
        assert turn.outcome is TurnOutcome.REQUEST_TOO_LARGE and server.seen == []
        model.close()


def test_many_threads_share_one_model() -> None:
    with FaultServer([GOOD_CALL], keep_bodies=False) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"))
        turns: list[ChatTurn] = []
        threads = [threading.Thread(target=lambda: turns.append(model.ask(turn_request(), 10.0))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=10.0)
        assert [turn.outcome for turn in turns] == [TurnOutcome.TOOL_CALLS] * 8
        assert model.tally().outcomes == {TurnOutcome.TOOL_CALLS: 8}
        model.close()
