"""One way to compile a numeric kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with numba in nopython mode, without the interpreter lock, cached on disk between processes."""
    return cast(Callable[P, R], numba.njit(cache=True, nogil=True)(function))
