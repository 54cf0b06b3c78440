"""The executor with Nav2 as its backend, against a node that speaks Nav2's actions over real DDS."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import PoseStamped, Twist
from nav2_msgs.action import ComputePathToPose, NavigateToPose
from nav_msgs.msg import Odometry
from rclpy.action import ActionServer, CancelResponse
from rclpy.clock import Clock, ClockType
from std_msgs.msg import Bool

from mnav_bench.testing.flat_graph import FlatGraph, FlatRobot
from mnav_core.geometry import SE2
from mnav_core.messages.poses import se2_of, to_pose_stamped
from mnav_core.motion import MotionStatus
from mnav_core.nav2_codes import status_of_error_code
from mnav_core.nodes import qos
from mnav_executor_geo.delegated_drive import status_of_nav2
from mnav_interfaces.action import VisualPointNavigate
from mnav_interfaces.srv import CapturePanorama
from mnav_sim_bridge.flat_world import Yard

pytestmark = pytest.mark.ros

NO_VALID_PATH, GOAL_OCCUPIED, FAILED_TO_MAKE_PROGRESS = 208, 206, 105


class StubbornNav2:
    """Drives straight to its goal; goes on driving for a while after a cancel; knows no way beyond x = 2.5."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.pose = SE2(0.0, 0.0)
        self.goal: Any = None
        self.trees: list[str] = []
        self.goals: list[SE2] = []
        self.driving_after_cancel = 0
        self.velocity = node.create_publisher(Twist, "nav2/cmd_vel", 1)
        node.create_subscription(Odometry, "odom", self._on_odometry, qos.sensor_qos())
        self.driver = ActionServer(
            node,
            NavigateToPose,
            "nav2/navigate_to_pose",
            execute_callback=self._execute,
            cancel_callback=lambda _handle: CancelResponse.ACCEPT,
        )
        self.planner = ActionServer(node, ComputePathToPose, "nav2/compute_path_to_pose", execute_callback=self._plan)
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)

    def _on_odometry(self, message: Odometry) -> None:
        self.pose = se2_of(message.pose.pose)

    async def _execute(self, handle: Any) -> NavigateToPose.Result:
        from rclpy.task import Future

        goal = se2_of(handle.request.pose.pose)
        self.trees.append(handle.request.behavior_tree)
        self.goals.append(goal)
        if goal.x > 2.5:
            handle.abort()
            return NavigateToPose.Result(error_code=NO_VALID_PATH, error_msg="no way there")
        done: Future = Future()
        cancelled_beats = 0

        def beat() -> None:
            nonlocal cancelled_beats
            if done.done():
                return
            if handle.is_cancel_requested:
                cancelled_beats += 1
                self.driving_after_cancel += 1
                self.velocity.publish(_twist(0.4, 0.0))
                if cancelled_beats > 40:
                    done.set_result("cancelled")
                return
            left = self.pose.distance_to(goal.x, goal.y)
            handle.publish_feedback(NavigateToPose.Feedback(distance_remaining=left))
            if left < 0.15:
                self.velocity.publish(_twist(0.0, 0.0))
                done.set_result("reached")
                return
            bearing = self.pose.bearing_to(goal.x, goal.y)
            self.velocity.publish(_twist(0.4 if abs(bearing) < 0.3 else 0.0, max(-0.7, min(0.7, 2.0 * bearing))))

        timer = self.node.create_timer(0.05, beat, clock=self.steady)
        how = await done
        self.node.destroy_timer(timer)
        if how == "reached":
            handle.succeed()
        else:
            handle.canceled()
        return NavigateToPose.Result()

    def _plan(self, handle: Any) -> ComputePathToPose.Result:
        result = ComputePathToPose.Result()
        if handle.request.goal.pose.position.x > 2.5:
            result.error_code, result.error_msg = GOAL_OCCUPIED, "a wall"
            handle.abort()
            return result
        result.path.header.frame_id = "map"
        result.path.poses = [PoseStamped(), handle.request.goal]
        handle.succeed()
        return result


def _twist(vx: float, wz: float) -> Twist:
    message = Twist()
    message.linear.x, message.angular.z = vx, wz
    return message


@pytest.fixture
def graph(ros_domain: int) -> Iterator[FlatGraph]:
    with FlatGraph((FlatRobot(),), Yard((4.0, 4.0)), executor={"backend": "nav2"}) as made:
        yield made


def drive(x: float, y: float) -> NavigateToPose.Goal:
    goal = NavigateToPose.Goal(pose=to_pose_stamped(SE2(x, y), 0.0), behavior_tree="holder:test")
    goal.pose.pose.orientation.w = 0.0
    return goal


