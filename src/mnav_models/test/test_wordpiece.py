"""Pieces against the reference tokenizer's (Hugging Face tokenizers 0.23 with the model's own tokenizer.json)."""

from __future__ import annotations

import pytest

from mnav_models.wordpiece import WordPieces, load_vocabulary

REFERENCE = {
    "egg": [101, 8288, 102],
    "Refrigerator & cabinet": [101, 18097, 1004, 5239, 102],
    "Crème brûlée, toasted!": [101, 13675, 21382, 7987, 9307, 2063, 1010, 15174, 2098, 999, 102],
    "電子レンジ microwave": [101, 100, 1816, 1734, 30263, 30232, 18302, 102],
    "remote_control": [101, 6556, 1035, 2491, 102],
    "a\tb\nc": [101, 1037, 1038, 1039, 102],
    "ﬁsh ½ €5 “quote”": [101, 1984, 4095, 1092, 1574, 2629, 1523, 14686, 1524, 102],
    "🙂 smile": [101, 100, 2868, 102],
    "don't-stop": [101, 2123, 1005, 1056, 1011, 2644, 102],
}


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return load_vocabulary()


def test_vocabulary_is_whole(pieces: WordPieces) -> None:
    assert len(pieces.ids) == 30_522


@pytest.mark.parametrize("text", [*REFERENCE])
def test_pieces_are_the_reference_ones(pieces: WordPieces, text: str) -> None:
    expected = REFERENCE[text]
    assert pieces.encode(text) == expected


def test_length_is_bounded(pieces: WordPieces) -> None:
    ids = pieces.encode("egg " * 1_000, max_pieces=16)
    assert len(ids) == 16 and ids[0] == 101 and ids[-1] == 102
    assert pieces.encode("x" * 101) == [101, 100, 102]
