"""What an endpoint answered: a whole body or a stream of events, read without trust."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from mnav_core.chat import FinishReason
from mnav_models.tool_validation import RawCall

MAX_BLANK_RUN = 2_000
MAX_CALLS = 32


class MalformedReply(Exception):
    """The body is not a chat completion; the message says why in one line."""


class ErrorReply(Exception):
    """A body with status 200 that carries an error instead of a completion."""


@dataclass(frozen=True)
class Reply:
    """What the model wrote.

    `complete` is False where the stream ended early; `runaway` where it wrote blanks without end.
    """

    text: str
    calls: tuple[RawCall, ...]
    finish_reason: FinishReason
    refusal: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    complete: bool = True
    runaway: bool = False


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Function(_Lenient):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(_Lenient):
    id: str | None = None
    index: int | None = None
    function: _Function | None = None


class _Message(_Lenient):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(_Lenient):
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: str | None = None


class _Usage(_Lenient):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(_Lenient):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: dict[str, Any] | str | None = None


def read_body(body: bytes) -> Reply:
    """The reply in a whole body. Raises MalformedReply or ErrorReply."""
    completion = _completion(body)
    if not completion.choices or completion.choices[0].message is None:
        raise MalformedReply("no choices")
    choice = completion.choices[0]
    assembly = _Assembly()
    assembly.take(completion, choice.message, choice.finish_reason)
    return assembly.reply(ended=True)


def read_events(chunks: Iterable[bytes]) -> Reply:
    """The reply in a stream of server-sent events, stopping early where the model has run away.

    Raises MalformedReply or ErrorReply.
    """
    assembly = _Assembly()
    for data in _event_data(chunks):
        if data == b"[DONE]":
            assembly.done = True
            break
        completion = _completion(data)
        choice = completion.choices[0] if completion.choices else _Choice()
        assembly.take(completion, choice.delta or choice.message, choice.finish_reason)
        if assembly.ran_away():
            break
    if not assembly.events:
        raise MalformedReply("no events")
    return assembly.reply(ended=assembly.done or assembly.finish is not None)


def _completion(body: bytes) -> _Completion:
    try:
        completion = _Completion.model_validate(json.loads(body.decode("utf-8")))
    except ValidationError as error:
        raise MalformedReply(f"not a chat completion ({error.error_count()} fields are wrong)") from error
    except (ValueError, RecursionError) as error:
        raise MalformedReply(f"not JSON: {str(error).splitlines()[0][:120]}") from error
    if completion.error:
        raise ErrorReply(json.dumps(completion.error)[:300])
    return completion


def _event_data(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each event. Lines may be split anywhere between chunks; comments and other fields are passed over."""
    pending = b""
    for chunk in chunks:
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
    if pending.startswith(b"data:"):
        yield pending[5:].strip()


@dataclass
class _Assembly:
    """Puts a reply together from one message or from many deltas."""

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: list[dict[str, str]] = field(default_factory=list)
    by_index: dict[int, int] = field(default_factory=dict)
    finish: str | None = None
    usage: _Usage = field(default_factory=_Usage)
    events: int = 0
    done: bool = False
    blank_run: int = 0

    def take(self, completion: _Completion, message: _Message | None, finish_reason: str | None) -> None:
        """Add one message or delta."""
        self.events += 1
        self.usage = completion.usage or self.usage
        self.finish = finish_reason or self.finish
        if message is None:
            return
        self._add(self.text, _text_of(message.content))
        self.refusal.append(message.refusal or "")
        for call in message.tool_calls or ():
            self._take_call(call)

    def _add(self, pieces: list[str], piece: str) -> None:
        if piece:
            pieces.append(piece)
            self.blank_run = trailing_blanks(piece) + (self.blank_run if piece.isspace() else 0)

    def _take_call(self, call: _Call) -> None:
        function = call.function or _Function()
        index = call.index if call.index is not None else len(self.calls) - (0 if call.id or function.name else 1)
        at = self.by_index.get(index)
        # Some servers number every call 0; a new id then starts a new call.
        if at is None or (call.id and self.calls[at]["id"] and call.id != self.calls[at]["id"]):
            if len(self.calls) == MAX_CALLS:
                raise MalformedReply(f"more than {MAX_CALLS} tool calls")
            at = self.by_index[index] = len(self.calls)
            self.calls.append({"id": "", "name": "", "arguments": ""})
        entry = self.calls[at]
        entry["id"] = entry["id"] or call.id or ""
        if function.name and function.name != entry["name"]:
            entry["name"] += function.name
        arguments = function.arguments
        pieces: list[str] = []
        self._add(
            pieces, arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
        )
        entry["arguments"] += "".join(pieces)

    def ran_away(self) -> bool:
        """Whether the model writes blanks and nothing else."""
        return self.blank_run > MAX_BLANK_RUN

    def reply(self, ended: bool) -> Reply:
        """What has come together."""
        finish = _finish(self.finish)
        whole = ended and finish is not FinishReason.LENGTH and not self.ran_away()
        calls = tuple(
            # Only the last call can have been cut.
            RawCall(entry["id"], entry["name"], entry["arguments"], whole or number + 1 < len(self.calls))
            for number, entry in enumerate(self.calls)
        )
        return Reply(
            text="".join(self.text),
            calls=calls,
            finish_reason=finish,
            refusal="".join(self.refusal),
            prompt_tokens=max(0, self.usage.prompt_tokens or 0),
            completion_tokens=max(0, self.usage.completion_tokens or 0),
            complete=whole,
            runaway=self.ran_away(),
        )


def trailing_blanks(text: str) -> int:
    """Number of blanks at the end of a text."""
    return len(text) - len(text.rstrip())


def _text_of(content: str | list[dict[str, Any]] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(text for part in content if isinstance(text := part.get("text"), str))


def _finish(raw: str | None) -> FinishReason:
    if raw is None or raw == "":
        return FinishReason.MISSING
    aliases = {"function_call": FinishReason.TOOL_CALLS, "eos": FinishReason.STOP, "max_tokens": FinishReason.LENGTH}
    known = {reason.value: reason for reason in FinishReason}
    return known.get(raw) or aliases.get(raw, FinishReason.UNKNOWN)
