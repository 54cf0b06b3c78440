"""Counts of turns, faults and fallbacks."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from mnav_core.chat import ChatTurn, Fallback, ModelFault, ModelTally, TurnOutcome


@dataclass
class TurnTally:
    """Adds up turns from any thread."""

    _outcomes: Counter[TurnOutcome] = field(default_factory=Counter)
    _faults: Counter[ModelFault] = field(default_factory=Counter)
    _fallbacks: Counter[Fallback] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def counted(self, turn: ChatTurn) -> ChatTurn:
        """Count `turn` and hand it on."""
        with self._lock:
            self._outcomes[turn.outcome] += 1
            self._faults.update(turn.faults)
            self._fallbacks.update(turn.fallbacks)
        return turn

    def so_far(self) -> ModelTally:
        """A copy of the counts."""
        with self._lock:
            return ModelTally(dict(self._outcomes), dict(self._faults), dict(self._fallbacks))
