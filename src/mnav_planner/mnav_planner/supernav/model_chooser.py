"""The chooser that is a chat model: one validated call a turn, and the builtin chooser where there is none."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mnav_core.chat import ChatRequest, ChatTurn, ModelFault, ToolCall, ToolSchema, ToolUse, TurnOutcome
from mnav_core.requests import AskModel, Reply, Request
from mnav_models.conversation import ContextBudget, Conversation
from mnav_planner.skills.library import Skill
from mnav_planner.supernav.arguments import NoteEvidence, ReadSkill
from mnav_planner.supernav.builtin import BuiltinChooser, ToolRequest
from mnav_planner.supernav.catalogue import ToolName
from mnav_planner.supernav.choosers import Decision, LoopCounts, Origin
from mnav_planner.supernav.pointing import Pointing
from mnav_planner.supernav.replies import ToolReply

CONTEXT = ContextBudget(max_images=4, recent_turns=16, recent_chars=14_000, message_chars=6_000)


@dataclass(frozen=True)
class ModelSettings:
    """Limits of one decision: wall seconds of a turn, turns that only read or note, tokens out, and tries of one call.

    The stand-in gives up for the model only after `give_up_after` decisions in a row that the model did not make.
    """

    turn_s: float = 120.0
    turns_a_decision: int = 6
    max_output_tokens: int = 1024
    same_call: int = 2
    give_up_after: int = 8


@dataclass
class ModelChooser:
    """Keeps the conversation. `reply` of each decision goes into it, whoever decided."""

    conversation: Conversation
    tools: tuple[ToolSchema, ...]
    skills: Mapping[str, Skill]
    builtin: BuiltinChooser
    settings: ModelSettings = field(default_factory=ModelSettings)
    pointing: Pointing | None = None
    _pending: ToolCall | None = None
    _hop: Generator[ToolRequest, ToolReply, bool] | None = None
    _last_call: str = ""
    _same: int = 0
    _stood_in: int = 0

    def choose(self, reply: ToolReply, counts: LoopCounts) -> Generator[Request, Reply, Decision]:
        """The model's next call; where it has none within its limits, one hop of the builtin chooser."""
        if self._hop is not None:
            decision = self._next_of_hop(reply)
            if decision is not None:
                return decision
        else:
            self._take_in(reply)
        for _ in range(self.settings.turns_a_decision):
            turn = yield AskModel(self._request(), self.settings.turn_s)
            assert isinstance(turn, ChatTurn)
            self._count(turn, counts)
            if turn.outcome is not TurnOutcome.TOOL_CALLS:
                break
            self.conversation.add_turn(turn)
            call = turn.tool_calls[0]
            if self._answered_here(call, counts):
                continue
            if self._is_repeat(call):
                counts.repeats += 1
                said = "You sent this call before and it changed nothing. Choose another point, turn, or another tool."
                self.conversation.add_result(call, said)
                continue
            self._pending, self._stood_in = call, 0
            return Decision(call.name, self._arguments(call), Origin.MODEL)
        counts.fallbacks += 1
        return self._fall_back()

    def _request(self) -> ChatRequest:
        return ChatRequest(
            self.conversation.messages(),
            self.tools,
            ToolUse.REQUIRED,
            max_output_tokens=self.settings.max_output_tokens,
        )

    def _take_in(self, reply: ToolReply) -> None:
        text = reply.text()
        if self._pending is not None:
            self.conversation.add_result(self._pending, text, *reply.images)
            self._pending = None
        else:
            self.conversation.observe(f"{reply.tool}: {text}", *reply.images)

    def _count(self, turn: ChatTurn, counts: LoopCounts) -> None:
        counts.model_turns += 1
        counts.tokens += turn.usage.prompt_tokens + turn.usage.completion_tokens
        counts.largest_request_bytes = max(counts.largest_request_bytes, turn.usage.request_bytes)
        if ModelFault.EMPTY_OUTPUT in turn.faults or ModelFault.NO_TOOL_CALL in turn.faults:
            counts.empty_turns += 1
        if turn.outcome is TurnOutcome.CONTENT_FILTERED:
            counts.refusals += 1
        elif turn.outcome is not TurnOutcome.TOOL_CALLS:
            counts.unusable_turns += 1

    def _answered_here(self, call: ToolCall, counts: LoopCounts) -> bool:
        """Answer a call that needs no robot: guidance and notes."""
        if isinstance(call.arguments, ReadSkill):
            counts.skill_reads += 1
            skill = self.skills.get(call.arguments.name)
            text = None if skill is None else skill.read(call.arguments.reference)
            known = ", ".join(self.skills)
            self.conversation.add_result(call, text or f"There is no such guidance; there are: {known}")
            return True
        if isinstance(call.arguments, NoteEvidence):
            counts.notes += 1
            outcome = self.conversation.note_evidence(call.arguments.key, call.arguments.text)
            self.conversation.add_result(call, outcome.value)
            return True
        return False

    def _is_repeat(self, call: ToolCall) -> bool:
        written = f"{call.name} {call.arguments.model_dump_json()}"
        self._same = self._same + 1 if written == self._last_call else 0
        self._last_call = written
        return self._same >= self.settings.same_call

    def _arguments(self, call: ToolCall) -> dict[str, Any]:
        # As the tool takes it from outside: it is checked there again, below the model.
        given: dict[str, Any] = json.loads(call.arguments.model_dump_json(exclude_none=True))
        return given if self.pointing is None else self.pointing.to_tool(given)

    def _fall_back(self) -> Decision:
        self._hop = self.builtin.hop()
        self._last_call = ""
        self._stood_in += 1
        return self._stand_in(next(self._hop))

    def _stand_in(self, request: ToolRequest) -> Decision:
        """The stand-in's call; it does not end the task for a model that may be back soon."""
        gives_up = request.name == ToolName.CLOSE_SESSION.value and request.arguments["outcome"] == "blocked"
        if gives_up and self._stood_in < self.settings.give_up_after:
            self._hop = None
            request = ToolRequest(ToolName.TURN.value, {"direction": "left", "degrees": 90})
        return Decision(request.name, request.arguments, Origin.FALLBACK)

    def _next_of_hop(self, reply: ToolReply) -> Decision | None:
        """The hop's next call; None where it has ended."""
        assert self._hop is not None
        if reply.images:
            self.conversation.observe(f"{reply.tool} (chosen for you): {reply.text()}", *reply.images)
        try:
            request = self._hop.send(reply)
        except StopIteration:
            self._hop = None
            return None
        return self._stand_in(request)
