"""Seeds that never overlap between suites, episodes and streams."""

import hashlib

import numpy as np


def derive_seed(*parts: str | int) -> int:
    """A 63-bit seed from the parts, e.g.

    `derive_seed("navtoobj", 7, 3)`; equal parts give equal seeds on every machine.
    """
    text = "\x1f".join(f"{type(p).__name__}:{p}" for p in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def generator(*parts: str | int) -> np.random.Generator:
    """A PCG64 generator seeded by `derive_seed(*parts)`."""
    return np.random.Generator(np.random.PCG64(derive_seed(*parts)))
