"""The LZF decompression that binary_compressed PCD files need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnav_perception.compiled import compiled


@compiled
def _expand(data: NDArray[np.uint8], out: NDArray[np.uint8]) -> int:
    """Bytes written, or -1 when the data do not fit."""
    read, written = 0, 0
    while read < data.shape[0]:
        control = int(data[read])
        read += 1
        if control < 32:
            # A run of control + 1 bytes as they are.
            count = control + 1
            if read + count > data.shape[0] or written + count > out.shape[0]:
                return -1
            for _ in range(count):
                out[written] = data[read]
                written += 1
                read += 1
            continue
        # A copy of earlier output: length in the upper three bits (7: more in the next byte), distance in 13 bits.
        count = control >> 5
        if count == 7:
            if read >= data.shape[0]:
                return -1
            count += int(data[read])
            read += 1
        if read >= data.shape[0]:
            return -1
        source = written - ((control & 31) << 8) - int(data[read]) - 1
        read += 1
        count += 2
        if source < 0 or written + count > out.shape[0]:
            return -1
        for _ in range(count):
            out[written] = out[source]
            written += 1
            source += 1
    return written


def expand(data: bytes, size: int) -> NDArray[np.uint8]:
    """The `size` bytes that were compressed. Raises ValueError when the data hold anything else."""
    out = np.zeros(size, np.uint8)
    written = _expand(np.frombuffer(data, np.uint8), out)
    if written < 0:
        raise ValueError(f"compressed data are damaged, allowed: {size} bytes")
    if written != size:
        raise ValueError(f"compressed data hold {written} bytes, allowed: {size}")
    return out
