"""Watching: bounded hand-over, newest image wins, and a Foxglove server that says what the layout asks for."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_planner.watching.newest import LineQueue, NewestOnly

LAYOUT = Path(__file__).resolve().parents[3] / "launch" / "config" / "foxglove" / "mnav.json"


def test_the_newest_of_each_kind_wins_and_the_rest_is_counted() -> None:
    slots: NewestOnly[str, int] = NewestOnly()
    for value in range(1000):
        slots.put("front", value)
    slots.put("left", 7)
    assert slots.take_all() == {"front": 999, "left": 7} and slots.dropped == 999
    assert slots.take_all() == {}


def test_nobody_who_puts_waits_for_who_takes() -> None:
    slots: NewestOnly[int, int] = NewestOnly()
    threads = [threading.Thread(target=lambda: [slots.put(k % 4, k) for k in range(2000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10.0)
    assert len(slots.take_all()) == 4


def test_a_log_keeps_order_and_loses_its_oldest_lines() -> None:
    lines = LineQueue(3)
    for k in range(5):
        lines.put(float(k), str(k))
    assert lines.take_all() == [(2.0, "2"), (3.0, "3"), (4.0, "4")] and lines.dropped == 2


def test_the_layout_shows_topics_that_are_served() -> None:
    layout = json.loads(LAYOUT.read_text())
    shown = {config["imageMode"]["imageTopic"] for name, config in layout["configById"].items() if "Image" in name}
    assert shown == {f"/camera/{view}" for view in ("front", "right", "back", "left")}
    assert set(layout["configById"]["3D!map"]["topics"]) == {"/map", "/path", "/robot"}
    assert layout["configById"]["RosOut!log"]["topicToRender"] == "/log"


def test_the_server_takes_everything_that_the_node_hands_over() -> None:
    pytest.importorskip("foxglove")
    from mnav_planner.watching.foxglove_sink import FoxgloveSink

    sink = FoxgloveSink(port=0)
    sink.open()
    try:
        assert sink.port > 0
        sink.image("front", 1.5, b"\xff\xd8\xff\xd9")
        data = np.array([[-1, 0], [100, 0]], np.int8)
        sink.map(GridMap(1.5, 0.05, (0.0, 0.0), data))
        sink.path(1.5, [SE2(0.0, 0.0), SE2(1.0, 0.0, 0.5)])
        sink.line(1.5, "turn left")
    finally:
        sink.close()


def test_a_window_that_connects_is_offered_the_topics_and_gets_what_it_subscribes_to() -> None:
    pytest.importorskip("foxglove")
    client = pytest.importorskip("websockets.sync.client")
    from mnav_planner.watching.foxglove_sink import FoxgloveSink

    sink = FoxgloveSink(port=0)
    sink.open()
    try:
        sink.image("front", 1.0, b"old")
        sink.line(1.0, "turn left")
        with client.connect(f"ws://127.0.0.1:{sink.port}", subprotocols=["foxglove.sdk.v1"], open_timeout=10) as window:
            channels: dict[str, int] = {}
            while not {"/camera/front", "/log"} <= set(channels):
                told = json.loads(window.recv(timeout=10))
                channels.update({c["topic"]: c["id"] for c in told.get("channels", ())})
            subscription = {"op": "subscribe", "subscriptions": [{"id": 7, "channelId": channels["/camera/front"]}]}
            window.send(json.dumps(subscription))
            deadline_s = time.monotonic() + 10.0
            data = b""
            while b"\xff\xd8new" not in data and time.monotonic() < deadline_s:
                sink.image("front", 2.0, b"\xff\xd8new")
                try:
                    got = window.recv(timeout=0.2)
                except TimeoutError:
                    continue
                data = got if isinstance(got, bytes) else data
            # Message data: opcode 1, subscription, log time in nanoseconds, then the message itself.
            assert data[0] == 1 and int.from_bytes(data[1:5], "little") == 7
            assert int.from_bytes(data[5:13], "little") == 2_000_000_000
    finally:
        sink.close()
