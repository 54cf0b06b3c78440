"""Whether a reply can be acted on, and if not, what to tell the model."""

from __future__ import annotations

from dataclasses import dataclass

from mnav_core.chat import (
    ChatMessage,
    ChatRequest,
    Fallback,
    FinishReason,
    ModelFault,
    Role,
    TextPart,
    ToolArguments,
    ToolCall,
    ToolUse,
    TurnOutcome,
    user_message,
)
from mnav_models.reply import Reply
from mnav_models.structured_text import calls_in_text
from mnav_models.tool_validation import RawCall, parse_arguments, validate_calls

MAX_ECHO_CHARS = 1_500
NOTHING = "(nothing)"


@dataclass(frozen=True)
class Judgement:
    """`outcome` INVALID_OUTPUT comes with `problems`, worded for the model; every other outcome is final."""

    outcome: TurnOutcome
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    answer: ToolArguments | None = None
    faults: tuple[ModelFault, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    problems: tuple[str, ...] = ()


def judge(reply: Reply, request: ChatRequest, tools_as_text: bool) -> Judgement:
    """Validate a reply against what was asked for."""
    faults: list[ModelFault] = []
    if reply.finish_reason is FinishReason.CONTENT_FILTER or (reply.refusal and not reply.calls):
        return Judgement(TurnOutcome.CONTENT_FILTERED, problems=(reply.refusal[:200] or "content filter",))
    if reply.finish_reason is FinishReason.UNKNOWN:
        faults.append(ModelFault.UNKNOWN_FINISH_REASON)
    if reply.runaway:
        faults.append(ModelFault.ENDLESS_WHITESPACE)
    elif not reply.complete:
        faults.append(ModelFault.CUT_OUTPUT)
    text = reply.text.strip()
    if request.tools:
        judged = _judge_calls(reply, request, text, tools_as_text)
    elif request.answer is not None:
        judged = _judge_answer(reply, request.answer, text)
    else:
        judged = _judge_text(reply, text)
    new_faults = tuple(fault for fault in judged.faults if fault not in faults)
    return Judgement(
        judged.outcome,
        judged.text,
        judged.tool_calls,
        judged.answer,
        (*faults, *new_faults),
        judged.fallbacks,
        judged.problems,
    )


def _invalid(problem: str, *faults: ModelFault) -> Judgement:
    return Judgement(TurnOutcome.INVALID_OUTPUT, faults=faults, problems=(problem,))


def _judge_calls(reply: Reply, request: ChatRequest, text: str, tools_as_text: bool) -> Judgement:
    raw = reply.calls
    fallbacks: tuple[Fallback, ...] = ()
    if not raw:
        raw = _read_from_text(reply, request, text, tools_as_text)
        # Where tools are sent as text, text is where calls belong.
        fallbacks = (Fallback.CALL_READ_FROM_TEXT,) if raw and not tools_as_text else ()
    if not raw:
        if request.tool_use is ToolUse.AUTO:
            return _judge_text(reply, text)
        if not text:
            return _invalid("the answer was empty: call a tool", ModelFault.EMPTY_OUTPUT)
        return _invalid("no tool call could be read from the answer: call a tool", ModelFault.NO_TOOL_CALL)
    verdict = validate_calls(raw, request.tools, request.max_calls)
    fallbacks += tuple(
        # Calls read from text carry no ids, so that giving them one is nothing special.
        fallback
        for fallback in verdict.fallbacks
        if reply.calls or fallback is not Fallback.CALL_ID_ASSIGNED
    )
    if verdict.problems:
        return Judgement(
            TurnOutcome.INVALID_OUTPUT, faults=verdict.faults, fallbacks=fallbacks, problems=verdict.problems
        )
    kept_text = text if reply.calls else ""
    return Judgement(TurnOutcome.TOOL_CALLS, kept_text, verdict.calls, None, verdict.faults, fallbacks)


def _read_from_text(reply: Reply, request: ChatRequest, text: str, tools_as_text: bool) -> tuple[RawCall, ...]:
    calls = calls_in_text(text, reply.complete)
    if tools_as_text:
        return calls
    # A model with tool calls that writes JSON may mean the JSON: only calls of known tools count.
    known = {tool.name for tool in request.tools}
    return calls if calls and all(call.name in known for call in calls) else ()


def _judge_answer(reply: Reply, schema: type[ToolArguments], text: str) -> Judgement:
    if not text:
        return _invalid("the answer was empty", ModelFault.EMPTY_OUTPUT)
    parsed = parse_arguments(text, schema, reply.complete)
    fallbacks = (Fallback.REPAIRED_JSON,) if parsed.repaired else ()
    if parsed.arguments is None:
        faults = () if parsed.fault is None else (parsed.fault,)
        return Judgement(TurnOutcome.INVALID_OUTPUT, faults=faults, fallbacks=fallbacks, problems=(parsed.problem,))
    return Judgement(TurnOutcome.ANSWER, text, answer=parsed.arguments, fallbacks=fallbacks)


def _judge_text(reply: Reply, text: str) -> Judgement:
    if reply.runaway:
        return _invalid("the answer ended in blanks without end")
    if not text and reply.calls:
        return _invalid("there are no tools: answer in words", ModelFault.UNKNOWN_TOOL)
    if not text:
        return _invalid("the answer was empty", ModelFault.EMPTY_OUTPUT)
    return Judgement(TurnOutcome.TEXT, text)


def reask(request: ChatRequest, reply: Reply, problems: tuple[str, ...]) -> ChatRequest:
    """The same request with the unusable answer and what was wrong with it appended."""
    written = [reply.text.strip(), *(f"{call.name}({call.arguments})" for call in reply.calls)]
    # As plain text: endpoints refuse a history whose tool calls are not valid JSON.
    echo = "\n".join(piece for piece in written if piece)[:MAX_ECHO_CHARS] or NOTHING
    listing = "\n".join(f"- {problem}" for problem in problems)
    correction = user_message(f"That answer could not be used:\n{listing}\nAnswer again, corrected.")
    messages = (*request.messages, ChatMessage(Role.ASSISTANT, (TextPart(echo),)), correction)
    return ChatRequest(
        messages,
        request.tools,
        request.tool_use,
        request.answer,
        request.max_calls,
        request.max_output_tokens,
        request.temperature,
        request.seed,
    )
