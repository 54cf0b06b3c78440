"""Gathering the inputs of a tick, and messages that wait for their transform."""

from __future__ import annotations

import itertools

import pytest

from mnav_core.awaiting_transforms import AwaitingTransforms
from mnav_core.geometry import SE2
from mnav_core.lockstep import TickGathering
from mnav_core.transforms import TransformBuffer


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_tick_is_taken_once_complete_in_any_order(order: tuple[int, ...]) -> None:
    gathering = TickGathering()
    events = [
        lambda: gathering.expect(4, 400, {"odom", "mapper"}),
        lambda: gathering.measured(400, "odom", "o"),
        lambda: gathering.said(4, "mapper", "m"),
    ]
    for index in order[:-1]:
        events[index]()
        assert gathering.take() is None
    events[order[-1]]()
    taken = gathering.take()
    assert taken is not None and taken.values == {"odom": "o", "mapper": "m"} and taken.tick == 4
    assert gathering.take() is None


def test_ticks_are_taken_in_order_and_never_twice() -> None:
    gathering = TickGathering()
    for tick in (1, 2):
        gathering.expect(tick, tick * 100, {"odom"})
    gathering.measured(200, "odom", "second")
    assert gathering.take() is None
    assert gathering.missing() == (1, ("odom",))
    gathering.measured(100, "odom", "first")
    assert [gathering.take().values["odom"] for _ in range(2)] == ["first", "second"]  # type: ignore[union-attr]
    gathering.expect(2, 200, {"odom"})
    gathering.measured(200, "odom", "again")
    assert gathering.take() is None


def test_what_is_kept_is_bounded() -> None:
    gathering = TickGathering()
    for stamp in range(1000):
        gathering.measured(stamp, "odom", stamp)
    assert len(gathering._by_stamp) == 64


def test_messages_wait_for_their_transform_and_the_newest_wins() -> None:
    buffer = TransformBuffer()
    waiting: AwaitingTransforms[str] = AwaitingTransforms(buffer, "map")
    buffer.set("map", "base_link", SE2(0, 0).to_se3(), 1.0)
    waiting.offer("scan", 1.2, "base_link", "old")
    assert waiting.take(1.2) == []
    waiting.offer("scan", 1.3, "base_link", "new")
    buffer.set("map", "base_link", SE2(2, 0).to_se3(), 1.4)
    (found,) = waiting.take(1.4)
    assert (found.message, found.stamp_s, waiting.dropped) == ("new", 1.3, 1)
    assert found.pose.translation[0] == pytest.approx(1.5)


def test_messages_are_given_up_after_half_a_second() -> None:
    buffer = TransformBuffer()
    waiting: AwaitingTransforms[str] = AwaitingTransforms(buffer, "map")
    waiting.offer("scan", 1.0, "lidar", "m")
    assert waiting.take(1.5) == [] and waiting.dropped == 0
    assert waiting.take(1.51) == [] and waiting.dropped == 1
    buffer.set("map", "lidar", SE2(0, 0).to_se3(), 1.0)
    assert waiting.take(1.52) == []
