"""One HTTP exchange with an endpoint, its failure named; and as many of them as patience allows."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import httpx2
import openai

from mnav_core.chat import Fallback, ModelFault, TurnOutcome
from mnav_models.api_key import ApiKey
from mnav_models.circuit_breaker import CircuitBreaker
from mnav_models.endpoint import Patience
from mnav_models.guarded_network import Cancellation, ExchangeGuard, GuardedBackend, Interruption
from mnav_models.reply import ErrorReply, MalformedReply, Reply, read_body, read_events
from mnav_models.retry import backoff_s, retry_after_s

MAX_REASON_CHARS = 240
TOO_LARGE_CODES = ("context_length_exceeded", "request_too_large", "string_above_max_length")
QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached")


@dataclass(frozen=True)
class Failure:
    """Why an exchange gave no reply. `fault` is None where nothing was wrong with the endpoint."""

    outcome: TurnOutcome
    reason: str
    fault: ModelFault | None = None
    retryable: bool = False
    retry_after_s: float | None = None


@dataclass
class TurnLedger:
    """What one turn has met and moved so far. `end` is on the monotonic clock."""

    end: float
    cancel: Cancellation
    faults: list[ModelFault] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    attempts: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass
class Attempts:
    """Asks an endpoint until it answers, retrying what may pass. Thread-safe."""

    client: openai.OpenAI
    backend: GuardedBackend
    patience: Patience
    breaker: CircuitBreaker
    stream: bool
    key: ApiKey | None
    jitter: random.Random

    def reply_to(self, parameters: dict[str, Any], ledger: TurnLedger) -> Reply | Failure:
        """A reply, or the failure of the last attempt; every fault and retry is entered in the ledger."""
        last: Failure | None = None
        for attempt in range(1, self.patience.attempts + 1):
            early = self._may_not_start(ledger)
            if early is not None:
                return last if last is not None and early.outcome is TurnOutcome.CIRCUIT_OPEN else early
            result = self._attempt(parameters, ledger)
            if isinstance(result, Reply):
                return result
            last = result
            if result.fault is not None:
                ledger.faults.append(result.fault)
            if not result.retryable or attempt == self.patience.attempts:
                return result
            pause = backoff_s(self.patience, attempt, self.jitter)
            pause = pause if result.retry_after_s is None else max(pause, result.retry_after_s)
            if time.monotonic() + pause >= ledger.end:
                return result
            if ledger.cancel.wait(pause):
                return _cancelled()
            ledger.fallbacks.append(Fallback.RETRIED)
        raise AssertionError("the loop returns on its last attempt")

    def _may_not_start(self, ledger: TurnLedger) -> Failure | None:
        now = time.monotonic()
        if ledger.cancel.is_set():
            return _cancelled()
        if now >= ledger.end:
            return Failure(TurnOutcome.TIMED_OUT, "the turn's deadline passed")
        if not self.breaker.admits(now):
            wait = self.breaker.retry_in_s(now)
            return Failure(TurnOutcome.CIRCUIT_OPEN, "the endpoint kept failing and is left alone", None, False, wait)
        return None

    def _attempt(self, parameters: dict[str, Any], ledger: TurnLedger) -> Reply | Failure:
        limit = min(time.monotonic() + self.patience.attempt_s, ledger.end)
        guard = ExchangeGuard(limit, ledger.cancel, self.patience.max_response_bytes)
        ledger.attempts += 1
        result = self._named(lambda: self._exchange(parameters, guard), guard, ledger.end)
        ledger.request_bytes += guard.sent_bytes
        ledger.response_bytes += guard.received_bytes
        if isinstance(result, Reply):
            self.breaker.succeeded()
        elif result.outcome is TurnOutcome.CANCELLED:
            self.breaker.undecided()
        elif result.fault is None:
            self.breaker.succeeded()
        else:
            self.breaker.failed(time.monotonic())
        return result

    def _exchange(self, parameters: dict[str, Any], guard: ExchangeGuard) -> Reply:
        with self.backend.exchange(guard):
            create = self.client.chat.completions.with_streaming_response.create
            # As an extra body: the client's walk through typed parameters costs milliseconds on a request with images.
            with create(model="", messages=[], stream=self.stream, extra_body=parameters) as response:
                if "text/event-stream" in response.headers.get("content-type", ""):
                    return read_events(response.iter_bytes())
                return read_body(b"".join(response.iter_bytes()))

    def _named(self, exchange: Callable[[], Reply], guard: ExchangeGuard, end: float) -> Reply | Failure:
        try:
            return exchange()
        except openai.APIStatusError as error:
            return self._status_failure(error)
        except MalformedReply as error:
            return self._failure(TurnOutcome.SERVER_ERROR, ModelFault.MALFORMED_BODY, f"malformed reply: {error}")
        except ErrorReply as error:
            return self._failure(TurnOutcome.SERVER_ERROR, ModelFault.SERVER_ERROR, f"error in the reply: {error}")
        except (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            return self._network_failure(error, guard, end)

    def _network_failure(self, error: Exception, guard: ExchangeGuard, end: float) -> Failure:
        if guard.interruption is Interruption.CANCELLED:
            return _cancelled()
        if guard.interruption is Interruption.DEADLINE:
            reason = "the endpoint did not answer in time"
            in_time = time.monotonic() < end
            return self._failure(TurnOutcome.TIMED_OUT, ModelFault.ATTEMPT_TIMED_OUT, reason, retryable=in_time)
        if guard.interruption is Interruption.TOO_MANY_BYTES:
            reason = f"the reply exceeds {guard.max_response_bytes} bytes"
            return self._failure(TurnOutcome.SERVER_ERROR, ModelFault.RESPONSE_TOO_LARGE, reason, retryable=False)
        cause = error.__cause__ or error
        return self._failure(TurnOutcome.UNREACHABLE, ModelFault.CONNECTION_LOST, f"connection: {cause}")

    def _status_failure(self, error: openai.APIStatusError) -> Failure:
        status = error.status_code
        code = error.code if isinstance(error.code, str) else ""
        reason = f"HTTP {status}: {error.message}"
        if status == 429 and code not in QUOTA_CODES:
            wait = retry_after_s(error.response.headers.get("retry-after"), datetime.now(timezone.utc))
            return self._failure(TurnOutcome.RATE_LIMITED, ModelFault.RATE_LIMITED, reason, wait=wait)
        if status >= 500 or status in (408, 409, 425):
            wait = retry_after_s(error.response.headers.get("retry-after"), datetime.now(timezone.utc))
            return self._failure(TurnOutcome.SERVER_ERROR, ModelFault.SERVER_ERROR, reason, wait=wait)
        if status in (401, 403):
            outcome = TurnOutcome.UNAUTHORIZED
        elif status == 413 or code in TOO_LARGE_CODES:
            outcome = TurnOutcome.REQUEST_TOO_LARGE
        else:
            outcome = TurnOutcome.RATE_LIMITED if status == 429 else TurnOutcome.BAD_REQUEST
        return self._failure(outcome, None, reason, retryable=False)

    def _failure(
        self,
        outcome: TurnOutcome,
        fault: ModelFault | None,
        reason: str,
        retryable: bool = True,
        wait: float | None = None,
    ) -> Failure:
        shown = reason if self.key is None else self.key.scrubbed(reason)
        return Failure(outcome, " ".join(shown.split())[:MAX_REASON_CHARS], fault, retryable, wait)


def _cancelled() -> Failure:
    return Failure(TurnOutcome.CANCELLED, "cancelled by the caller")
