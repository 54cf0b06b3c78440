"""A robot with one camera captures all around by turning, with the motion lease, over real DDS."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rclpy")

from nav2_msgs.action import NavigateToPose

from mnav_bench.testing.flat_graph import FlatGraph, FlatRobot
from mnav_core.geometry import SE2, wrap_angle
from mnav_core.messages.poses import se3_of, to_pose_stamped
from mnav_interfaces.action import VisualPointNavigate
from mnav_interfaces.srv import CapturePanorama
from mnav_sim_bridge.flat_world import Box, Yard

pytestmark = pytest.mark.ros

START = SE2(0.0, 0.0, 0.4)
YARD = Yard((3.5, 3.5), boxes=(Box((-2.4, 0.6, 0.0), (-1.8, 1.2, 1.2)),))


def test_one_camera_sees_all_around_by_turning(ros_domain: int) -> None:
    with FlatGraph((FlatRobot("go2", "", START),), YARD, kind="go2", real_time_factor=2.5) as graph:
        graph.go()
        panorama = graph.nodes["client"].create_client(CapturePanorama, "capture_panorama")
        graph.wait(panorama.service_is_ready)
        own = graph.result_of(panorama.call_async(CapturePanorama.Request(without_turning=True)))
        assert own.ok and not own.rotated and [view.view for view in own.views] == ["front"]
        around = graph.result_of(panorama.call_async(CapturePanorama.Request()))
        assert around.ok and around.rotated and not around.simultaneous, around.reason
        assert [view.view for view in around.views] == ["front", "right", "back", "left"]
        for view, yaw in zip(around.views, (0.0, -math.pi / 2, math.pi, math.pi / 2), strict=True):
            ahead = se3_of(view.camera_pose).rotation[:, 2]
            assert abs(wrap_angle(math.atan2(ahead[1], ahead[0]) - START.yaw - yaw)) < 0.15, view.view
        stamps = [view.header.stamp.sec + view.header.stamp.nanosec / 1e9 for view in around.views]
        assert stamps[0] < stamps[3] < stamps[2] < stamps[1], "left is seen first, right last"
        assert abs(wrap_angle(graph.now.poses["go2"].yaw - START.yaw)) < 0.2, "it ends as it began"

        # A point of a view that was seen by turning can be driven to.
        points = graph.client(VisualPointNavigate, "visual_point_navigate")
        goal = VisualPointNavigate.Goal(image_ref=around.capture_ref, view="left", u=0.5, v=0.8, intent="pass_through")
        result = graph.result_of(graph.send(points, goal).get_result_async()).result.result
        assert result.status.value == 1, result.reason
        moved = graph.now.poses["go2"]
        assert abs(wrap_angle(math.atan2(moved.y, moved.x) - START.yaw - math.pi / 2)) < 0.5

        # Who holds the lease is not turned away under its feet.
        drives = graph.client(NavigateToPose, "navigate_to_pose")
        running = graph.send(drives, NavigateToPose.Goal(pose=to_pose_stamped(SE2(2.5, -2.5), 0.0)))
        graph.wait(lambda: not graph.now.velocities["go2"].is_rest)
        busy = graph.result_of(panorama.call_async(CapturePanorama.Request()))
        assert not busy.ok and "REFUSED_BUSY" in busy.reason and "navigate_to_pose" in busy.reason
        graph.result_of(running.cancel_goal_async())


def test_four_cameras_do_not_turn(ros_domain: int) -> None:
    with FlatGraph((FlatRobot(start=START),), YARD, real_time_factor=2.5) as graph:
        graph.go()
        panorama = graph.nodes["client"].create_client(CapturePanorama, "capture_panorama")
        graph.wait(panorama.service_is_ready)
        taken = graph.result_of(panorama.call_async(CapturePanorama.Request()))
        assert taken.ok and taken.simultaneous and not taken.rotated and len(taken.views) == 4
        assert graph.now.poses["cobot_magic"] == START
