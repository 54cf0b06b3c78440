"""Asks a chat model on behalf of a mind, and says what its thinking costs in robot time."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from enum import Enum

from mnav_core.chat import ChatModel, ChatTurn, TurnOutcome
from mnav_core.requests import AskModel

# A model keeps its own deadline; one that does not is given up after this much more.
GRACE_S = 5.0


class Thinking(Enum):
    """What thinking costs: no robot time (a sweep waits), as much as it took, or what passes meanwhile (a robot)."""

    PAUSED = "paused"
    CHARGED = "charged"
    LIVE = "live"


class ModelAsker:
    """One question at a time. Without a model every question is answered as unreachable."""

    def __init__(self, model: ChatModel | None, thinking: Thinking = Thinking.PAUSED) -> None:
        self._model = model
        self._thinking = thinking
        self._pool: ThreadPoolExecutor | None = None
        self._future: Future[ChatTurn] | None = None
        self._cancel = threading.Event()
        self._request: AskModel | None = None
        self._asked_s = 0.0

    def begin(self, request: AskModel, now_s: float) -> None:
        """Ask; the answer comes by `poll`."""
        self._request, self._asked_s = request, now_s
        self._cancel = threading.Event()
        if self._model is None:
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._future = self._pool.submit(self._model.ask, request.request, request.deadline_s, self._cancel)

    def poll(self, now_s: float) -> ChatTurn | None:
        """The answer; None while it may still come. `PAUSED` and `CHARGED` wait for it here."""
        if self._future is None or self._request is None:
            return ChatTurn(TurnOutcome.UNREACHABLE, reason="no chat model")
        if self._thinking is Thinking.LIVE and not self._future.done():
            return None
        try:
            turn = self._future.result(self._request.deadline_s + GRACE_S)
        except FutureTimeoutError:
            self._cancel.set()
            turn = ChatTurn(TurnOutcome.TIMED_OUT, reason="the model kept no deadline")
        if self._thinking is Thinking.CHARGED and now_s < self._asked_s + turn.usage.latency_s:
            return None
        return turn

    def cancel(self) -> None:
        """Give up the question that is open."""
        self._cancel.set()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
