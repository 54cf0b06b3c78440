"""Compilation of numeric kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile a function with numba: cached on disk, without the interpreter lock."""
    return cast(Kernel, numba.njit(cache=True, nogil=True)(function))
