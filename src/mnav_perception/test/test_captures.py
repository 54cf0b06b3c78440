"""The capture store."""

from __future__ import annotations

import pytest

from mnav_core.geometry import SE3
from mnav_perception.captures import CaptureStore
from mnav_perception.testing.scenes import Scene


def image(robot):
    return Scene(()).depth_image(robot.views["front"].intrinsics(4, 3), SE3.identity())


def test_the_last_sixteen_are_kept_and_only_the_newest_is_navigable(cobot):
    store = CaptureStore()
    assert store.newest is None and not store.is_navigable("cap:0:0.000")
    captures = [store.add(0.5 * k, (image(cobot),), simultaneous=True) for k in range(20)]
    assert [c.ref for c in captures][:2] == ["cap:0:0.000", "cap:1:0.500"]
    assert len({c.ref for c in captures}) == 20
    assert store.refs == tuple(c.ref for c in captures[4:])
    assert store.get(captures[3].ref) is None and store.get(captures[4].ref) is captures[4]
    assert store.newest is captures[19]
    assert [store.is_navigable(c.ref) for c in captures] == [False] * 19 + [True]


def test_references_differ_even_at_one_stamp(cobot):
    store = CaptureStore()
    a, b = (store.add(1.0, (image(cobot),), simultaneous=False) for _ in range(2))
    assert a.ref != b.ref and not b.simultaneous
    with pytest.raises(ValueError, match="at least one image"):
        store.add(1.0, (), simultaneous=True)
