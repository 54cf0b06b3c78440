"""Where things are usually kept, from the meaning of their names: an offline prior over containers and rooms."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mnav_core.errors import UsageError
from mnav_models.sentence_embedding import SentenceEmbedder, open_embedder

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
PLACE_TEMPLATE = "things kept in the {}"
MAX_NAME_CHARS = 200
MAX_VECTORS = 4_096
MAX_SCORES = 65_536


class PriorSource(Enum):
    """What a score rests on. LEXICAL knows only spelling: "egg" and "fridge" have nothing in common there."""

    SENTENCE_EMBEDDING = "sentence_embedding"
    LEXICAL = "lexical"


@dataclass(frozen=True)
class PlaceScore:
    """How plausible a place is for a thing, -1..1; only the order means something."""

    place: str
    score: float


@dataclass
class TextPrior:
    """Scores of (thing, place), cached within bounds. Thread-safe. Made by `open_text_prior`."""

    embedder: SentenceEmbedder | None
    _vectors: OrderedDict[str, NDArray[np.float32]] = field(default_factory=OrderedDict)
    _scores: OrderedDict[tuple[str, str], float] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def source(self) -> PriorSource:
        """What the scores rest on; belongs into every result that used them."""
        return PriorSource.LEXICAL if self.embedder is None else PriorSource.SENTENCE_EMBEDDING

    def score(self, thing: str, place: str) -> float:
        """How plausible it is to find `thing` in `place`, -1..1.

        Raises UsageError for a name that is blank or too long.
        """
        key = (thing, place)
        with self._lock:
            found = self._scores.get(key)
            if found is not None:
                return found
            named = _name(thing), _name(place)
            found = self._embedded(*named) if self.embedder is not None else lexical_similarity(*named)
            _keep(self._scores, key, found, MAX_SCORES)
            return found

    def rank(self, thing: str, places: Sequence[str]) -> tuple[PlaceScore, ...]:
        """The places, most plausible first; equal ones keep their order."""
        scores = [PlaceScore(place, self.score(thing, place)) for place in places]
        return tuple(sorted(scores, key=lambda item: -item.score))

    def _embedded(self, thing: str, place: str) -> float:
        return float(self._vector(thing) @ self._vector(PLACE_TEMPLATE.format(place)))

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = self._vectors.get(text)
        if vector is None:
            assert self.embedder is not None
            vector = self.embedder.embed([text])[0]
            _keep(self._vectors, text, vector, MAX_VECTORS)
        return vector


def open_text_prior() -> TextPrior:
    """The prior with the best source that is installed; `source` says which."""
    try:
        return TextPrior(open_embedder())
    except ImportError:
        return TextPrior(None)


def lexical_similarity(one: str, other: str) -> float:
    """Share of letter triples that two names have in common (Jaccard), 0..1."""
    first, second = _triples(one), _triples(other)
    return len(first & second) / len(first | second)


def _triples(name: str) -> set[str]:
    padded = f"  {name} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def _name(name: str) -> str:
    """A name as it is read: categories written with underscores are words too."""
    cleaned = " ".join(name.replace("_", " ").lower().split())
    if not cleaned or len(cleaned) > MAX_NAME_CHARS:
        raise UsageError(
            f"text prior: name {name[:40]!r} has {len(cleaned)} characters, allowed are 1 to {MAX_NAME_CHARS}"
        )
    return cleaned


def _keep(cache: OrderedDict[_Key, _Value], key: _Key, value: _Value, limit: int) -> None:
    cache[key] = value
    if len(cache) > limit:
        cache.popitem(last=False)
