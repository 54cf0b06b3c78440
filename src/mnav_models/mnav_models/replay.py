"""Recorded turns: written once beside a real model, played back where there is none."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from mnav_core.chat import (
    ChatModel,
    ChatRequest,
    ChatTurn,
    Fallback,
    FinishReason,
    ModelFault,
    ModelTally,
    ToolArguments,
    ToolCall,
    ToolSchema,
    TurnOutcome,
    Usage,
)
from mnav_core.errors import UsageError
from mnav_models.request_digest import canonical, digest, first_difference
from mnav_models.tool_validation import RawCall, parse_arguments, validate_calls
from mnav_models.turn_tally import TurnTally

FORMAT = "mnav-turns/1"


@dataclass
class RecordingModel:
    """Asks `inner` and appends every turn to a file, one JSON object a line.

    Made by `record`. Turns are numbered in the order they end.
    """

    inner: ChatModel
    _file: TextIO
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """The recorded model's name."""
        return self.inner.name

    def ask(self, request: ChatRequest, deadline_s: float, cancel: threading.Event | None = None) -> ChatTurn:
        """As the recorded model answers."""
        turn = self.inner.ask(request, deadline_s, cancel)
        entry = {"request": canonical(request), "digest": digest(request), "turn": turn_to_json(turn)}
        with self._lock:
            self._file.write(json.dumps(entry, ensure_ascii=True) + "\n")
            self._file.flush()
        return turn

    def tally(self) -> ModelTally:
        """The recorded model's counts."""
        return self.inner.tally()

    def close(self) -> None:
        """Close the recorded model and the file."""
        self.inner.close()
        self._file.close()


def record(inner: ChatModel, path: Path) -> RecordingModel:
    """A model that records `inner` into a new file. Raises UsageError where the file cannot be made or exists."""
    try:
        file = path.open("x", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"recording {path}: {error.strerror}; a new file in an existing folder is needed") from error
    file.write(json.dumps({"format": FORMAT, "model": inner.name}) + "\n")
    return RecordingModel(inner, file)


@dataclass
class ReplayModel:
    """Plays recorded turns in order.

    A request that differs from the recorded one ends as REPLAY_MISMATCH, saying where. Made by `open_replay`.
    """

    path: Path
    recorded_name: str
    entries: tuple[dict[str, Any], ...]
    _tally: TurnTally = field(default_factory=TurnTally)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next: int = 0
    _closed: bool = False

    @property
    def name(self) -> str:
        """replay:FILE of the recorded model."""
        return f"replay:{self.path.name} of {self.recorded_name}"

    def ask(self, request: ChatRequest, deadline_s: float, cancel: threading.Event | None = None) -> ChatTurn:
        """The next recorded turn, if it was recorded for this very request; a mismatch does not use it up."""
        if not deadline_s > 0.0:
            raise UsageError(f"chat deadline: {deadline_s} s, allowed is > 0")
        if self._closed:
            raise UsageError(f"chat model {self.name}: closed")
        if cancel is not None and cancel.is_set():
            return self._tally.counted(ChatTurn(TurnOutcome.CANCELLED, reason="cancelled by the caller"))
        return self._tally.counted(self._play(request))

    def _play(self, request: ChatRequest) -> ChatTurn:
        with self._lock:
            if self._next >= len(self.entries):
                reason = f"{self.path.name} holds {len(self.entries)} turns, and one more was asked for"
                return ChatTurn(TurnOutcome.REPLAY_MISMATCH, reason=reason)
            entry = self.entries[self._next]
            if entry["digest"] != digest(request):
                asked = json.loads(json.dumps(canonical(request)))
                where = first_difference(entry["request"], asked) or "request: the recording's own digest is wrong"
                return ChatTurn(
                    TurnOutcome.REPLAY_MISMATCH, reason=f"turn {self._next + 1} of {self.path.name}: {where}"
                )
            self._next += 1
            try:
                return turn_from_json(entry["turn"], request)
            except UsageError as error:
                reason = f"turn {self._next} of {self.path.name}: {error}"
                return ChatTurn(TurnOutcome.INVALID_OUTPUT, faults=(ModelFault.SCHEMA_VIOLATION,), reason=reason)

    def tally(self) -> ModelTally:
        """Counts of all turns so far."""
        return self._tally.so_far()

    def close(self) -> None:
        """Nothing more can be asked."""
        self._closed = True


def open_replay(path: Path) -> ReplayModel:
    """The turns of a recording. Raises UsageError, naming file and line, for anything that is not one."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"replay file {path}: {error.__class__.__name__}; a recording of turns is needed") from error
    header, *entries = [_entry(path, number, line) for number, line in enumerate(lines, 1)] or [{}]
    if header.get("format") != FORMAT:
        raise UsageError(f"replay file {path}: format {header.get('format')!r}, allowed is {FORMAT!r}")
    for number, entry in enumerate(entries, 2):
        if not {"request", "digest", "turn"} <= set(entry) or not isinstance(entry["turn"], dict):
            raise UsageError(f"replay file {path}, line {number}: request, digest and turn are needed")
    return ReplayModel(path, str(header.get("model", "")), tuple(entries))


def _entry(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"replay file {path}, line {number}: not JSON") from error
    if not isinstance(value, dict):
        raise UsageError(f"replay file {path}, line {number}: not a JSON object")
    return value


def turn_to_json(turn: ChatTurn) -> dict[str, Any]:
    """A turn as plain JSON values."""
    return {
        "outcome": turn.outcome.value,
        "text": turn.text,
        "tool_calls": [[c.call_id, c.name, c.arguments.model_dump_json()] for c in turn.tool_calls],
        "answer": None if turn.answer is None else turn.answer.model_dump_json(),
        "finish_reason": turn.finish_reason.value,
        "usage": vars(turn.usage),
        "faults": [fault.value for fault in turn.faults],
        "fallbacks": [fallback.value for fallback in turn.fallbacks],
        "reason": turn.reason,
        "retry_after_s": turn.retry_after_s,
    }


def turn_from_json(value: dict[str, Any], request: ChatRequest) -> ChatTurn:
    """A turn from plain JSON values, its arguments validated anew:

    a recording may have been edited. Raises UsageError.
    """
    try:
        calls = _calls([RawCall(*item) for item in value["tool_calls"]], request.tools)
        return ChatTurn(
            TurnOutcome(value["outcome"]),
            value["text"],
            calls,
            _answer(value["answer"], request.answer),
            FinishReason(value["finish_reason"]),
            Usage(**value["usage"]),
            tuple(ModelFault(name) for name in value["faults"]),
            tuple(Fallback(name) for name in value["fallbacks"]),
            value["reason"],
            value["retry_after_s"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"recorded turn: {error.__class__.__name__}: {error}") from error


def _calls(raw: list[RawCall], tools: tuple[ToolSchema, ...]) -> tuple[ToolCall, ...]:
    verdict = validate_calls(raw, tools, max(1, len(raw)))
    if verdict.problems:
        raise ValueError("; ".join(verdict.problems))
    return verdict.calls


def _answer(text: str | None, schema: type[ToolArguments] | None) -> ToolArguments | None:
    if text is None:
        return None
    if schema is None:
        raise ValueError("an answer was recorded, none is asked for")
    parsed = parse_arguments(text, schema)
    if parsed.arguments is None:
        raise ValueError(parsed.problem)
    return parsed.arguments
