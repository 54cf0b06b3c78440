"""Run-length masks as COCO writes them: column-major, counts start with the zeros."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RleMask:
    """Uncompressed COCO RLE of a mask of `height` x `width` pixels."""

    height: int
    width: int
    counts: tuple[int, ...]

    @property
    def area(self) -> int:
        """Number of set pixels."""
        return sum(self.counts[1::2])


def encode(mask: NDArray[np.bool_]) -> RleMask:
    """RLE of a boolean mask (H, W)."""
    flat = np.asarray(mask, bool).ravel(order="F")
    if flat.size == 0:
        return RleMask(mask.shape[0], mask.shape[1], ())
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    bounds = np.concatenate([[0], edges, [flat.size]])
    runs = np.diff(bounds).tolist()
    return RleMask(mask.shape[0], mask.shape[1], tuple(([0] if flat[0] else []) + runs))


def decode(rle: RleMask) -> NDArray[np.bool_]:
    """Boolean mask (H, W). Raises ValueError when the counts do not fill the image."""
    if sum(rle.counts) != rle.height * rle.width:
        raise ValueError(f"RLE counts sum to {sum(rle.counts)}, allowed: {rle.height} x {rle.width}")
    values = np.arange(len(rle.counts)) % 2 == 1
    return np.repeat(values, rle.counts).reshape((rle.height, rle.width), order="F")
