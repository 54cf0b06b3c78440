"""A small forest of randomised trees: grown from measured views, read with NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import Array

LEAF = -1
MAX_NODES = 4096


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays: of each node the feature it asks (LEAF: none), the threshold, and where it goes on; shares
    (N, K) of the classes at a leaf. `roots` (T,) are the trees' first nodes.
    """

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    below: NDArray[np.int32]
    above: NDArray[np.int32]
    shares: NDArray[np.float32]

    def predict(self, values: Array) -> Array:
        """Mean class shares (K,) of one sample (F,)."""
        at = self.roots.copy()
        for _ in range(MAX_NODES):
            asked = self.feature[at]
            inner = asked != LEAF
            if not inner.any():
                break
            goes_below = values[np.maximum(asked, 0)] <= self.threshold[at]
            at = np.where(inner, np.where(goes_below, self.below[at], self.above[at]), at)
        return np.asarray(self.shares[at].mean(axis=0), float)


@dataclass(frozen=True)
class GrowthSettings:
    """`tried`: share of the features that a split draws; a leaf keeps at least `leaf` samples."""

    trees: int = 60
    tried: float = 0.4
    leaf: int = 4


def grow(values: Array, labels: NDArray[np.intp], classes: int, settings: GrowthSettings, seed: int) -> Forest:
    """Grow a forest on (S, F) and labels (S,): splits at random thresholds, the purest of those drawn is taken.

    Classes weigh alike however many samples they have. Raises ValueError without samples.
    """
    if not len(values):
        raise ValueError("samples: none, allowed: at least one")
    rng = np.random.default_rng(seed)
    counts = np.bincount(labels, minlength=classes)
    weights = np.where(counts > 0, len(labels) / (np.count_nonzero(counts) * np.maximum(counts, 1)), 0.0)[labels]
    one_hot = np.eye(classes)[labels] * weights[:, None]
    nodes: list[tuple[int, float, int, int, Array]] = []
    roots = []
    for _ in range(settings.trees):
        roots.append(len(nodes))
        waiting = [(np.arange(len(values)), _append(nodes, one_hot))]
        while waiting:
            members, node = waiting.pop()
            split = _split(values[members], one_hot[members], settings, rng)
            if split is None:
                total = one_hot[members].sum(axis=0)
                nodes[node] = (LEAF, 0.0, node, node, total / total.sum())
                continue
            feature, threshold = split
            is_below = values[members, feature] <= threshold
            below, above = _append(nodes, one_hot), _append(nodes, one_hot)
            nodes[node] = (feature, threshold, below, above, np.zeros(classes))
            waiting += [(members[is_below], below), (members[~is_below], above)]
    columns = list(zip(*nodes, strict=True))
    return Forest(
        np.array(roots, np.int32),
        np.array(columns[0], np.int32),
        np.array(columns[1], np.float32),
        np.array(columns[2], np.int32),
        np.array(columns[3], np.int32),
        np.array(columns[4], np.float32),
    )


def _append(nodes: list[tuple[int, float, int, int, Array]], one_hot: Array) -> int:
    nodes.append((LEAF, 0.0, 0, 0, np.zeros(one_hot.shape[1])))
    return len(nodes) - 1


def _split(
    values: Array, one_hot: Array, settings: GrowthSettings, rng: np.random.Generator
) -> tuple[int, float] | None:
    """Feature and threshold of the purest split drawn, None when the node stays a leaf."""
    if len(values) < 2 * settings.leaf or np.count_nonzero(one_hot.sum(axis=0)) < 2:
        return None
    low, high = values.min(axis=0), values.max(axis=0)
    usable = np.flatnonzero(high > low)
    if not len(usable):
        return None
    drawn = rng.permutation(usable)[: max(1, round(settings.tried * values.shape[1]))]
    # As they are stored, so that growing and reading agree on which side a sample goes.
    thresholds = rng.uniform(low[drawn], high[drawn]).astype(np.float32).astype(float)
    is_below = values[:, drawn] <= thresholds
    counts = is_below.sum(axis=0)
    allowed = (counts >= settings.leaf) & (len(values) - counts >= settings.leaf)
    if not allowed.any():
        return None
    below = is_below.T.astype(float) @ one_hot
    above = one_hot.sum(axis=0) - below
    purity = _purity(below) + _purity(above)
    best = int(np.argmax(np.where(allowed, purity, -np.inf)))
    return int(drawn[best]), float(thresholds[best])


def _purity(weights: Array) -> Array:
    return np.asarray((weights**2).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-12))
