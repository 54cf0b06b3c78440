"""Run-length masks beside the reference implementation's definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mnav_core.masks import RleMask, decode, encode


def test_counts_are_column_major_and_start_with_zeros() -> None:
    mask = np.array([[1, 0, 0], [1, 1, 0]], bool)
    # columns: (1, 1), (0, 1), (0, 0) -> no zeros, two ones, one zero, one one, two zeros
    assert encode(mask).counts == (0, 2, 1, 1, 2)


@given(arrays(bool, st.tuples(st.integers(1, 20), st.integers(1, 20))))
def test_masks_survive_the_round_trip(mask: np.ndarray) -> None:
    rle = encode(mask)
    np.testing.assert_array_equal(decode(rle), mask)
    assert rle.area == mask.sum() and sum(rle.counts) == mask.size


def test_counts_that_do_not_fill_the_image_are_refused() -> None:
    with pytest.raises(ValueError, match="sum to 7, allowed: 2 x 3"):
        decode(RleMask(2, 3, (3, 4)))