def test_drives_are_nav2s_and_the_stop_is_ours(graph: FlatGraph) -> None:
    drives = graph.client(NavigateToPose, "navigate_to_pose")
    graph.go()
    unserved = graph.result_of(graph.send(drives, drive(1.0, 0.5)).get_result_async()).result
    assert status_of_error_code(unserved.error_code) is MotionStatus.UNSUPPORTED
    assert "nav2/navigate_to_pose" in unserved.error_msg

    nav2 = StubbornNav2(graph.nodes["client"])
    executor = graph.nodes["cobot_magic:executor"]
    graph.wait(lambda: executor._nav2._client.server_is_ready())
    reached = graph.result_of(graph.send(drives, drive(1.0, 0.5)).get_result_async()).result
    assert reached.error_code == 0, reached.error_msg
    assert graph.now.poses["cobot_magic"].distance_to(1.0, 0.5) < 0.3
    assert nav2.trees == [""], "what our clients say to us is no behaviour tree"
    assert nav2.goals[0].yaw == pytest.approx(math.atan2(0.5, 1.0), abs=0.05), "a free heading is the way there"

    refused = graph.result_of(graph.send(drives, drive(3.0, 0.0)).get_result_async()).result
    assert status_of_error_code(refused.error_code) is MotionStatus.BLOCKED_NO_PATH and "no way" in refused.error_msg

    # Nav2 drives on after a cancel; the robot does not.
    running = graph.send(drives, drive(-2.0, 0.0))
    graph.wait(lambda: abs(graph.now.velocities["cobot_magic"].vx) > 0.3)
    before_s = graph.now.time_s
    running.cancel_goal_async()
    assert graph.rest_after("cobot_magic", before_s) <= 0.4, "0.3 s, and a tick for the cancel to come"
    graph.wait(lambda: nav2.driving_after_cancel > 30)
    late = [m.velocities["cobot_magic"] for m in graph.bridge.trace if m.time_s > before_s + 0.5]
    assert late and all(velocity.is_rest for velocity in late)

    running = graph.send(drives, drive(2.0, 1.5))
    graph.wait(lambda: abs(graph.now.velocities["cobot_magic"].vx) > 0.3)
    stop = graph.nodes["client"].create_publisher(Bool, "emergency_stop", qos.latched_qos())
    graph.wait(lambda: stop.get_subscription_count() == 2)
    before_s = graph.now.time_s
    stop.publish(Bool(data=True))
    assert graph.rest_after("cobot_magic", before_s) <= 0.4
    ended = graph.result_of(running.get_result_async()).result
    assert status_of_error_code(ended.error_code) is MotionStatus.ESTOP


def test_points_and_paths_go_through_nav2(graph: FlatGraph) -> None:
    nav2 = StubbornNav2(graph.nodes["client"])
    graph.go()
    paths = graph.client(ComputePathToPose, "compute_path_to_pose")
    executor = graph.nodes["cobot_magic:executor"]
    graph.wait(lambda: executor._nav2._client.server_is_ready() and executor._nav2._paths._client.server_is_ready())
    found = graph.result_of(graph.send(paths, ComputePathToPose.Goal(goal=drive(1.0, 1.0).pose)).get_result_async())
    assert found.result.error_code == 0 and len(found.result.path.poses) == 2, "Nav2's path, not ours"
    none = graph.result_of(graph.send(paths, ComputePathToPose.Goal(goal=drive(3.0, 1.0).pose)).get_result_async())
    assert (none.result.error_code, none.result.error_msg) == (GOAL_OCCUPIED, "a wall")

    panorama = graph.nodes["client"].create_client(CapturePanorama, "capture_panorama")
    graph.wait(panorama.service_is_ready)
    capture = graph.result_of(panorama.call_async(CapturePanorama.Request()))
    points = graph.client(VisualPointNavigate, "visual_point_navigate")
    goal = VisualPointNavigate.Goal(
        image_ref=capture.capture_ref, view="left", u=0.5, v=0.85, intent="pass_through", holder="test"
    )
    result = graph.result_of(graph.send(points, goal).get_result_async()).result.result
    assert result.status.value == MotionStatus.REACHED.value, result.reason
    assert nav2.goals[-1].y > 0.5 and graph.now.poses["cobot_magic"].y > 0.4


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (FAILED_TO_MAKE_PROGRESS, MotionStatus.BLOCKED_NO_PROGRESS),
        (NO_VALID_PATH, MotionStatus.BLOCKED_NO_PATH),
        (GOAL_OCCUPIED, MotionStatus.BLOCKED_NO_PATH),
        (205, MotionStatus.REFUSED_START_LETHAL),
        (100, MotionStatus.BLOCKED_NO_PROGRESS),
    ],
)
def test_nav2_codes_as_statuses(code: int, status: MotionStatus) -> None:
    assert status_of_nav2(code) is status
