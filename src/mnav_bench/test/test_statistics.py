"""Intervals beside published values."""

import math

import pytest

from mnav_bench.reports.comparison import paired_difference
from mnav_bench.statistics import bootstrap_interval, wilson_interval


def test_wilson_interval_of_the_textbook() -> None:
    # 15 of 20: Wilson 95 % is 0.531 .. 0.888 (Newcombe 1998 tabulates this method).
    low, high = wilson_interval(15, 20)
    assert (low, high) == pytest.approx((0.531, 0.888), abs=1e-3)


def test_wilson_interval_at_the_ends() -> None:
    assert wilson_interval(0, 10)[0] == pytest.approx(0.0, abs=1e-12)
    assert wilson_interval(10, 10)[1] == pytest.approx(1.0)
    # 3.84 / (n + 3.84) for zero of n
    assert wilson_interval(0, 10)[1] == pytest.approx(3.8415 / 13.8415, abs=1e-4)
    assert math.isnan(wilson_interval(0, 0)[0])


def test_bootstrap_interval_is_near_the_normal_one() -> None:
    values = [float(i % 10) for i in range(400)]
    low, high = bootstrap_interval(values)
    half = 1.96 * math.sqrt(8.25 / 400)
    assert (low, high) == pytest.approx((4.5 - half, 4.5 + half), abs=0.05)


def test_paired_difference_of_a_constant_shift_has_no_width() -> None:
    assert paired_difference([3.0, 4.0, 9.0], [1.0, 2.0, 7.0]) == (2.0, 2.0, 2.0)
