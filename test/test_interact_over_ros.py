"""The `interact` action of a simulated house over DDS: by the point, with a result that says nothing of a joint.

Each story runs in a process of its own: a world is drawn in one thread of a process, and other tests draw in theirs.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

from mnav_bench.testing.flat_graph import parameters
from mnav_core.geometry import SE2
from mnav_core.interaction import InteractionCause, InteractionEnd, InteractionStatus, Operation
from mnav_core.messages.interaction import interaction_end_of, to_interact_goal
from mnav_core.requests import Interact
from mnav_core.robot import find_robot
from mnav_core.seams import World
from mnav_interfaces.action import Interact as InteractAction
from mnav_sim_bridge.bridge_node import BridgeNode
from mnav_sim_bridge.testing.scenes import Leaf, one_room
from mnav_sim_bridge.world import MujocoWorld, make_world

pytestmark = pytest.mark.ros
ON_LEAF = (2.98, 2.2, 1.0)
TIMEOUT_S = 40.0


class RoomBridge(BridgeNode):
    """A room with a closed door before the robot."""

    world: MujocoWorld | None = None

    def make_world(self) -> World:
        """The room."""
        leaf = Leaf("door_1", (3.0, 1.58), yaw=math.pi / 2, travel=1.57)
        house = one_room(8, 4, leaves=(leaf,))
        self.world = make_world(house, {"cobot_magic": (find_robot("cobot_magic"), SE2(1.7, 2.0, 0.0))})
        return self.world


def wait(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not ready():
        assert time.monotonic() < deadline, f"not within {TIMEOUT_S:g} s"
        time.sleep(0.005)


@contextmanager
def room() -> Iterator[tuple[RoomBridge, ActionClient]]:
    rclpy.init()
    executor = SingleThreadedExecutor()
    bridge = RoomBridge("simulation", parameter_overrides=parameters(real_time_factor=2.0))
    bridge.bring_up()
    client_node = rclpy.create_node("client")
    executor.add_node(bridge)
    executor.add_node(client_node)

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    threading.Thread(target=spin, daemon=True).start()
    client = ActionClient(client_node, InteractAction, "interact")
    wait(client.server_is_ready)
    yield bridge, client
    if bridge.simulation is not None:
        bridge.simulation.stop()
    executor.shutdown(timeout_sec=2.0)
    client_node.destroy_node()
    bridge.destroy_node()
    rclpy.try_shutdown()


def asked(client: ActionClient, goal: InteractAction.Goal) -> Any:
    sent = client.send_goal_async(goal)
    wait(sent.done)
    return sent.result()


def end_of(handle: Any) -> InteractionEnd:
    result = handle.get_result_async()
    wait(result.done)
    return interaction_end_of(result.result().result, 0)


def goal(point: tuple[float, float, float], operation: Operation = Operation.OPEN) -> InteractAction.Goal:
    return to_interact_goal(Interact("", "front", 0.0, 0.0, operation), point, "test")


def rejected_superseded_cancelled(client: ActionClient) -> None:
    assert end_of(asked(client, goal((7.0, 2.0, 1.0)))).cause is InteractionCause.TOO_FAR
    wrong = goal(ON_LEAF)
    wrong.operation = "kick"
    refused = end_of(asked(client, wrong))
    assert (refused.status, refused.cause) == (InteractionStatus.REJECTED, InteractionCause.BAD_GOAL)
    first, second = asked(client, goal(ON_LEAF)), asked(client, goal(ON_LEAF))
    assert end_of(first).cause in (InteractionCause.CANCELLED, InteractionCause.NONE)
    wait(second.cancel_goal_async().done)
    assert end_of(second).cause in (InteractionCause.CANCELLED, InteractionCause.NONE)


def completed(bridge: RoomBridge, client: ActionClient) -> None:
    assert end_of(asked(client, goal(ON_LEAF))).status is InteractionStatus.COMPLETED
    assert bridge.world is not None and bridge.world.truth().attempts()[-1].after > 0.95
    assert set(InteractAction.Result.get_fields_and_field_types()) == {"status", "cause", "reason"}


@pytest.mark.parametrize("story", ["rejected, superseded, cancelled", "completed"])
def test_goals_end_as_they_should(story: str, ros_domain: int) -> None:
    words = [sys.executable, __file__, story]
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path), "ROS_DOMAIN_ID": str(ros_domain)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


if __name__ == "__main__":
    with room() as (bridge, client):
        if sys.argv[1] == "completed":
            completed(bridge, client)
        else:
            rejected_superseded_cancelled(client)
