"""What belongs to one tick of a simulated world, gathered from topics that arrive in any order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

KEPT = 64


@dataclass(frozen=True)
class TickInputs:
    """Everything that was awaited for one tick, by name."""

    tick: int
    stamp_ns: int
    values: dict[str, Any]


@dataclass
class _Expected:
    tick: int
    stamp_ns: int
    names: frozenset[str]


@dataclass
class TickGathering:
    """Holds what came until a tick has everything that it awaits. Not for use from two threads at once.

    Measurements are known by their stamp, words of other stages by their tick. Keeps at most 64 stamps and ticks.
    """

    _expected: dict[int, _Expected] = field(default_factory=dict)
    _by_stamp: dict[int, dict[str, Any]] = field(default_factory=dict)
    _by_tick: dict[int, dict[str, Any]] = field(default_factory=dict)
    _last_tick: int = -1

    def expect(self, tick: int, stamp_ns: int, names: Collection[str]) -> None:
        """Await `names` for a tick; a tick that was already taken is not awaited again."""
        if tick > self._last_tick:
            self._expected[tick] = _Expected(tick, stamp_ns, frozenset(names))

    def measured(self, stamp_ns: int, name: str, value: Any) -> None:
        """A message with a stamp."""
        _keep(self._by_stamp, stamp_ns)[name] = value

    def said(self, tick: int, name: str, value: Any) -> None:
        """A message with a tick."""
        _keep(self._by_tick, tick)[name] = value

    def take(self) -> TickInputs | None:
        """The oldest tick, once it is complete; then it is forgotten with everything before it."""
        if not self._expected:
            return None
        oldest = self._expected[min(self._expected)]
        values = {**self._by_stamp.get(oldest.stamp_ns, {}), **self._by_tick.get(oldest.tick, {})}
        if not oldest.names <= values.keys():
            return None
        self._last_tick = oldest.tick
        del self._expected[oldest.tick]
        self._by_stamp = {key: held for key, held in self._by_stamp.items() if key > oldest.stamp_ns}
        self._by_tick = {key: held for key, held in self._by_tick.items() if key > oldest.tick}
        return TickInputs(oldest.tick, oldest.stamp_ns, values)

    def missing(self) -> tuple[int, tuple[str, ...]] | None:
        """The oldest awaited tick and the names that have not come, for people."""
        if not self._expected:
            return None
        oldest = self._expected[min(self._expected)]
        here = self._by_stamp.get(oldest.stamp_ns, {}).keys() | self._by_tick.get(oldest.tick, {}).keys()
        return oldest.tick, tuple(sorted(oldest.names - here))


def _keep(held: dict[int, dict[str, Any]], key: int) -> dict[str, Any]:
    if key not in held:
        held[key] = {}
        while len(held) > KEPT:
            del held[min(held)]
    return held[key]
