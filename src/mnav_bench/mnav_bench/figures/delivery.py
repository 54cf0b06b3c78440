"""One end of the stream of `messages.delivery_figures`: `python -m mnav_bench.figures.delivery ROLE SECONDS`."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter

import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import Image, PointCloud2

from mnav_bench.figures.messages import HEIGHT, IMAGES, POINTS, RATE_HZ, START_LIMIT_S, WIDTH
from mnav_core.messages.sensing import to_point_cloud, to_rgb_image
from mnav_core.messages.stamps import to_seconds
from mnav_core.nodes.qos import sensor_qos

# Without a message for so long, the stream is over.
SILENCE_S = 5.0
TOPICS = {f"camera/view{k}/image": Image for k in range(IMAGES)} | {"lidar/points": PointCloud2}


def send(node: Node, seconds: float) -> dict[str, int]:
    """Publish at the rate once every topic has its subscriber; how many of each. Raises TimeoutError without them."""
    publishers = {topic: node.create_publisher(kind, topic, sensor_qos()) for topic, kind in TOPICS.items()}
    deadline = time.monotonic() + START_LIMIT_S
    while not all(p.get_subscription_count() for p in publishers.values()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no subscriber within {START_LIMIT_S:g} s")
        rclpy.spin_once(node, timeout_sec=0.05)
    rgb = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    points = np.random.default_rng(1).normal(size=(POINTS, 3)).astype(np.float32)
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for tick in range(round(seconds * RATE_HZ)):
        while (left := started + (tick + 1) / RATE_HZ - time.monotonic()) > 0.0:
            time.sleep(left)
        for topic, publisher in publishers.items():
            stamp = time.time()
            message = to_point_cloud(points, "x", stamp) if topic == "lidar/points" else to_rgb_image(rgb, "x", stamp)
            publisher.publish(message)
            counts[topic] += 1
    # Leave time for the last messages before the publishers go away.
    ends = time.monotonic() + 1.0
    while time.monotonic() < ends:
        rclpy.spin_once(node, timeout_sec=0.05)
    return dict(counts)


def receive(node: Node, seconds: float) -> dict[str, object]:
    """Count messages until all are there or none came for some seconds."""
    counts: Counter[str] = Counter()
    delays: list[float] = []

    def listen(topic: str) -> None:
        def on_message(message: Image | PointCloud2) -> None:
            counts[topic] += 1
            delays.append(1e3 * (time.time() - to_seconds(message.header.stamp)))

        node.create_subscription(TOPICS[topic], topic, on_message, sensor_qos())

    for topic in TOPICS:
        listen(topic)
    expected = round(seconds * RATE_HZ) * len(TOPICS)
    deadline = time.monotonic() + START_LIMIT_S
    while sum(counts.values()) < expected and time.monotonic() < deadline:
        before = sum(counts.values())
        rclpy.spin_once(node, timeout_sec=0.2)
        if sum(counts.values()) > before:
            deadline = time.monotonic() + SILENCE_S
    return {"counts": dict(counts), "median_ms": float(np.median(delays)) if delays else float("nan")}


def main(arguments: list[str]) -> int:
    """Play one end and print what it counted as JSON."""
    role, seconds = arguments
    rclpy.init()
    node = rclpy.create_node(f"delivery_{role}")
    try:
        print(json.dumps(send(node, float(seconds)) if role == "send" else receive(node, float(seconds))))
    finally:
        node.destroy_node()
        rclpy.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
