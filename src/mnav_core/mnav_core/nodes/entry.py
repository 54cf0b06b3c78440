"""Starting one node from a shell or a launch file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mnav_core.errors import UsageError


def run_node(factory: Callable[..., Any]) -> int:
    """Make the node and spin it until interrupted; 0 then, 2 when its parameters were refused."""
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

    rclpy.init()
    executor = SingleThreadedExecutor()
    try:
        node = factory()
    except UsageError as error:
        print(f"mnav: {error}", file=sys.stderr)
        rclpy.try_shutdown()
        return 2
    executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        executor.shutdown(timeout_sec=1.0)
        rclpy.try_shutdown()
    return 0
