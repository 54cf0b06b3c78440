"""A running graph: endpoints that do not fit, rates, clocks, frames, cameras against the floor. Only listens."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from mnav_cli.doctor.endpoints import Endpoint, mismatches
from mnav_cli.doctor.findings import Finding, bad, good, skipped, warning
from mnav_cli.doctor.floor import floor_error
from mnav_core.robot import RobotDescription

DISCOVERY_S, LISTEN_S = 4.0, 4.0
# Least messages a second that motion and maps need.
RATES_HZ = {"odom": 5.0, "lidar/points": 1.0, "costmap": 0.6, "detections": 0.3}
OFFSET_S, AHEAD_S = 0.25, 0.05
TILT_RAD, HEIGHT_M = math.radians(3.0), 0.05


def graph_findings(
    domain: int, namespace: str, robot: RobotDescription, environment: Mapping[str, str]
) -> list[Finding]:
    """Everything about the graph of a domain, within about ten seconds."""
    os.environ.update(environment)
    import rclpy
    from rclpy.context import Context
    from rclpy.executors import SingleThreadedExecutor

    context = Context()
    rclpy.init(args=[], context=context, domain_id=domain)
    node = rclpy.create_node(
        f"mnav_doctor_{os.getpid()}", namespace=namespace, context=context, enable_rosout=False,
        start_parameter_services=False,
    )  # fmt: skip
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        listening = _Listening(node, robot)
        deadline = time.monotonic() + DISCOVERY_S
        while time.monotonic() < deadline and not node.count_publishers("odom"):
            executor.spin_once(timeout_sec=0.05)
        if not node.count_publishers("odom"):
            return [skipped("graph", f"nobody publishes {node.resolve_topic_name('odom')} in domain {domain}")]
        listening.open()
        deadline = time.monotonic() + LISTEN_S
        while time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.05)
        return [*_endpoint_findings(node), *listening.findings()]
    finally:
        executor.shutdown(timeout_sec=0.5)
        node.destroy_node()
        context.try_shutdown()


def _endpoint_findings(node: Any) -> list[Finding]:
    found, topics = [], node.get_topic_names_and_types()
    for topic, _ in sorted(topics):
        publishers = [_endpoint(info) for info in node.get_publishers_info_by_topic(topic)]
        subscriptions = [_endpoint(info) for info in node.get_subscriptions_info_by_topic(topic)]
        # Our own node only listens in.
        subscriptions = [one for one in subscriptions if not one.node.endswith(node.get_name())]
        found += mismatches(topic, publishers, subscriptions)
    return found or [good("QoS and types", f"the ends of {len(topics)} topics fit each other")]


def _endpoint(info: Any) -> Endpoint:
    from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

    return Endpoint(
        f"{info.node_namespace.rstrip('/')}/{info.node_name}",
        str(info.topic_type),
        str(getattr(info, "topic_type_hash", "")),
        info.qos_profile.reliability == ReliabilityPolicy.RELIABLE,
        info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL,
    )


class _Listening:
    """Counts what comes, and keeps the newest depth image of each view."""

    def __init__(self, node: Any, robot: RobotDescription) -> None:
        self._node = node
        self._robot = robot
        self._counts: dict[str, int] = {}
        self._offsets: list[float] = []
        self._clock_s: float | None = None
        self._depth: dict[str, Any] = {}
        self._cameras: dict[str, Any] = {}
        self._started_s = 0.0

    def open(self) -> None:
        """Listen to the contract's topics, as they are published."""
        from nav_msgs.msg import OccupancyGrid, Odometry
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import CameraInfo, Image, PointCloud2

        from mnav_core.nodes import qos
        from mnav_core.nodes.transform_listener import TransformListener
        from mnav_interfaces.msg import DetectionArray

        kinds = {
            "odom": Odometry,
            "lidar/points": PointCloud2,
            "costmap": OccupancyGrid,
            "detections": DetectionArray,
        }
        for topic, kind in kinds.items():
            if topic == "lidar/points" and self._robot.lidar is None:
                continue
            self._counts[topic] = 0
            self._node.create_subscription(kind, topic, self._counter(topic), qos.sensor_qos())
        self._node.create_subscription(Clock, "/clock", self._on_clock, qos.sensor_qos())
        view = self._robot.success_view
        self._node.create_subscription(Image, f"camera/{view}/depth", self._keeper(self._depth, view), qos.sensor_qos())
        self._node.create_subscription(
            CameraInfo, f"camera/{view}/camera_info", self._keeper(self._cameras, view), qos.sensor_qos()
        )
        self._transforms = TransformListener(self._node, False, lambda: None)
        self._transforms.open()
        self._started_s = time.monotonic()

    def findings(self) -> list[Finding]:
        """What the messages say."""
        return [*self._rates(), self._clock(), *self._frames(), self._floor(self._robot.success_view)]

    def _counter(self, topic: str) -> Any:
        from mnav_core.messages.stamps import to_seconds

        def on_message(message: Any) -> None:
            self._counts[topic] += 1
            if topic == "odom":
                now_s = time.time() if self._clock_s is None else self._clock_s
                self._offsets.append(now_s - to_seconds(message.header.stamp))

        return on_message

    def _keeper(self, kept: dict[str, Any], view: str) -> Any:
        return lambda message: kept.__setitem__(view, message)

    def _on_clock(self, message: Any) -> None:
        from mnav_core.messages.stamps import to_seconds

        self._clock_s = to_seconds(message.clock)

    def _rates(self) -> list[Finding]:
        lasted, found = time.monotonic() - self._started_s, []
        for topic, count in self._counts.items():
            rate, least = count / lasted, RATES_HZ[topic]
            name = f"rate of {topic}"
            if rate >= least:
                found.append(good(name, f"{rate:.1f} Hz"))
            else:
                fix = f"see whether the node that publishes {topic} runs and keeps up: ./mnav status"
                found.append(bad(name, f"{rate:.1f} Hz, needed: {least:g}", fix))
        return found

    def _clock(self) -> Finding:
        if not self._offsets:
            return skipped("clocks", "no odometry came")
        offset = float(np.median(self._offsets))
        what = "/clock" if self._clock_s is not None else "this machine's clock"
        if -AHEAD_S <= offset <= OFFSET_S:
            return good("clocks", f"odometry is {1e3 * offset:.0f} ms old by {what}")
        where = "behind" if offset > 0.0 else "ahead of"
        fix = "synchronise both machines (chrony or ptp4l); in simulation, use_sim_time everywhere"
        return bad("clocks", f"odometry is {abs(offset):.2f} s {where} {what}", fix)

    def _frames(self) -> list[Finding]:
        from mnav_core import frames
        from mnav_core.transforms import LookupFault, TransformError

        wanted = [frames.ODOM, frames.BASE, *(frames.optical_frame(view) for view in self._robot.views)]
        wanted += [frames.LIDAR] if self._robot.lidar is not None else []
        missing = []
        for frame in wanted:
            try:
                self._transforms.buffer.lookup(frames.MAP, frame, 0.0)
            except TransformError as error:
                # The newest of what moves is enough.
                if error.fault not in (LookupFault.TOO_OLD, LookupFault.TOO_NEW):
                    missing.append(f"{frame} ({error.fault.value})")
        if not missing:
            return [good("frames", f"map leads to all {len(wanted)} frames of {self._robot.name}")]
        fix = "publish them on tf and tf_static in the robot's namespace (docs/contract.md, frames)"
        return [bad("frames", f"no way from map to {', '.join(missing)}", fix)]

    def _floor(self, view: str) -> Finding:
        from mnav_core import frames
        from mnav_core.messages import sensing
        from mnav_core.messages.stamps import to_seconds
        from mnav_core.transforms import TransformError

        name = f"camera {view} against the floor"
        if view not in self._depth or view not in self._cameras:
            return skipped(name, "no depth image with camera_info came")
        image = self._depth[view]
        try:
            mount = self._transforms.buffer.lookup(frames.BASE, image.header.frame_id, to_seconds(image.header.stamp))
        except TransformError as error:
            return skipped(name, str(error))
        depth = sensing.depth_of(image)
        camera = sensing.camera_of(self._cameras[view]).scaled(depth.shape[1], depth.shape[0])
        rows, columns = np.nonzero(depth > 0.0)
        pixels = np.stack([columns + 0.5, rows + 0.5], axis=1)
        error_found = floor_error(mount.apply(camera.unproject(pixels, depth[rows, columns].astype(float))))
        if error_found is None:
            return skipped(name, "it sees no floor near the robot")
        tilt, height = error_found.tilt_rad, error_found.height_m
        text = f"the floor lies {height:+.3f} m high and is tilted by {math.degrees(tilt):.1f} deg"
        if abs(height) <= HEIGHT_M and tilt <= TILT_RAD:
            return good(name, text)
        return warning(name, text, f"correct xyz and rpy of views.{view} in the robot file, and its transform")
