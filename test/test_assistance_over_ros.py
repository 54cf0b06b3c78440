"""A person opens for a robot without an arm: the client that every agent uses, pictures and answers over DDS."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import rclpy
from nav_msgs.msg import Odometry as OdometryMessage
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import String
from std_srvs.srv import SetBool
from tf2_msgs.msg import TFMessage

from mnav_core import frames
from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE2, SE3
from mnav_core.interaction import InteractionCause, InteractionEnd, InteractionStatus, Operation
from mnav_core.messages import poses, sensing
from mnav_core.messages.captures import rgb_of_compressed, to_captured_view
from mnav_core.messages.interaction import interaction_end_of
from mnav_core.motion import STOP, Velocity
from mnav_core.nodes import qos
from mnav_core.requests import Interact
from mnav_core.sensing import Odometry, RgbdImage
from mnav_interfaces.srv import GetView
from mnav_planner.motion_clients import MotionClients
from mnav_robots.assistance_node import make_node

pytestmark = pytest.mark.ros
TIMEOUT_S = 20.0
DOOR = (2.0, 0.0, 0.9)


def wait(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not ready():
        assert time.monotonic() < deadline, f"not within {TIMEOUT_S:g} s"
        time.sleep(0.005)


class Robot:
    """Tells odometry and transforms of a base that stands or rolls, keeps one grey capture, hears announcements."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.velocity = STOP
        self.rolling = 0
        self.told: list[dict[str, Any]] = []
        self.pictures: list[np.ndarray] = []
        self._odometry = node.create_publisher(OdometryMessage, "odom", qos.sensor_qos())
        self._transforms = node.create_publisher(TFMessage, "tf", qos.transform_qos())
        node.create_subscription(String, "assistance/request", lambda m: self.told.append(json.loads(m.data)),
                                 qos.latched_qos())  # fmt: skip
        node.create_subscription(CompressedImage, "assistance/picture",
                                 lambda m: self.pictures.append(rgb_of_compressed(m)), qos.latched_qos())  # fmt: skip
        node.create_service(GetView, "get_view", self._view)
        node.create_timer(0.05, self._tell)
        self.answers = node.create_publisher(String, "assistance/answer", qos.stream_qos(depth=10))
        self.confirm = node.create_client(SetBool, "assistance/confirm")
        self.motions = MotionClients(node, "test")
        self.motions.open()

    def _tell(self) -> None:
        stamp_s = self.node.get_clock().now().nanoseconds / 1e9
        pose = SE2(1.0, 0.0, 0.0)
        self._transforms.publish(TFMessage(transforms=[
            poses.to_transform(frames.MAP, frames.ODOM, SE2(0.0, 0.0), stamp_s),
            poses.to_transform(frames.ODOM, frames.BASE, pose, stamp_s),
        ]))  # fmt: skip
        self.rolling += not self.velocity.is_rest
        self._odometry.publish(sensing.to_odometry(Odometry(stamp_s, pose, self.velocity)))

    def _view(self, request: GetView.Request, response: GetView.Response) -> GetView.Response:
        response.ok = response.is_known = request.capture_ref == "c7"
        grey = np.full((48, 64, 3), 128, np.uint8)
        camera = PinholeCamera(64, 48, 32.0, 32.0, 32.0, 24.0)
        image = RgbdImage(request.view, 1.0, camera, SE3.identity(), grey, np.ones((48, 64), np.float32))
        response.captured = to_captured_view(image, False)
        return response

    def ask(self, ref: str = "c7") -> Callable[[], InteractionEnd]:
        """Send what an agent sends; a call that waits for the end."""
        request = Interact(ref, "front", 0.5, 0.5, Operation.OPEN, 1.0, DOOR, "door_1", "door")
        wait(lambda: self.motions.serves(request))
        sent = self.motions.send(request, 0.0)

        def end() -> InteractionEnd:
            wait(sent.done)
            result = sent.result().get_result_async()
            wait(result.done)
            return interaction_end_of(result.result().result, 0)

        return end


@contextmanager
def helped(**values: Any) -> Iterator[Robot]:
    rclpy.init()
    executor = SingleThreadedExecutor()
    overrides = [Parameter(name, value=value) for name, value in values.items()]
    nodes = [make_node(parameter_overrides=overrides), rclpy.create_node("robot")]
    robot = Robot(nodes[1])
    for node in nodes:
        executor.add_node(node)

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    try:
        wait(lambda: robot.answers.get_subscription_count() > 0 and robot.confirm.service_is_ready())
        yield robot
    finally:
        executor.shutdown(timeout_sec=2.0)
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()
        thread.join(timeout=2.0)


def test_topic_service_and_terminal_end_what_is_asked(ros_domain: int) -> None:
    with helped() as robot:
        end = robot.ask()
        wait(lambda: len(robot.told) == 1)
        assert robot.told[0]["picture"] and "open the door: 1.0 m ahead" in robot.told[0]["text"]
        # The marked picture: a red ring around the middle, grey elsewhere.
        red = (robot.pictures[-1][..., 0].astype(int) - robot.pictures[-1][..., 1]) > 60
        rows, columns = np.nonzero(red)
        assert abs(rows.mean() - 24) < 2 and abs(columns.mean() - 32) < 2 and not red[:8].any()
        robot.answers.publish(String(data="done 1"))
        assert end().status is InteractionStatus.COMPLETED

        # An image that perception has forgotten: asked without a picture, and refused through the service.
        end = robot.ask("gone")
        wait(lambda: len(robot.told) == 2)
        assert not robot.told[1]["picture"]
        said = robot.confirm.call_async(SetBool.Request(data=False))
        wait(said.done)
        assert said.result().success
        refused = end()
        assert (refused.status, refused.cause) == (InteractionStatus.REJECTED, InteractionCause.DECLINED)
        idle = robot.confirm.call_async(SetBool.Request(data=True))
        wait(idle.done)
        assert not idle.result().success, "nothing is asked"

        words = [sys.executable, "-m", "mnav_robots.assistance_terminal"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as terminal:
            assert terminal.stdin is not None and terminal.stdout is not None
            end = robot.ask()
            wait(lambda: len(robot.told) == 3)
            line = ""
            while not line.startswith("[3]"):
                line = terminal.stdout.readline()
                assert line
            terminal.stdin.write("done 3\n")
            terminal.stdin.close()
            assert end().status is InteractionStatus.COMPLETED
            assert terminal.wait(TIMEOUT_S) == 0


def test_silence_and_a_rolling_base_end_too(ros_domain: int) -> None:
    with helped(answer_s=1.0, settle_s=0.5) as robot:
        silent = robot.ask()()
        assert (silent.status, silent.cause) == (InteractionStatus.STALLED, InteractionCause.TIMED_OUT)
        told = len(robot.told)
        robot.velocity = Velocity(0.3, 0.0, 0.0)
        wait(lambda: robot.rolling >= 4)
        rolling = robot.ask()()
        assert (rolling.status, rolling.cause) == (InteractionStatus.REJECTED, InteractionCause.NOT_AT_REST)
        assert len(robot.told) == told, "nobody is asked while the base rolls"
