"""Numbers on the command line: what is allowed is said when they are off."""

from __future__ import annotations

import argparse

MAX_SEED = 2**63 - 1


def positive_int(text: str) -> int:
    """A whole number above 0."""
    return _whole(text, 1, "a whole number of at least 1")


def seed(text: str) -> int:
    """A seed: a whole number from 0 to 2^63 - 1."""
    return _whole(text, 0, "a whole number from 0 to 2^63 - 1")


def _whole(text: str, least: int, allowed: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not least <= value <= MAX_SEED:
        raise argparse.ArgumentTypeError(f"{text!r}, allowed: {allowed}")
    return value
