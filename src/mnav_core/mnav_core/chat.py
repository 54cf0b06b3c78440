"""Records and the seam between a mind and a language or vision-language model."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from mnav_core.errors import UsageError

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ToolArguments(BaseModel):
    """What a model may fill in.

    Subclass with typed, bounded fields: nothing is coerced, nothing unknown is accepted, no NaN or infinity.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Role(Enum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@functools.lru_cache(maxsize=256)
def json_schema(arguments: type[ToolArguments]) -> dict[str, Any]:
    """The JSON schema of `arguments`; not to be changed. Made once a type, because each turn sends it."""
    return arguments.model_json_schema()


@dataclass(frozen=True)
class TextPart:
    """A piece of text."""

    text: str


@dataclass(frozen=True)
class ImagePart:
    """A JPEG of `width` x `height` pixels; `label` is the text that the model reads beside it."""

    jpeg: bytes = field(repr=False)
    image_id: str
    label: str
    width: int
    height: int


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, its arguments validated against the tool's schema."""

    call_id: str
    name: str
    arguments: ToolArguments


@dataclass(frozen=True)
class ChatMessage:
    """One message. `tool_calls` belongs to an assistant; `call_id` and `tool_name` say which call a tool answers."""

    role: Role
    parts: tuple[TextPart | ImagePart, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool_name: str = ""

    @property
    def text(self) -> str:
        """The text parts, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The image parts, in order."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


def system_message(text: str) -> ChatMessage:
    """What the model is and must keep to."""
    return ChatMessage(Role.SYSTEM, (TextPart(text),))


def user_message(*parts: str | TextPart | ImagePart) -> ChatMessage:
    """What the model is told or shown."""
    return ChatMessage(Role.USER, tuple(TextPart(part) if isinstance(part, str) else part for part in parts))


def tool_message(call: ToolCall, *parts: str | TextPart | ImagePart) -> ChatMessage:
    """What the call of a tool returned."""
    content = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
    return ChatMessage(Role.TOOL, content, call_id=call.call_id, tool_name=call.name)


@dataclass(frozen=True)
class ToolSchema:
    """A tool that the model may call. Raises UsageError for a name that endpoints refuse."""

    name: str
    description: str
    arguments: type[ToolArguments]

    def __post_init__(self) -> None:
        if not TOOL_NAME.fullmatch(self.name):
            raise UsageError(f"tool name {self.name!r}: allowed are 1 to 64 letters, digits, '_' and '-'")

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return json_schema(self.arguments)


class ToolUse(Enum):
    """Whether a turn must call a tool."""

    AUTO = "auto"
    REQUIRED = "required"


@dataclass(frozen=True)
class ChatRequest:
    """One turn to be asked for.

    With `tools`, calls come back (at most `max_calls`, further ones are dropped and counted). With `answer`, one JSON
    object of that type.
    With neither, text. `temperature` None leaves sampling to the endpoint. Raises UsageError for a request that no
    endpoint can serve.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSchema, ...] = ()
    tool_use: ToolUse = ToolUse.AUTO
    answer: type[ToolArguments] | None = None
    max_calls: int = 1
    max_output_tokens: int = 1024
    temperature: float | None = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        names = [tool.name for tool in self.tools]
        if not self.messages:
            raise UsageError("chat request: no messages, at least one is needed")
        if len(set(names)) != len(names):
            raise UsageError(f"chat request: tool names {names} are not unique")
        if self.tools and self.answer is not None:
            raise UsageError("chat request: tools and answer are both given, one of them is allowed")
        if self.tool_use is ToolUse.REQUIRED and not self.tools:
            raise UsageError("chat request: tool_use is required but there are no tools")
        if self.max_calls < 1 or self.max_output_tokens < 1:
            raise UsageError(
                f"chat request: max_calls {self.max_calls} and max_output_tokens {self.max_output_tokens} must be >= 1"
            )


class FinishReason(Enum):
    """Why the endpoint says that the model stopped."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    MISSING = "missing"
    UNKNOWN = "unknown"


class TurnOutcome(Enum):
    """How a turn ended. Only the first three carry something to act on."""

    TOOL_CALLS = "tool_calls"
    ANSWER = "answer"
    TEXT = "text"
    INVALID_OUTPUT = "invalid_output"
    CONTENT_FILTERED = "content_filtered"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNREACHABLE = "unreachable"
    CIRCUIT_OPEN = "circuit_open"
    UNAUTHORIZED = "unauthorized"
    BAD_REQUEST = "bad_request"
    REQUEST_TOO_LARGE = "request_too_large"
    REPLAY_MISMATCH = "replay_mismatch"

    @property
    def usable(self) -> bool:
        """Whether the turn carries calls, an answer or text."""
        return self in (TurnOutcome.TOOL_CALLS, TurnOutcome.ANSWER, TurnOutcome.TEXT)


class ModelFault(Enum):
    """What went wrong on the way, whether or not it was mended."""

    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    ATTEMPT_TIMED_OUT = "attempt_timed_out"
    CONNECTION_LOST = "connection_lost"
    MALFORMED_BODY = "malformed_body"
    RESPONSE_TOO_LARGE = "response_too_large"
    ENDLESS_WHITESPACE = "endless_whitespace"
    CUT_OUTPUT = "cut_output"
    EMPTY_OUTPUT = "empty_output"
    NO_TOOL_CALL = "no_tool_call"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_JSON = "invalid_json"
    SCHEMA_VIOLATION = "schema_violation"
    UNKNOWN_FINISH_REASON = "unknown_finish_reason"


class Fallback(Enum):
    """What was done that a clean turn does not need."""

    RETRIED = "retried"
    REASKED = "reasked"
    REPAIRED_JSON = "repaired_json"
    CALL_READ_FROM_TEXT = "call_read_from_text"
    TOOLS_SENT_AS_TEXT = "tools_sent_as_text"
    DUPLICATE_CALL_DROPPED = "duplicate_call_dropped"
    EXTRA_CALL_DROPPED = "extra_call_dropped"
    CALL_ID_ASSIGNED = "call_id_assigned"
    IMAGES_WITHHELD = "images_withheld"


@dataclass(frozen=True)
class Usage:
    """What a turn cost: tokens as the endpoint says (0 where it says nothing), HTTP attempts, bytes on the wire, wall
    seconds."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    latency_s: float = 0.0


@dataclass(frozen=True)
class ChatTurn:
    """One validated turn. `reason` is for people and is never parsed; `retry_after_s` is what a rate limit asked
    for."""

    outcome: TurnOutcome
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    answer: ToolArguments | None = None
    finish_reason: FinishReason = FinishReason.MISSING
    usage: Usage = field(default_factory=Usage)
    faults: tuple[ModelFault, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    reason: str = ""
    retry_after_s: float | None = None


@dataclass(frozen=True)
class ModelTally:
    """How many turns ended how, and what happened on the way, since the model was opened."""

    outcomes: Mapping[TurnOutcome, int]
    faults: Mapping[ModelFault, int]
    fallbacks: Mapping[Fallback, int]


class ChatModel(Protocol):
    """Messages and tool schemas in, one validated turn out.

    Never raises for what a model or an endpoint does; safe to call from many threads.
    """

    @property
    def name(self) -> str:
        """Which model this is, for manifests; carries no secret."""
        ...

    def ask(self, request: ChatRequest, deadline_s: float, cancel: threading.Event | None = None) -> ChatTurn:
        """One turn within `deadline_s` seconds from now (> 0, else UsageError), attempts and re-asks included.

        Setting `cancel` from any thread ends the turn as CANCELLED within 0.2 s. Raises UsageError once closed.
        """
        ...

    def tally(self) -> ModelTally:
        """Counts of all turns so far."""
        ...

    def close(self) -> None:
        """Free connections and files. Closing twice is allowed."""
        ...
