"""Driver nodes between the contract and fake robots that speak as their vendors do, over real DDS and UDP."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("unitree_api")

import rclpy
from nav2_msgs.action import NavigateToPose
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from mnav_bench.testing.flat_graph import FlatGraph, FlatRobot, parameters
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.messages.poses import to_pose_stamped
from mnav_core.messages.task import task_result_of, to_task_goal
from mnav_core.nodes import qos
from mnav_core.requests import TaskGoal, TaskOutcome
from mnav_interfaces.action import NavigateTask
from mnav_robots.go1_node import make_node as make_go1
from mnav_robots.go2_node import make_node as make_go2
from mnav_robots.tracer_node import make_node as make_tracer
from mnav_sim_bridge.flat_world import Box, Target, Yard

pytestmark = pytest.mark.ros

KINDS: list[tuple[str, Callable[..., Any]]] = [("go2", make_go2), ("go1", make_go1), ("cobot_magic", make_tracer)]
# A wall to be seen by, so that a mount that is off would be found out.
YARD = Yard((4.0, 4.0), boxes=(Box((3.0, -1.0, 0.0), (3.2, 1.0, 1.5)),))
# Something to find, beside the robot and behind it, where it does not see it at first.
SEARCHED = Yard((4.0, 4.0), targets=(Target("egg_1", "egg", (-2.2, -1.8, 0.45)),))
REST_S = 0.3


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def graph_of(kind: str, driver: Callable[..., Any], namespace: str = "", yard: Yard = YARD) -> FlatGraph:
    robots = (FlatRobot(kind, namespace, SE2(-2.0, 0.5, 0.2)),)
    return FlatGraph(robots, yard, kind=kind, driver=driver, go1_address=f"127.0.0.1:{free_port()}")


@pytest.mark.parametrize(("kind", "driver"), KINDS)
def test_a_drive_and_two_stops_through_vendor_messages(ros_domain: int, kind: str, driver: Callable[..., Any]) -> None:
    with graph_of(kind, driver, "robot7") as graph:
        graph.go()
        drives = graph.client(NavigateToPose, "robot7/navigate_to_pose")
        goal = NavigateToPose.Goal(pose=to_pose_stamped(SE2(0.0, 0.0), 0.0))
        goal.pose.pose.orientation.w = 0.0
        reached = graph.send(drives, goal)
        assert graph.result_of(reached.get_result_async()).result.error_code == 0
        assert graph.rest_after(kind, graph.now.time_s - 0.1) <= REST_S
        assert graph.now.poses[kind].distance_to(0.0, 0.0) < 0.25

        # A cancelled drive rests, though the vendor holds or drops what it was told.
        goal.pose.pose.position.x = -2.5
        running = graph.send(drives, goal)
        graph.wait(lambda: not graph.now.velocities[kind].is_rest)
        graph.wait(lambda: abs(graph.now.velocities[kind].vx) > 0.25)
        before_s = graph.now.time_s
        running.cancel_goal_async()
        assert graph.rest_after(kind, before_s) <= REST_S + 0.1001, "one tick for the cancel to come"
        graph.result_of(running.get_result_async())

        running = graph.send(drives, goal)
        graph.wait(lambda: abs(graph.now.velocities[kind].vx) > 0.25)
        stops = graph.nodes["client"].create_publisher(Bool, "robot7/emergency_stop", qos.latched_qos())
        graph.wait(lambda: stops.get_subscription_count() >= 3)
        before_s = graph.now.time_s
        stops.publish(Bool(data=True))
        assert graph.rest_after(kind, before_s) <= REST_S + 0.1001
        graph.result_of(running.get_result_async())
        graph.wait(lambda: graph.now.time_s > before_s + 2.0)
        after = [m.velocities[kind] for m in graph.bridge.trace if m.time_s > before_s + 0.5]
        assert all(velocity.is_rest for velocity in after)


@pytest.mark.parametrize(("kind", "driver"), KINDS)
def test_a_task_through_vendor_messages(ros_domain: int, kind: str, driver: Callable[..., Any]) -> None:
    with graph_of(kind, driver, yard=SEARCHED) as graph:
        graph.go()
        tasks = graph.client(NavigateTask, "navigate_task")
        goal = NavigateTask.Goal(goals=[to_task_goal(TaskGoal("g", "egg", "egg"))], budget_s=120.0)
        handle = graph.send(tasks, goal)
        found = task_result_of(graph.result_of(handle.get_result_async(), 60.0).result)
        assert found.outcome is TaskOutcome.ACHIEVED, found.reason
        egg = SEARCHED.targets[0].center
        assert graph.now.poses[kind].distance_to(egg[0], egg[1]) < 1.5


@pytest.mark.parametrize(("kind", "driver"), KINDS)
def test_a_driver_that_ends_leaves_its_robot_at_rest(ros_domain: int, kind: str, driver: Callable[..., Any]) -> None:
    with graph_of(kind, driver) as graph:
        graph.go()
        node = graph.nodes[f"{kind}:driver"]
        drives = graph.client(NavigateToPose, "navigate_to_pose")
        graph.send(drives, NavigateToPose.Goal(pose=to_pose_stamped(SE2(2.0, 0.0), 0.0)))
        graph.wait(lambda: graph.now.velocities[kind].vx > 0.3)
        graph.executor.remove_node(node)
        before_s = graph.now.time_s
        node.destroy_node()
        # Without a word a Go2 would walk on for 1 s, and a Go1 for good.
        assert graph.rest_after(kind, before_s) <= REST_S + 0.1001


def test_a_go2_that_lies_down_does_not_walk(ros_domain: int) -> None:
    with graph_of("go2", make_go2) as graph:
        graph.go()
        stand = graph.nodes["client"].create_client(SetBool, "stand")
        graph.wait(stand.service_is_ready)
        assert graph.result_of(stand.call_async(SetBool.Request(data=False))).success
        drives = graph.client(NavigateToPose, "navigate_to_pose")
        running = graph.send(drives, NavigateToPose.Goal(pose=to_pose_stamped(SE2(2.0, 0.0), 0.0)))
        start_s = graph.now.time_s
        graph.wait(lambda: graph.now.time_s > start_s + 1.0)
        assert graph.now.velocities["go2"].is_rest
        # Told to stand, it walks on to where it was sent.
        assert graph.result_of(stand.call_async(SetBool.Request(data=True))).success
        graph.wait(lambda: graph.now.velocities["go2"].vx > 0.1)
        graph.result_of(running.cancel_goal_async())


def test_a_driver_refuses_another_robot(ros_domain: int) -> None:
    rclpy.init()
    try:
        with pytest.raises(
            UsageError, match=r"go1: vendor.topics.command is missing, allowed for go2_driver: unitree_a"
        ):
            make_go2(parameter_overrides=parameters(robot="go1"))
        with pytest.raises(UsageError, match=r"cobot_magic: vendor.topics.command is of type geometry_msgs/Twist"):
            make_go2(parameter_overrides=parameters(robot="cobot_magic"))
        with pytest.raises(UsageError, match=r"address 'here', allowed: HOST:PORT"):
            make_go1(parameter_overrides=parameters(address="here"))
    finally:
        rclpy.try_shutdown()
