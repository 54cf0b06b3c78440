"""Packages that only collection needs, and what to say where they are missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from mnav_core.errors import UsageError


def extra(name: str) -> ModuleType:
    """A module of the extra. Raises UsageError that says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"collect: {name.partition('.')[0]} is not installed; install the extra: pip install h5py pyarrow"
        ) from error
