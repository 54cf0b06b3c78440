"""A conversation whose requests stay bounded however long it lasts, while goals and evidence stay whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from mnav_core.chat import (
    ChatMessage,
    ChatTurn,
    ImagePart,
    Role,
    TextPart,
    ToolCall,
    system_message,
    tool_message,
    user_message,
)
from mnav_core.errors import UsageError
from mnav_models.compaction import exchange_line, text_length, with_shortened_text, without_media

MAX_GOALS = 32
MAX_EXCHANGE_MESSAGES = 64
GOALS = "Goals:"
EVIDENCE = "Evidence so far:"
EARLIER = "Earlier turns, shortened:"


@dataclass(frozen=True)
class ContextBudget:
    """What a request may carry:

    images; newest exchanges word for word (turns, characters); older ones a line each; evidence; goals.
    """

    max_images: int = 8
    recent_turns: int = 24
    recent_chars: int = 12_000
    message_chars: int = 4_000
    earlier_chars: int = 4_000
    evidence_items: int = 64
    evidence_chars: int = 400
    goal_chars: int = 2_000

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            least = 0 if name in ("max_images", "earlier_chars") else 100 if name.endswith("_chars") else 1
            if getattr(self, name) < least:
                raise UsageError(f"context budget: {name} is {getattr(self, name)}, allowed is >= {least}")


class NoteOutcome(Enum):
    """What became of a piece of evidence. It is never shortened: what does not fit is refused."""

    ADDED = "added"
    REPLACED = "replaced"
    REFUSED_FULL = "refused_full"
    REFUSED_TOO_LONG = "refused_too_long"


@dataclass
class _Exchange:
    number: int
    messages: list[ChatMessage] = field(default_factory=list)


class Conversation:
    """Grows by observations, turns and results; `messages` renders the next request.

    An image leaves once the model has answered after it and a newer one has come (SuperNav, "media-only pruning"), in
    user and tool messages
    alike. Images of goals stay.
    """

    def __init__(self, system: str, budget: ContextBudget | None = None) -> None:
        self._system = system
        self._budget = budget or ContextBudget()
        self._goals: dict[str, tuple[TextPart | ImagePart, ...]] = {}
        self._evidence: dict[str, str] = {}
        self._exchanges: deque[_Exchange] = deque()
        self._earlier: deque[str] = deque()
        self._left_out = 0
        self._left_out_observations = 0
        self._turns = 0

    @property
    def evidence(self) -> dict[str, str]:
        """What has been noted, by key."""
        return dict(self._evidence)

    def set_goal(self, goal_id: str, text: str, images: Sequence[ImagePart] = ()) -> None:
        """Add a goal or replace it, always sent whole. Raises UsageError where it exceeds the budget."""
        others = [parts for key, parts in self._goals.items() if key != goal_id]
        pinned = len(images) + sum(isinstance(part, ImagePart) for parts in others for part in parts)
        if len(text) > self._budget.goal_chars or len(others) >= MAX_GOALS or pinned > self._budget.max_images:
            raise UsageError(
                f"goal {goal_id!r}: {len(text)} characters, {len(others) + 1} goals, {pinned} images; "
                f"allowed are {self._budget.goal_chars}, {MAX_GOALS}, {self._budget.max_images}"
            )
        self._goals[goal_id] = (TextPart(f"- {goal_id}: {text}"), *images)

    def drop_goal(self, goal_id: str) -> None:
        """Forget a goal; an unknown one is none."""
        self._goals.pop(goal_id, None)

    def note_evidence(self, key: str, text: str) -> NoteOutcome:
        """Keep a finding, in all requests to come, under a key that a newer finding may reuse."""
        if len(text) > self._budget.evidence_chars:
            return NoteOutcome.REFUSED_TOO_LONG
        known = key in self._evidence
        if not known and len(self._evidence) >= self._budget.evidence_items:
            return NoteOutcome.REFUSED_FULL
        self._evidence[key] = text
        return NoteOutcome.REPLACED if known else NoteOutcome.ADDED

    def retract_evidence(self, key: str) -> None:
        """Forget a finding; an unknown one is none."""
        self._evidence.pop(key, None)

    def observe(self, *parts: str | TextPart | ImagePart) -> None:
        """What the model is shown or told next."""
        self._append(user_message(*parts))

    def add_turn(self, turn: ChatTurn) -> None:
        """What the model answered; a turn that is not usable is left out."""
        if not turn.outcome.usable:
            return
        self._turns += 1
        self._exchanges.append(_Exchange(self._turns))
        parts = (TextPart(turn.text),) if turn.text else ()
        self._append(ChatMessage(Role.ASSISTANT, parts, turn.tool_calls))
        self._compact()

    def add_result(self, call: ToolCall, *parts: str | TextPart | ImagePart) -> None:
        """What a call of the last turn returned."""
        self._append(tool_message(call, *parts))

    def messages(self) -> tuple[ChatMessage, ...]:
        """The next request's messages: system, goals, evidence and earlier turns, then the newest exchanges."""
        pinned: list[TextPart | ImagePart] = []
        if self._goals:
            pinned.extend([TextPart(GOALS), *(part for parts in self._goals.values() for part in parts)])
        if self._evidence:
            lines = [f"- {key}: {text}" for key, text in self._evidence.items()]
            pinned.append(TextPart("\n".join([EVIDENCE, *lines])))
        if self._earlier or self._left_out or self._left_out_observations:
            left_out = [f"({self._left_out} turns before these are left out)"] if self._left_out else []
            if self._left_out_observations:
                left_out.append(f"({self._left_out_observations} observations are left out)")
            pinned.append(TextPart("\n".join([EARLIER, *left_out, *self._earlier])))
        head = [system_message(self._system), *([ChatMessage(Role.USER, tuple(pinned))] if pinned else [])]
        return (*head, *(message for exchange in self._exchanges for message in exchange.messages))

    def _append(self, message: ChatMessage) -> None:
        if not self._exchanges:
            self._exchanges.append(_Exchange(self._turns))
        self._exchanges[-1].messages.append(with_shortened_text(message, self._budget.message_chars))
        self._bound_current()
        if message.images:
            self._prune_media()

    def _bound_current(self) -> None:
        """Observations that nobody asked about must not pile up: the oldest of the newest exchange give way."""
        messages = self._exchanges[-1].messages
        total = sum(map(text_length, messages))
        older = [message for message in messages[:-1] if message.role is Role.USER]
        while older and (total > self._budget.recent_chars or len(messages) > MAX_EXCHANGE_MESSAGES):
            total -= text_length(older[0])
            at = next(at for at, message in enumerate(messages) if message is older[0])
            del messages[at], older[0]
            self._left_out_observations += 1

    def _prune_media(self) -> None:
        """Drop images that are answered and superseded, and the oldest beyond the budget."""
        pinned = sum(isinstance(part, ImagePart) for parts in self._goals.values() for part in parts)
        room = self._budget.max_images - pinned
        for exchange in reversed(self._exchanges):
            for at in range(len(exchange.messages) - 1, -1, -1):
                message = exchange.messages[at]
                if not message.images:
                    continue
                # Everything before the exchange that is now being filled has been answered.
                if exchange is not self._exchanges[-1] or len(message.images) > room:
                    exchange.messages[at] = _newest_images(message, room if exchange is self._exchanges[-1] else 0)
                room -= len(exchange.messages[at].images)

    def _compact(self) -> None:
        """Turn the oldest exchanges into lines, and the oldest lines into a count, until the budget holds."""
        budget = self._budget
        lengths = [sum(map(text_length, exchange.messages)) for exchange in self._exchanges]
        total = sum(lengths)
        while len(self._exchanges) > 1 and (total > budget.recent_chars or len(self._exchanges) > budget.recent_turns):
            oldest = self._exchanges.popleft()
            total -= lengths.pop(0)
            self._earlier.append(exchange_line(oldest.number, oldest.messages))
        while self._earlier and sum(map(len, self._earlier)) > budget.earlier_chars:
            self._earlier.popleft()
            self._left_out += 1


def _newest_images(message: ChatMessage, room: int) -> ChatMessage:
    """The message with at most its last `room` images."""
    keep = {id(part) for part in message.images[len(message.images) - room :]} if room > 0 else set()
    parts: list[TextPart | ImagePart] = []
    for part in message.parts:
        if isinstance(part, TextPart) or id(part) in keep:
            parts.append(part)
        else:
            parts.extend(without_media(ChatMessage(message.role, (part,))).parts)
    return ChatMessage(message.role, tuple(parts), message.tool_calls, message.call_id, message.tool_name)
