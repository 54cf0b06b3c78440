"""How the scripted server answers one request: well, or wrongly in one of the ways that endpoints are known for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Exchange(Protocol):
    """One request and the connection to answer it on."""

    request: dict[str, Any]

    def headers(self, status: int, length: int | None, content_type: str, extra: dict[str, str]) -> None:
        """Send the status and the headers; a body of unknown length is sent in chunks."""

    def write(self, data: bytes) -> bool:
        """Send some of the body; False once the client has gone."""

    def end(self) -> None:
        """End the body."""

    def wait(self, seconds: float) -> bool:
        """Say nothing for a while; False once the client has gone or the server stops."""

    def close(self) -> None:
        """Close the connection after this answer."""

    def reset(self) -> None:
        """Break the connection off."""


Behaviour = Callable[[Exchange], None]
SILENCE_S = 30.0
ENDLESS_LIMIT = 200_000


def completion(
    text: str | None = None,
    calls: Sequence[tuple[str, str, str]] = (),
    finish: str | None = None,
    usage: tuple[int, int] = (10, 5),
) -> dict[str, Any]:
    """A chat completion; `calls` are (id, name, arguments as written)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in calls
        ]
    reason = finish or ("tool_calls" if calls else "stop")
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
    }


def answer(value: object, status: int = 200, extra: dict[str, str] | None = None) -> Behaviour:
    """A JSON body."""

    def behave(exchange: Exchange) -> None:
        data = json.dumps(value).encode()
        exchange.headers(status, len(data), "application/json", extra or {})
        exchange.write(data)

    return behave


def body(data: bytes, content_type: str = "application/json", announced: int | None = None) -> Behaviour:
    """These very bytes; with `announced` longer than them, the connection ends before the body does."""

    def behave(exchange: Exchange) -> None:
        exchange.headers(200, len(data) if announced is None else announced, content_type, {})
        exchange.write(data)
        if announced is not None:
            exchange.close()

    return behave


def says(text: str, finish: str | None = None) -> Behaviour:
    """A completion of text."""
    return answer(completion(text, finish=finish))


def calls(*written: tuple[str, str, str], text: str | None = None, finish: str | None = None) -> Behaviour:
    """A completion of tool calls (id, name, arguments as written)."""
    return answer(completion(text, written, finish))


def failure(status: int, message: str = "scripted failure", code: str = "", retry_after: str = "") -> Behaviour:
    """An error in the protocol's form."""
    error = {"error": {"message": message, "type": "scripted", "code": code or None}}
    return answer(error, status, {"Retry-After": retry_after} if retry_after else None)


def silence(seconds: float = SILENCE_S) -> Behaviour:
    """Nothing at all for a while, then an answer."""

    def behave(exchange: Exchange) -> None:
        if exchange.wait(seconds):
            says("late")(exchange)

    return behave


def reset(exchange: Exchange) -> None:
    """The connection breaks before an answer."""
    exchange.reset()


def hang_up(exchange: Exchange) -> None:
    """The connection ends in order, before an answer."""
    exchange.close()


def events(
    chunks: Sequence[dict[str, Any]], finish: str | None = "tool_calls", done: bool = True, cut_every: int = 0
) -> Behaviour:
    """A stream of deltas; `cut_every` bytes the transport starts a new chunk, wherever that falls."""

    def behave(exchange: Exchange) -> None:
        exchange.headers(200, None, "text/event-stream", {})
        listed: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in chunks]
        if finish is not None:
            listed.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in listed)
        data += b"data: [DONE]\n\n" if done else b""
        step = cut_every or max(1, len(data))
        for start in range(0, len(data), step):
            if not exchange.write(data[start : start + step]):
                return
        exchange.end()

    return behave


def call_deltas(call_id: str, name: str, pieces: Sequence[str]) -> list[dict[str, Any]]:
    """The deltas of one call whose arguments come in pieces."""
    first = {"index": 0, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    rest = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    return [{"role": "assistant", "tool_calls": [first]}, *rest]


def endless_blanks(exchange: Exchange) -> None:
    """A stream that starts a call and then writes blanks until the client goes or a bound of ENDLESS_LIMIT events."""
    exchange.headers(200, None, "text/event-stream", {})
    deltas = call_deltas("call_1", "turn", ['{"angle_deg": '])
    for number in range(ENDLESS_LIMIT):
        delta = (
            deltas[number]
            if number < len(deltas)
            else {"tool_calls": [{"index": 0, "function": {"arguments": " \n\t  "}}]}
        )
        event = {"choices": [{"index": 0, "delta": delta}]}
        if not exchange.write(b"data: " + json.dumps(event).encode() + b"\n\n"):
            return


def blanks_before_body(exchange: Exchange) -> None:
    """A body that begins with blanks, slowly and without end."""
    exchange.headers(200, None, "application/json", {})
    for _ in range(ENDLESS_LIMIT):
        if not exchange.write(b" " * 16) or not exchange.wait(0.02):
            return


def echoes_key(exchange: Exchange) -> None:
    """A refusal that repeats the secret it was sent, as some clouds do."""
    headers = getattr(getattr(exchange, "handler", None), "headers", {})
    failure(401, f"Incorrect API key provided: {headers.get('Authorization', '')}")(exchange)


GOOD_CALL = calls(("call_1", "turn", '{"angle_deg": 30.0}'))
BEHAVIOURS: dict[str, Behaviour] = {
    "text": says("The kitchen is ahead."),
    "call": GOOD_CALL,
    "http-500": failure(500),
    "http-503": failure(503),
    "rate-limit": failure(429, retry_after="1"),
    "silence": silence(),
    "cut-json": calls(("call_1", "turn", '{"angle_deg": 3'), finish="length"),
    "cut-body": body(json.dumps(completion("half"))[:60].encode()),
    "cut-connection": body(json.dumps(completion("half")).encode(), announced=10_000),
    "not-json": body(b"<html>Bad gateway</html>", "text/html"),
    "prose": says("I would turn left by about thirty degrees."),
    "unknown-tool": calls(("call_1", "fly", "{}")),
    "wrong-type": calls(("call_1", "turn", '{"angle_deg": "30"}')),
    "out-of-bounds": calls(("call_1", "turn", '{"angle_deg": 1000.0}')),
    "endless-blanks": endless_blanks,
    "blanks-before-body": blanks_before_body,
    "split-call": events(call_deltas("call_1", "turn", ['{"an', "gle_", 'deg"', ": 3", "0.0}"]), cut_every=7),
    "half-streamed-call": events(call_deltas("call_1", "turn", ['{"angle_deg": 3']), finish=None, done=False),
    "reset": reset,
    "hang-up": hang_up,
    "content-filter": answer(completion("", finish="content_filter")),
    "empty": says(""),
}
