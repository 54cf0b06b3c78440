"""What an endpoint can do, found by asking it."""

from __future__ import annotations

import statistics
import threading
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from mnav_core.chat import (
    ChatRequest,
    ChatTurn,
    Fallback,
    ToolArguments,
    ToolSchema,
    ToolUse,
    TurnOutcome,
    user_message,
)
from mnav_models.calibration import Calibration, calibrate
from mnav_models.endpoint import Capabilities, Endpoint, Patience, TokenLimitField
from mnav_models.endpoint_model import EndpointModel, open_endpoint
from mnav_models.images import ImageBudget, encode_image

LATENCY_TURNS = 3
FRUIT = "Report the colour of a ripe banana."


class ColourReport(ToolArguments):
    """A colour."""

    colour: Literal["red", "green", "blue", "yellow"]


@dataclass(frozen=True)
class ProbeReport:
    """What was found; `reachable` False comes with the outcome and reason of the first turn.

    `notes` say why something is missing.
    """

    name: str
    reachable: bool
    outcome: TurnOutcome
    reason: str
    capabilities: Capabilities = field(default_factory=Capabilities)
    latency_s: float | None = None
    calibration: Calibration | None = None
    notes: dict[str, str] = field(default_factory=dict)


@dataclass
class _Prober:
    """Asks one question at a time, each by a model that is told the capabilities found so far."""

    endpoint: Endpoint
    patience: Patience
    deadline_s: float
    cancel: threading.Event | None
    can: Capabilities
    notes: dict[str, str] = field(default_factory=dict)

    def ask(self, request: ChatRequest, can: Capabilities) -> ChatTurn:
        model = self._model(can)
        try:
            return model.ask(request, self.deadline_s, self.cancel)
        finally:
            model.close()

    def calibrated(self) -> Calibration:
        model = self._model(self.can)
        try:
            return calibrate(model, self.deadline_s, self.cancel)
        finally:
            model.close()

    def _model(self, can: Capabilities) -> EndpointModel:
        return open_endpoint(self.endpoint, can, self.patience)


def probe(
    endpoint: Endpoint,
    patience: Patience | None = None,
    deadline_s: float = 30.0,
    cancel: threading.Event | None = None,
) -> ProbeReport:
    """Ask about ten short questions, each within `deadline_s`. Does not raise for what the endpoint does."""
    prober = _Prober(endpoint, patience or Patience(), deadline_s, cancel, Capabilities(tools=False, json_schema=False))
    first = _settle_parameters(prober)
    if not first.outcome.usable:
        return ProbeReport(endpoint.name, False, first.outcome, first.reason)
    latencies = [first.usage.latency_s]
    for _ in range(LATENCY_TURNS - 1):
        turn = prober.ask(_greeting(), prober.can)
        latencies.extend([turn.usage.latency_s] if turn.outcome.usable else [])
    _settle_tools(prober)
    _settle_schema(prober)
    _settle_images(prober)
    calibration = prober.calibrated() if prober.can.images else None
    return ProbeReport(
        endpoint.name,
        True,
        first.outcome,
        "",
        prober.can,
        statistics.median(latencies),
        calibration,
        prober.notes,
    )


def _greeting() -> ChatRequest:
    return ChatRequest((user_message("Answer with the one word: ready"),), max_output_tokens=64)


def _settle_parameters(prober: _Prober) -> ChatTurn:
    """Find a set of parameters that the endpoint accepts at all."""
    first: ChatTurn | None = None
    for limit in TokenLimitField:
        for sampling in (True, False):
            can = replace(prober.can, token_limit_field=limit, sampling=sampling)
            turn = prober.ask(_greeting(), can)
            first = first or turn
            if turn.outcome.usable:
                prober.can = can
                if not sampling:
                    prober.notes["sampling"] = "temperature is refused"
                return turn
            if turn.outcome is not TurnOutcome.BAD_REQUEST:
                return turn
    assert first is not None
    return first


def _settle_tools(prober: _Prober) -> None:
    tool = ToolSchema("report_colour", "Report a colour.", ColourReport)
    request = ChatRequest((user_message(FRUIT, "Use the tool."),), (tool,), ToolUse.REQUIRED, max_output_tokens=256)
    for required in (True, False):
        can = replace(prober.can, tools=True, required_tool_choice=required)
        turn = prober.ask(request, can)
        clean = not {Fallback.CALL_READ_FROM_TEXT, Fallback.REASKED} & set(turn.fallbacks)
        if turn.outcome is TurnOutcome.TOOL_CALLS and clean:
            prober.can = can
            return
        prober.notes["tools"] = turn.reason or "calls are written as text"
    prober.can = replace(prober.can, tools=False, required_tool_choice=False)


def _settle_schema(prober: _Prober) -> None:
    can = replace(prober.can, json_schema=True)
    turn = prober.ask(ChatRequest((user_message(FRUIT),), answer=ColourReport, max_output_tokens=256), can)
    if turn.outcome is TurnOutcome.ANSWER and not turn.faults and not turn.fallbacks:
        prober.can = can
    else:
        prober.notes["json_schema"] = turn.reason or "the schema is not kept to"


def _settle_images(prober: _Prober) -> None:
    # Plain green: no model that sees it can call it anything else, and none that does not can know.
    picture = np.full((64, 64, 3), (20, 170, 20), dtype=np.uint8)
    image = encode_image(picture, "probe", "Picture:", ImageBudget())
    request = ChatRequest(
        (user_message(image, "Report the colour of this picture."),), answer=ColourReport, max_output_tokens=256
    )
    turn = prober.ask(request, replace(prober.can, images=True))
    seen = turn.answer.colour if isinstance(turn.answer, ColourReport) else None
    prober.can = replace(prober.can, images=seen == "green")
    if seen != "green":
        prober.notes["images"] = turn.reason or f"a green picture is called {seen}"
