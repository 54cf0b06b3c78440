"""A chat model behind any OpenAI-compatible endpoint: vLLM, llama.cpp, Ollama, a cloud."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

import httpx2
import openai

from mnav_core.chat import (
    ChatRequest,
    ChatTurn,
    Fallback,
    ModelTally,
    TurnOutcome,
    Usage,
)
from mnav_core.errors import UsageError
from mnav_models.attempts import Attempts, Failure, TurnLedger
from mnav_models.circuit_breaker import CircuitBreaker
from mnav_models.endpoint import Capabilities, Endpoint, Patience
from mnav_models.guarded_network import Cancellation, GuardedBackend, GuardedTransport
from mnav_models.judgement import Judgement, judge, reask
from mnav_models.reply import Reply
from mnav_models.turn_tally import TurnTally
from mnav_models.wire import encode_request

CLOSING_S = 2.0
NO_KEY = "held-by-the-transport"


@dataclass
class EndpointModel:
    """Implements `mnav_core.chat.ChatModel`. Made by `open_endpoint`. One repair, one re-ask, then a typed refusal."""

    endpoint: Endpoint
    capabilities: Capabilities
    attempts: Attempts
    _tally: TurnTally = field(default_factory=TurnTally)
    _closing: threading.Event = field(default_factory=threading.Event)
    _idle: threading.Condition = field(default_factory=threading.Condition)
    _running: int = 0

    @property
    def name(self) -> str:
        """URL#model."""
        return self.endpoint.name

    def ask(self, request: ChatRequest, deadline_s: float, cancel: threading.Event | None = None) -> ChatTurn:
        """One turn within `deadline_s` seconds.

        Raises UsageError for a deadline that is not positive, or once closed.
        """
        if not deadline_s > 0.0:
            raise UsageError(f"chat deadline: {deadline_s} s, allowed is > 0")
        with self._idle:
            if self._closing.is_set():
                raise UsageError(f"chat model {self.name}: closed")
            self._running += 1
        try:
            return self._tally.counted(self._turn(request, deadline_s, cancel or threading.Event()))
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def tally(self) -> ModelTally:
        """Counts of all turns so far."""
        return self._tally.so_far()

    def close(self) -> None:
        """End running turns as CANCELLED and close every connection."""
        with self._idle:
            self._closing.set()
            self._idle.wait_for(lambda: self._running == 0, timeout=CLOSING_S)
        self.attempts.client.close()

    def _turn(self, request: ChatRequest, deadline_s: float, cancel: threading.Event) -> ChatTurn:
        start = time.monotonic()
        ledger = TurnLedger(start + deadline_s, Cancellation((cancel, self._closing)))
        encoded = encode_request(request, self.endpoint.model, self.capabilities)
        ledger.fallbacks.extend(encoded.fallbacks)
        asked = request
        for last in (False, True):
            limit = self.attempts.patience.max_request_bytes
            if encoded.approximate_bytes > limit:
                reason = f"about {encoded.approximate_bytes} bytes, at most {limit} are sent"
                return _refusal(Failure(TurnOutcome.REQUEST_TOO_LARGE, reason), ledger, start)
            result = self.attempts.reply_to(encoded.parameters, ledger)
            if isinstance(result, Failure):
                return _refusal(result, ledger, start)
            judged = self._judged(result, asked, ledger)
            if judged.outcome is not TurnOutcome.INVALID_OUTPUT or last:
                return _turn_of(judged, result, ledger, start)
            ledger.fallbacks.append(Fallback.REASKED)
            asked = reask(request, result, judged.problems)
            encoded = encode_request(asked, self.endpoint.model, self.capabilities)
        raise AssertionError("the loop returns on its last round")

    def _judged(self, reply: Reply, request: ChatRequest, ledger: TurnLedger) -> Judgement:
        judged = judge(reply, request, tools_as_text=not self.capabilities.tools)
        ledger.faults.extend(judged.faults)
        ledger.fallbacks.extend(judged.fallbacks)
        ledger.prompt_tokens += reply.prompt_tokens
        ledger.completion_tokens += reply.completion_tokens
        return judged


def _usage(ledger: TurnLedger, start: float) -> Usage:
    return Usage(
        ledger.prompt_tokens,
        ledger.completion_tokens,
        ledger.attempts,
        ledger.request_bytes,
        ledger.response_bytes,
        time.monotonic() - start,
    )


def _refusal(failure: Failure, ledger: TurnLedger, start: float) -> ChatTurn:
    return ChatTurn(
        failure.outcome,
        usage=_usage(ledger, start),
        faults=tuple(ledger.faults),
        fallbacks=tuple(ledger.fallbacks),
        reason=failure.reason,
        retry_after_s=failure.retry_after_s,
    )


def _turn_of(judged: Judgement, reply: Reply, ledger: TurnLedger, start: float) -> ChatTurn:
    return ChatTurn(
        judged.outcome,
        judged.text,
        judged.tool_calls,
        judged.answer,
        reply.finish_reason,
        _usage(ledger, start),
        tuple(ledger.faults),
        tuple(ledger.fallbacks),
        "; ".join(judged.problems),
    )


def open_endpoint(
    endpoint: Endpoint,
    capabilities: Capabilities | None = None,
    patience: Patience | None = None,
    stream: bool = False,
    jitter_seed: int = 0,
) -> EndpointModel:
    """A model behind `endpoint`. Nothing is sent yet. `stream` asks for events, whose cut calls are told apart
    sooner; off, because servers
    corrupt streamed arguments more often than whole ones."""
    patience = patience or Patience()
    backend = GuardedBackend(patience.connect_s)
    client = openai.OpenAI(
        api_key=NO_KEY,
        base_url=endpoint.base_url,
        max_retries=0,
        http_client=httpx2.Client(
            transport=GuardedTransport(backend, endpoint.key), trust_env=False, follow_redirects=False, timeout=None
        ),
    )
    attempts = Attempts(
        client,
        backend,
        patience,
        CircuitBreaker(patience.breaker_failures, patience.breaker_cooldown_s),
        stream,
        endpoint.key,
        random.Random(jitter_seed),
    )
    return EndpointModel(endpoint, capabilities or Capabilities(), attempts)
