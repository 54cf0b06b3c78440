"""A server that is started again is noticed while its predecessor's endpoints linger, and so is one that goes."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

pytest.importorskip("rclpy")

import rclpy
from std_msgs.msg import Bool

from mnav_core.nodes.server_watch import ServerWatch, action_topic

pytestmark = pytest.mark.ros


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.01)
    return False


def test_another_server_and_the_end_of_the_last_are_told_once(ros_domain: int) -> None:
    rclpy.init()
    try:
        watcher, first, second = (rclpy.create_node(name) for name in ("watcher", "first", "second"))
        topic = action_topic("drive")
        watch = ServerWatch(watcher, topic)
        assert not watch.has_changed()
        one = first.create_publisher(Bool, topic, 1)
        assert within(10.0, lambda: bool(watcher.count_publishers(topic) == 1))
        assert not watch.has_changed() and not watch.has_changed()
        two = second.create_publisher(Bool, topic, 1)
        assert within(10.0, watch.has_changed)
        assert not watch.has_changed()
        first.destroy_publisher(one)
        assert within(10.0, lambda: bool(watcher.count_publishers(topic) == 1))
        assert not watch.has_changed()
        second.destroy_publisher(two)
        assert within(10.0, watch.has_changed)
    finally:
        rclpy.try_shutdown()
