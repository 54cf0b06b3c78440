"""Words to the pieces that BERT's uncased models read (Devlin et al. 2019, section 4; greedy longest match first)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
MAX_WORD_CHARS = 100
CJK_BLOCKS = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))


@dataclass(frozen=True)
class WordPieces:
    """A vocabulary: piece to id."""

    ids: Mapping[str, int]

    def encode(self, text: str, max_pieces: int = 64) -> list[int]:
        """Ids of the text's pieces between start and end marks, at most `max_pieces` in all."""
        pieces = [piece for word in words(text) for piece in self._pieces(word)]
        return [self.ids[START], *(self.ids[piece] for piece in pieces[: max_pieces - 2]), self.ids[END]]

    def _pieces(self, word: str) -> list[str]:
        if len(word) > MAX_WORD_CHARS:
            return [UNKNOWN]
        pieces: list[str] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self.ids), None)
            if end is None:
                return [UNKNOWN]
            pieces.append(mark + word[start:end])
            start = end
        return pieces


def words(text: str) -> list[str]:
    """Lower-case words without accents; punctuation and ideographs stand alone."""
    spaced: list[str] = []
    for char in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(char)
        if category == "Mn":
            continue
        if char in "\t\n\r" or category == "Zs":
            spaced.append(" ")
        elif char == "\ufffd" or category.startswith("C"):
            continue
        else:
            spaced.append(f" {char} " if _stands_alone(char, category) else char)
    return "".join(spaced).split()


def _stands_alone(char: str, category: str) -> bool:
    code = ord(char)
    ascii_symbol = 33 <= code <= 126 and not char.isalnum()
    return ascii_symbol or category.startswith("P") or any(low <= code <= high for low, high in CJK_BLOCKS)


def load_vocabulary() -> WordPieces:
    """The vocabulary of BERT base uncased, one piece a line, which MiniLM shares."""
    text = resources.files("mnav_models").joinpath("data", "bert_uncased_vocab.txt").read_text(encoding="utf-8")
    return WordPieces({piece: number for number, piece in enumerate(text.split("\n")) if piece})
