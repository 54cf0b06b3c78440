"""Node `mounts`: where the sensors sit, from the robot file, as transforms; and a look whether that is so."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict
from sensor_msgs.msg import Imu, JointState, PointCloud2
from tf2_msgs.msg import TFMessage

from mnav_core import frames
from mnav_core.geometry import SE2, SE3
from mnav_core.messages import poses, sensing
from mnav_core.messages.stamps import to_seconds
from mnav_core.nodes import qos
from mnav_core.nodes.self_starting import SelfStartingNode
from mnav_core.parameters import declare_parameters
from mnav_core.robot import RobotDescription, find_robot
from mnav_robots.mount_check import cloud_pose, complaint, gravity_tilt_deg, share_outside

# How many messages of each sensor are looked at.
LOOKS = 10


class MountsSettings(BaseModel):
    """Parameters. `localization` identity: `map`->`odom` is told here too, as the identity."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    robot: str = "cobot_magic"
    localization: Literal["identity", "external"] = "external"


def fixed_mounts(robot: RobotDescription) -> dict[str, SE3]:
    """Frames that do not move in the base: the contract's, and those that the sensors' drivers write."""
    made = {frames.optical_frame(view): c.optical_in_base() for view, c in robot.views.items() if c.tilt is None}
    if robot.lidar is not None:
        made[frames.LIDAR] = cloud_pose(robot.lidar, robot.vendor.cloud_rpy)
    return made | {robot.vendor.frames[name]: pose for name, pose in made.items() if name in robot.vendor.frames}


class MountsNode(SelfStartingNode):
    """Tells fixed mounts once, a tilting camera's with every `joint_states`; checks the LiDAR's with its first data."""

    settings: MountsSettings

    def configure(self) -> None:
        """Make the topics and tell the mounts."""
        self.settings = declare_parameters(self, MountsSettings)
        self._robot = find_robot(self.settings.robot)
        self._head = next((view for view, camera in self._robot.views.items() if camera.tilt is not None), None)
        self._gravity: list[Any] = []
        self._outside: list[float] = []
        self._checks: list[Any] = []
        self._static = self.create_publisher(TFMessage, "tf_static", qos.latched_qos())
        self._moving = self.create_publisher(TFMessage, "tf", qos.transform_qos())

    def activate(self) -> None:
        """Tell and listen."""
        told = [poses.to_transform(frames.BASE, name, pose, 0.0) for name, pose in fixed_mounts(self._robot).items()]
        if self.settings.localization == "identity":
            told.append(poses.to_transform(frames.MAP, frames.ODOM, SE2(0.0, 0.0), 0.0))
        self._static.publish(TFMessage(transforms=told))
        if self._head is not None:
            self.create_subscription(JointState, "joint_states", self._on_joints, qos.sensor_qos())
        if self._robot.lidar is not None:
            self._checks = [
                self.create_subscription(PointCloud2, "lidar/points", self._on_cloud, qos.sensor_qos()),
                self.create_subscription(Imu, "lidar/imu", self._on_imu, qos.sensor_qos()),
            ]

    def _on_joints(self, message: JointState) -> None:
        pitch = sensing.head_pitch_of(message)
        if pitch is None or self._head is None:
            return
        pose = self._robot.views[self._head].optical_in_base(pitch)
        name = frames.optical_frame(self._head)
        names = [name, *(self._robot.vendor.frames.get(n, "") for n in (name,))]
        stamp_s = to_seconds(message.header.stamp)
        made = [poses.to_transform(frames.BASE, child, pose, stamp_s) for child in names if child]
        self._moving.publish(TFMessage(transforms=made))

    def _on_imu(self, message: Imu) -> None:
        a = message.linear_acceleration
        self._gravity.append((a.x, a.y, a.z))
        if len(self._gravity) <= LOOKS:
            self._judge()

    def _on_cloud(self, message: PointCloud2) -> None:
        lidar = self._robot.lidar
        if lidar is None:
            return
        share = share_outside(sensing.points_of(message), lidar, self._robot.vendor.cloud_rpy)
        if share is not None:
            self._outside.append(share)
            self._judge()

    def _judge(self) -> None:
        """Once there is enough of both, or twice as much of the cloud where no IMU speaks, say it and stop looking."""
        lidar = self._robot.lidar
        if (
            lidar is None
            or len(self._outside) < LOOKS
            or (len(self._gravity) < LOOKS and len(self._outside) < 2 * LOOKS)
        ):
            return
        tilt = gravity_tilt_deg(np.mean(self._gravity, axis=0), lidar.pose_in_base()) if self._gravity else None
        wrong = complaint(tilt, float(np.median(self._outside)))
        if wrong:
            self.get_logger().error(f"robot {self._robot.name}: {wrong}")
        else:
            self.get_logger().info("the LiDAR's mount is as its robot file says")
        for subscription in self._checks:
            self.destroy_subscription(subscription)
        self._checks.clear()


def make_node(**kwargs: Any) -> MountsNode:
    """The node, brought up."""
    node = MountsNode("mounts", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
