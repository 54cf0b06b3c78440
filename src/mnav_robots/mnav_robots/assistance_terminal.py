"""A terminal for whoever helps a robot: prints what is asked, sends what is typed."""

from __future__ import annotations

import json
import sys
import threading
from typing import TextIO

from std_msgs.msg import String

from mnav_core.nodes import qos
from mnav_robots.assistance import read_answer


def converse(namespace: str, lines: TextIO, out: TextIO) -> None:
    """Print requests of the robot in `namespace` and publish the answers read from `lines` until those end."""
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

    rclpy.init()
    node = rclpy.create_node("assistance_terminal", namespace=namespace)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    answers = node.create_publisher(String, "assistance/answer", qos.stream_qos(depth=10))
    node.create_subscription(String, "assistance/request", lambda m: print(_told(m.data), file=out, flush=True),
                             qos.latched_qos())  # fmt: skip

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    try:
        for line in lines:
            if read_answer(line) is None:
                print("allowed: done or no, with the number or without", file=out, flush=True)
                continue
            answers.publish(String(data=line.strip()))
            answers.wait_for_all_acked(rclpy.duration.Duration(seconds=2.0))
    finally:
        executor.shutdown(timeout_sec=1.0)
        node.destroy_node()
        rclpy.try_shutdown()
        thread.join(timeout=2.0)


def _told(data: str) -> str:
    try:
        told = json.loads(data)
        picture = " (see assistance/picture)" if told["picture"] else ""
        return f"[{told['number']}] {told['text']}{picture}"
    except (ValueError, KeyError, TypeError):
        return data


def main() -> int:
    """Run in the namespace given as the first word."""
    converse(sys.argv[1] if len(sys.argv) > 1 else "", sys.stdin, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
