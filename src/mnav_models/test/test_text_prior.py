"""The prior over places, against pairs written by hand before it was measured."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
import pytest

from mnav_core.errors import UsageError
from mnav_models.sentence_embedding import SentenceEmbedder, open_embedder
from mnav_models.text_prior import PriorSource, TextPrior, lexical_similarity, open_text_prior


@pytest.fixture(scope="module")
def prior() -> TextPrior:
    return open_text_prior()


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    return open_embedder()


def hand_written_pairs(folder: Path) -> list[tuple[str, str, str]]:
    with (folder / "plausible_places.csv").open(newline="") as file:
        return [(row["object"], row["plausible"], row["implausible"]) for row in csv.DictReader(file)]


def test_plausible_places_rank_above_implausible_ones(prior: TextPrior, data_dir: Path) -> None:
    pairs = hand_written_pairs(data_dir)
    assert len(pairs) == 100 and len(set(pairs)) == 100
    assert prior.source is PriorSource.SENTENCE_EMBEDDING
    right = sum(prior.rank(thing, [wrong, good])[0].place == good for thing, good, wrong in pairs)
    print(f"{right} of {len(pairs)}")
    assert right >= 80


def test_cached_look_ups_are_fast(prior: TextPrior, data_dir: Path) -> None:
    pairs = hand_written_pairs(data_dir)
    for thing, good, wrong in pairs:
        prior.score(thing, good), prior.score(thing, wrong)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(5):
            for thing, good, wrong in pairs:
                prior.score(thing, good)
                prior.score(thing, wrong)
        times.append(time.perf_counter() - start)
    print(f"1000 cached look-ups: {1e3 * min(times):.2f} ms")
    assert sorted(times)[2] <= 0.010


@pytest.mark.parametrize(
    ("one", "other", "cosine"),
    [("couch", "sofa", 0.8564), ("couch", "fridge", 0.4074), ("egg", "fridge", 0.3310), ("egg", "bathtub", 0.2534)],
)
def test_similarities_are_those_of_the_unquantised_model(
    embedder: SentenceEmbedder, one: str, other: str, cosine: float
) -> None:
    """Cosines by an independent forward pass in NumPy over the published 32-bit weights; int8 moves them a little."""
    first, second = embedder.embed([one, other])
    assert first @ second == pytest.approx(cosine, abs=0.02)


def test_vectors_are_unit_and_independent_of_company(embedder: SentenceEmbedder) -> None:
    alone = embedder.embed(["egg"])[0]
    beside = embedder.embed(["a much longer text that would set other scales", "egg"])[1]
    assert np.linalg.norm(alone) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(alone, beside)
    assert embedder.embed([]).shape == (0, 384)


def test_fallback_knows_spelling_alone_and_says_so() -> None:
    prior = TextPrior(None)
    assert prior.source is PriorSource.LEXICAL
    assert prior.rank("wine bottle", ["bathtub", "wine rack"])[0].place == "wine rack"
    assert lexical_similarity("egg", "egg") == 1.0 and lexical_similarity("egg", "bath") == 0.0


def test_categories_read_as_words(prior: TextPrior) -> None:
    assert prior.score("Remote_Control", "living_room") == prior.score("remote control", "living room")


def test_order_of_equal_places_is_kept() -> None:
    assert [item.place for item in TextPrior(None).rank("egg", ["bath", "hall", "attic"])] == ["bath", "hall", "attic"]


@pytest.mark.parametrize("name", ["", "  _ ", "x" * 201])
def test_names_are_checked(name: str) -> None:
    with pytest.raises(UsageError, match="1 to 200"):
        TextPrior(None).score(name, "fridge")


def test_cache_is_bounded() -> None:
    prior = TextPrior(None)
    for number in range(70_000):
        prior.score("egg", f"p{number}")
    assert len(prior._scores) == 65_536
