"""NumPy arrays into the typed arrays that message fields take without a look at each element."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
from numpy.typing import NDArray


def to_array(values: NDArray[Any], typecode: str = "B") -> array.array[int]:
    """The memory of `values` in row-major order as an array of a type code: B bytes, b int8, i int32."""
    data = array.array(typecode)
    if values.size:
        data.frombytes(np.ascontiguousarray(values).data.cast("B"))
    return data
