"""A robot's topics as its vendor and its sensors' drivers have them, instead of the contract's.

Sensors have the contract's topic names, since their drivers are remapped to them, but frame ids of their own; nobody
tells the mounts. The base is reached through the vendor's own messages.
"""

from __future__ import annotations

from typing import Any

from sensor_msgs.msg import CameraInfo, Image, Imu, JointState, PointCloud2

from mnav_core import frames
from mnav_core.geometry import SE3
from mnav_core.messages import detections, sensing, stamps
from mnav_core.motion import RobotCommand
from mnav_core.nodes import qos
from mnav_core.robot import RobotDescription
from mnav_core.sensing import PointCloud, RgbdImage, SensorFrame
from mnav_interfaces.msg import DetectionArray
from mnav_sim_bridge.robot_ports import PortSettings, RobotPorts
from mnav_sim_bridge.vendors.links import make_link

GRAVITY = 9.81


class VendorPorts(RobotPorts):
    """One fake robot."""

    def __init__(
        self, node: Any, name: str, prefix: str, robot: RobotDescription, settings: PortSettings, arrived: Any
    ) -> None:
        super().__init__(node, name, prefix, robot, settings, arrived)
        self.link = make_link(robot, node, self._prefix, settings.go1_address, arrived, lambda: self._stamp_ns / 1e9)

    def open(self) -> None:
        """Create the vendor's side."""
        sensor = qos.sensor_qos()
        self._publish_as("detections", DetectionArray, qos.sensor_qos(depth=20))
        if self._robot.lidar is not None:
            # livox_ros_driver2: reliable, deep.
            self._publish_as("lidar/points", PointCloud2, qos.stream_qos(depth=256))
            self._publish_as("lidar/imu", Imu, qos.stream_qos(depth=256))
        for view in self._robot.views:
            self._publish_as(f"camera/{view}/image", Image, sensor)
            self._publish_as(f"camera/{view}/depth", Image, sensor)
            self._publish_as(f"camera/{view}/camera_info", CameraInfo, sensor)
        if self._head is not None:
            self._publish_as("joint_states", JointState, sensor)
            self._subscribe(JointState, "head_command", self._on_head, qos.command_qos())
        self.link.open()

    def publish(self, frame: SensorFrame, tick: int) -> None:
        """Send one frame; the base's own word first, since a Go1's has no stamp but that of its arrival."""
        self._stamp_ns = stamps.to_nanoseconds(frame.stamp_s)
        self.link.tell(frame.odometry)
        if self._head is not None:
            self._publishers["joint_states"].publish(sensing.to_head_state(frame.camera_pitch, frame.stamp_s))
        if frame.scan is not None:
            self._publish_scan(frame.scan)
        for image in frame.images:
            self._publish_image(image)
        for found in frame.detections:
            self._publishers["detections"].publish(detections.to_detection_array(found))

    def is_connected(self) -> bool:
        """Whether a driver commands, and behind it maps, executor, gate and mind are there."""
        count = self._node.count_subscribers
        names = self._prefix
        return (
            self.link.is_commanded()
            and count(f"{names}odom") >= 2
            and count(f"{names}detections") >= 2
            and self._node.count_publishers(f"{names}cmd_vel") >= 1
            and count(f"{names}cmd_vel") >= 1
        )

    def newest_command(self, now_s: float) -> RobotCommand:
        """What the firmware makes of what came. Call it under `arrived`."""
        return RobotCommand(self.link.velocity(now_s), self._inbox.pitch)

    def missing(self, tick: int, stamp_ns: int) -> tuple[str, ...]:
        """Nothing: vendors know no lockstep."""
        return ()

    def close(self) -> None:
        """End the link."""
        self.link.close()

    def _publish_scan(self, scan: PointCloud) -> None:
        """The cloud rotated by the driver's setting, the IMU as it is mounted."""
        lidar = self._robot.lidar
        assert lidar is not None
        applied = SE3.from_rpy((0.0, 0.0, 0.0), self._robot.vendor.cloud_rpy)
        frame = self._frame(frames.LIDAR)
        points = applied.apply(scan.points).astype("float32")
        self._publishers["lidar/points"].publish(sensing.to_point_cloud(points, frame, scan.stamp_s))
        imu = Imu(header=sensing.header(frame, scan.stamp_s))
        up = lidar.pose_in_base().rotation.T @ (0.0, 0.0, GRAVITY)
        felt = imu.linear_acceleration
        felt.x, felt.y, felt.z = (float(v) for v in up)
        imu.orientation_covariance[0] = -1.0
        self._publishers["lidar/imu"].publish(imu)

    def _publish_image(self, image: RgbdImage) -> None:
        topic, frame = f"camera/{image.view}", self._frame(frames.optical_frame(image.view))
        if self._is_wanted(f"{topic}/image"):
            self._publishers[f"{topic}/image"].publish(sensing.to_rgb_image(image.rgb, frame, image.stamp_s))
        if self._is_wanted(f"{topic}/depth"):
            self._publishers[f"{topic}/depth"].publish(sensing.to_depth_image(image.depth, frame, image.stamp_s))
        self._publishers[f"{topic}/camera_info"].publish(sensing.to_camera_info(image.camera, frame, image.stamp_s))

    def _frame(self, name: str) -> str:
        return self._robot.vendor.frames.get(name, name)
