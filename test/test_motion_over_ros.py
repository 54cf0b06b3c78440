"""Motions over ROS: rest after a cancel, a newer goal or an emergency stop, statuses, two robots, refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import pytest

pytest.importorskip("rclpy")

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped, Quaternion
from nav2_msgs.action import ComputePathToPose, NavigateToPose
from std_msgs.msg import Bool
from tf2_msgs.msg import TFMessage

from mnav_bench.testing.flat_graph import FlatGraph, FlatRobot
from mnav_core.geometry import SE2
from mnav_core.messages.poses import to_transform
from mnav_core.motion import MotionStatus
from mnav_core.nav2_codes import status_of_error_code
from mnav_core.nodes import qos
from mnav_interfaces.action import Turn, VisualPointNavigate
from mnav_interfaces.srv import CapturePanorama, GetView
from mnav_sim_bridge.flat_world import Box, Yard

pytestmark = pytest.mark.ros

REST_S = 0.3
TRIALS = 20
GRAPH_YARD = Yard((4.0, 4.0), boxes=(Box((-0.3, 2.4, 0.0), (0.3, 2.8, 1.4)),))


def running_graph(real_time_factor: float) -> Iterator[FlatGraph]:
    with FlatGraph(yard=GRAPH_YARD, real_time_factor=real_time_factor) as running:
        running.go()
        running.wait(lambda: running.nodes["cobot_magic:executor"].costmap is not None)
        yield running


@pytest.fixture
def graph(ros_domain: int) -> Iterator[FlatGraph]:
    yield from running_graph(1.5)


@pytest.fixture
def paced_graph(ros_domain: int) -> Iterator[FlatGraph]:
    """Slow enough that what a message takes in wall time is little in robot time."""
    yield from running_graph(1.0)


def pose(x: float, y: float, yaw: float | None = None) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = "map"
    message.pose.position.x, message.pose.position.y = x, y
    half = 0.0 if yaw is None else yaw / 2.0
    message.pose.orientation = (
        Quaternion(x=0.0, y=0.0, z=0.0, w=0.0) if yaw is None else Quaternion(z=math.sin(half), w=math.cos(half))
    )
    return message


def drive(x: float, y: float, holder: str = "test") -> NavigateToPose.Goal:
    return NavigateToPose.Goal(pose=pose(x, y), behavior_tree=f"holder:{holder}")


def is_moving(graph: FlatGraph, robot: str = "cobot_magic") -> bool:
    velocity = graph.now.velocities[robot]
    return abs(velocity.vx) > 0.2 or abs(velocity.wz) > 0.4


def far_side(graph: FlatGraph, robot: str = "cobot_magic") -> tuple[float, float]:
    """A place well away from where the robot is."""
    here = graph.now.poses[robot]
    return (-2.2 if here.x > 0.0 else 2.2, -0.8)


def test_cancel_brings_rest_within_three_tenths_of_a_second(paced_graph: FlatGraph) -> None:
    graph = paced_graph
    client = graph.client(NavigateToPose, "navigate_to_pose")
    for _ in range(TRIALS):
        handle = graph.send(client, drive(*far_side(graph)))
        graph.wait(lambda: is_moving(graph))
        graph.result_of(handle.cancel_goal_async())
        acknowledged_s = graph.now.time_s
        answer = graph.result_of(handle.get_result_async())
        assert answer.status == GoalStatus.STATUS_CANCELED
        assert status_of_error_code(answer.result.error_code) is MotionStatus.CANCELLED
        assert graph.rest_after("cobot_magic", acknowledged_s) <= REST_S + 1e-6


def test_newer_goal_of_the_holder_brings_rest_first(paced_graph: FlatGraph) -> None:
    graph = paced_graph
    client = graph.client(NavigateToPose, "navigate_to_pose")
    handle = graph.send(client, drive(*far_side(graph)))
    for _ in range(TRIALS):
        graph.wait(lambda: is_moving(graph))
        newer = graph.send(client, drive(*far_side(graph)))
        acknowledged_s = graph.now.time_s
        answer = graph.result_of(handle.get_result_async())
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert status_of_error_code(answer.result.error_code) is MotionStatus.SUPERSEDED
        assert graph.rest_after("cobot_magic", acknowledged_s) <= REST_S + 1e-6
        handle = newer
    busy = graph.result_of(graph.send(client, drive(0.0, 0.0, "somebody")).get_result_async())
    assert status_of_error_code(busy.result.error_code) is MotionStatus.REFUSED_BUSY
    assert "test" in busy.result.error_msg


def test_goal_is_reached_and_the_path_is_served(graph: FlatGraph) -> None:
    client = graph.client(NavigateToPose, "navigate_to_pose")
    told: list[float] = []
    handle = graph.send(
        client, drive(1.5, 0.5), feedback_callback=lambda m: told.append(m.feedback.distance_remaining)
    )
    answer = graph.result_of(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_SUCCEEDED and answer.result.error_code == 0
    assert told[0] == pytest.approx(math.hypot(1.5, 0.5), abs=0.4) and told[-1] < 0.5 and len(told) >= 4
    assert graph.now.poses["cobot_magic"].distance_to(1.5, 0.5) < 0.25
    paths = graph.client(ComputePathToPose, "compute_path_to_pose")
    asked = ComputePathToPose.Goal(start=pose(-1.0, 0.0, 0.0), goal=pose(1.0, 0.0, 0.0), use_start=True)
    found = graph.result_of(graph.send(paths, asked).get_result_async()).result
    assert found.error_code == 0
    points = [(p.pose.position.x, p.pose.position.y) for p in found.path.poses]
    assert 1.9 <= sum(math.dist(a, b) for a, b in pairwise(points)) <= 2.3
    outside = ComputePathToPose.Goal(goal=pose(30.0, 0.0, 0.0))
    assert graph.result_of(graph.send(paths, outside).get_result_async()).result.error_code == 208


def test_a_second_publisher_of_localization_is_refused(graph: FlatGraph) -> None:
    client = graph.client(NavigateToPose, "navigate_to_pose")
    tf = graph.nodes["client"].create_publisher(TFMessage, "tf", qos.transform_qos())
    graph.wait(lambda: tf.get_subscription_count() == 3)
    for shift in (5.0, -5.0):
        tf.publish(TFMessage(transforms=[to_transform("map", "odom", SE2(shift, 0.0), graph.now.time_s)]))
    answer = graph.result_of(graph.send(client, drive(0.8, 0.0)).get_result_async())
    assert status_of_error_code(answer.result.error_code) is MotionStatus.REACHED
    assert graph.now.poses["cobot_magic"].distance_to(0.8, 0.0) < 0.25


def test_emergency_stop_ends_the_motion_and_holds(graph: FlatGraph) -> None:
    stop = graph.nodes["client"].create_publisher(Bool, "emergency_stop", qos.latched_qos())
    graph.wait(lambda: stop.get_subscription_count() == 2)
    client = graph.client(NavigateToPose, "navigate_to_pose")
    handle = graph.send(client, drive(*far_side(graph)))
    graph.wait(lambda: is_moving(graph))
    stop.publish(Bool(data=True))
    answer = graph.result_of(handle.get_result_async())
    ended_s = graph.now.time_s
    assert status_of_error_code(answer.result.error_code) is MotionStatus.ESTOP
    assert graph.rest_after("cobot_magic", ended_s) <= REST_S + 1e-6
    refused = graph.result_of(graph.send(client, drive(0.0, 0.0)).get_result_async())
    assert status_of_error_code(refused.result.error_code) is MotionStatus.ESTOP
    stop.publish(Bool(data=False))

    def reaches() -> bool:
        done = graph.result_of(graph.send(client, drive(*far_side(graph))).get_result_async())
        return status_of_error_code(done.result.error_code) is MotionStatus.REACHED

    graph.wait(reaches)


def test_maps_that_cease_stop_the_robot(graph: FlatGraph) -> None:
    client = graph.client(NavigateToPose, "navigate_to_pose")
    handle = graph.send(client, drive(*far_side(graph)))
    graph.wait(lambda: is_moving(graph))
    graph.nodes["cobot_magic:mapper"].trigger_deactivate()
    answer = graph.result_of(handle.get_result_async())
    assert status_of_error_code(answer.result.error_code) is MotionStatus.BLOCKED_STALE_INPUT
    assert "costmap" in answer.result.error_msg
    assert graph.now.velocities["cobot_magic"].is_rest


def test_an_executor_that_falls_silent_is_stopped_by_the_gate(graph: FlatGraph) -> None:
    client = graph.client(NavigateToPose, "navigate_to_pose")
    graph.send(client, drive(*far_side(graph)))
    graph.wait(lambda: is_moving(graph))
    executor = graph.nodes["cobot_magic:executor"]
    executor.destroy_timer(executor._timer)
    silent_s = graph.now.time_s
    # The gate's watchdog takes 0.3 s, the base 0.2 s, and the last command was up to a tick old.
    assert graph.rest_after("cobot_magic", silent_s) <= 0.7


def test_visual_point_goes_to_the_newest_capture_alone(graph: FlatGraph) -> None:
    client = graph.nodes["client"]
    panorama = client.create_client(CapturePanorama, "capture_panorama")
    view = client.create_client(GetView, "get_view")
    graph.wait(lambda: panorama.service_is_ready() and view.service_is_ready())
    turn = graph.client(Turn, "turn")
    turned = graph.result_of(graph.send(turn, Turn.Goal(holder="test", angle=math.pi / 2)).get_result_async())
    assert turned.result.result.status.value == MotionStatus.REACHED.value
    assert graph.now.poses["cobot_magic"].yaw == pytest.approx(math.pi / 2, abs=0.08)
    old, new = (graph.result_of(panorama.call_async(CapturePanorama.Request())) for _ in range(2))
    assert new.ok and new.simultaneous and [v.view for v in new.views] == ["front", "right", "back", "left"]
    again = graph.result_of(view.call_async(GetView.Request(capture_ref=old.capture_ref, view="left")))
    assert again.ok and again.is_known and not again.is_newest and again.captured.depth.height == 0
    assert "unknown" in graph.result_of(view.call_async(GetView.Request(capture_ref="cap:9:9", view="left"))).reason
    points = graph.client(VisualPointNavigate, "visual_point_navigate")

    def outcome(**goal: object) -> tuple[MotionStatus, VisualPointNavigate.Result]:
        filled = {"holder": "test", "image_ref": new.capture_ref, "view": "front", "u": 0.5, "v": 0.55, **goal}
        done = graph.result_of(graph.send(points, VisualPointNavigate.Goal(**filled)).get_result_async()).result
        return MotionStatus(done.result.status.value), done

    assert outcome(image_ref=old.capture_ref)[0] is MotionStatus.REFUSED_STALE_IMAGE
    assert outcome(image_ref="cap:9:9")[0] is MotionStatus.REFUSED_UNKNOWN_IMAGE
    assert outcome(view="up")[0] is MotionStatus.REFUSED_OUT_OF_RANGE
    assert outcome(u=1.5)[0] is MotionStatus.REFUSED_OUT_OF_RANGE
    assert outcome(intent="fly")[0] is MotionStatus.REFUSED_OUT_OF_RANGE
    # The front view shows the box, whose near face is at y = 2.4: 0.7 m before it is where to stand.
    status, done = outcome()
    assert status is MotionStatus.REACHED
    assert 2.4 - graph.now.poses["cobot_magic"].y == pytest.approx(0.7, abs=0.25)
    assert done.result.travelled_m == pytest.approx(1.7, abs=0.3)


def test_two_robots_in_two_namespaces_do_not_hear_each_other(ros_domain: int) -> None:
    robots = (FlatRobot("one", "one", SE2(-2.0, -2.0)), FlatRobot("two", "two", SE2(2.0, 2.0, math.pi)))
    with FlatGraph(robots, Yard((4.0, 4.0))) as graph:
        graph.go()
        graph.wait(lambda: all(graph.nodes[f"{r.name}:executor"].costmap is not None for r in robots))
        client = graph.client(NavigateToPose, "one/navigate_to_pose")
        answer = graph.result_of(graph.send(client, drive(-0.5, -2.0)).get_result_async())
        assert status_of_error_code(answer.result.error_code) is MotionStatus.REACHED
        assert all(moment.poses["two"] == SE2(2.0, 2.0, math.pi) for moment in graph.bridge.trace)
        assert graph.now.poses["one"].distance_to(-0.5, -2.0) < 0.25
        stop = graph.nodes["client"].create_publisher(Bool, "two/emergency_stop", qos.latched_qos())
        graph.wait(lambda: stop.get_subscription_count() == 2)
        stop.publish(Bool(data=True))
        second = graph.client(NavigateToPose, "two/navigate_to_pose")

        def refused() -> bool:
            done = graph.result_of(graph.send(second, drive(2.0, 1.9)).get_result_async())
            return status_of_error_code(done.result.error_code) is MotionStatus.ESTOP

        graph.wait(refused)
        free = graph.result_of(graph.send(client, drive(-1.5, -2.0)).get_result_async())
        assert status_of_error_code(free.result.error_code) is MotionStatus.REACHED
