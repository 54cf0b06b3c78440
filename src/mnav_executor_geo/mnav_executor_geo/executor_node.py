"""Node `executor`: motions as actions, velocities to the gate."""

from __future__ import annotations

import math
import time
from typing import Annotated, Any

from geometry_msgs.msg import TwistStamped
from nav2_msgs.action import ComputePathToPose
from nav_msgs.msg import OccupancyGrid, Path
from nav_msgs.msg import Odometry as OdometryMessage
from pydantic import BaseModel, ConfigDict, Field
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from mnav_core import frames, qos
from mnav_core.geometry import SE2
from mnav_core.lockstep import TickGathering, TickInputs
from mnav_core.maps import GridMap
from mnav_core.messages import maps, sensing, stamps
from mnav_core.messages.motion import to_path
from mnav_core.messages.poses import se2_of
from mnav_core.motion import MotionStatus
from mnav_core.nodes.deferred_actions import DeferredActionServer, GoalEnd
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.nodes.self_starting import SelfStartingNode
from mnav_core.nodes.transform_listener import TransformListener
from mnav_core.parameters import declare_parameters
from mnav_core.requests import GoToPoint
from mnav_core.robot import find_robot
from mnav_core.sensing import Odometry
from mnav_core.transforms import TransformError
from mnav_executor_geo.inputs import NavigatorInputs
from mnav_executor_geo.motion_servers import MotionServers, ServedMotion
from mnav_executor_geo.navigator import Navigator, compute_path
from mnav_executor_geo.path_service import path_result
from mnav_executor_geo.settings import ExecutorSettings
from mnav_executor_geo.viewed_captures import ViewedCapture, ViewFetcher
from mnav_executor_geo.warm import warm
from mnav_interfaces.msg import Tick, TickDone


class ExecutorNodeSettings(BaseModel):
    """Parameters of the node. `view_timeout_s` in wall seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    lockstep: bool = False
    robot: str = "cobot_magic"
    rate_hz: Annotated[float, Field(gt=0.0, le=100.0)] = 10.0
    view_timeout_s: Annotated[float, Field(gt=0.0, le=60.0)] = 2.0
    executor: ExecutorSettings = ExecutorSettings()


class ExecutorNode(SelfStartingNode):
    """Steps a `Navigator`: at `rate_hz` when free-running, once a tick in lockstep."""

    settings: ExecutorNodeSettings

    def configure(self) -> None:
        """Make the core and the topics."""
        self.settings = declare_parameters(self, ExecutorNodeSettings)
        lockstep, robot = self.settings.lockstep, find_robot(self.settings.robot)
        warm(robot)
        self._navigator = Navigator(robot, self.settings.executor)
        self._has_head = any(camera.tilt is not None for camera in robot.views.values())
        self._odometry: Odometry | None = None
        self._pitch = 0.0
        self._costmap: GridMap | None = None
        self._is_active = False
        command = qos.command_qos(lockstep)
        self._velocity = self.create_publisher(TwistStamped, "cmd_vel_raw", command)
        self._head = self.create_publisher(JointState, "head_command", command)
        self._path = self.create_publisher(Path, "plan", qos.latched_qos())
        self._shown_path: Any = None
        self._transforms = TransformListener(self, lockstep, self._advance)
        self._transforms.open()
        self.create_subscription(OccupancyGrid, "costmap", self._on_costmap, qos.latched_qos(4 if lockstep else 1))
        self.create_subscription(Bool, "emergency_stop", self._on_emergency_stop, qos.latched_qos())
        self._views = ViewFetcher(self, Mailbox(self), self.settings.view_timeout_s, self._on_view)
        self._views.open()
        self._servers = MotionServers(self, self._start, self._cancel)
        self._servers.open()
        self._paths = DeferredActionServer(
            self, ComputePathToPose, "compute_path_to_pose", self._on_path_goal, lambda _handle: None
        )
        self._gathering = TickGathering()
        self._pending_tick: TickInputs | None = None
        self._now_ns: int | None = None
        self._question: TickDone | None = None

    def activate(self) -> None:
        """Begin to step."""
        self._is_active = True
        lockstep = self.settings.lockstep
        sensor = qos.sensor_qos(lockstep)
        self.create_subscription(OdometryMessage, "odom", self._on_odometry, sensor)
        if self._has_head:
            self.create_subscription(JointState, "joint_states", self._on_joints, sensor)
        if not lockstep:
            self._timer = self.create_timer(1.0 / self.settings.rate_hz, self._on_timer)
            return
        self.create_subscription(Tick, "tick", self._on_tick, qos.lockstep_qos())
        self.create_subscription(TickDone, "tick_done", self._on_done, qos.lockstep_qos())
        self._done = self.create_publisher(TickDone, "tick_done", qos.lockstep_qos())

    def deactivate(self) -> None:
        """Stop the robot."""
        self._is_active = False
        self._navigator.cancel(self._time_s(), MotionStatus.CANCELLED, "the executor was deactivated")
        if not self.settings.lockstep:
            self._on_timer()
            self.destroy_timer(self._timer)

    def _time_s(self) -> float:
        return self.now_s() if self._now_ns is None else self._now_ns / 1e9

    def _inputs(self, viewed: ViewedCapture | None = None) -> NavigatorInputs:
        viewed = viewed or ViewedCapture()
        odometry, pose = self._odometry, SE2(0.0, 0.0)
        if odometry is not None:
            try:
                offset = self._transforms.buffer.lookup(frames.MAP, frames.ODOM, odometry.stamp_s).to_se2()
                pose = odometry.pose if offset == SE2(0.0, 0.0) else offset @ odometry.pose
            except TransformError:
                # Not localised: nothing may move the robot.
                odometry = None
        return NavigatorInputs(
            now_s=self._time_s(),
            odometry=odometry,
            pose=pose,
            camera_pitch=self._pitch,
            costmap=self._costmap,
            newest_capture=viewed.newest,
            known_refs=viewed.known_refs,
            map_stamp_s=None if self._costmap is None else self._costmap.stamp_s,
        )

    def _start(self, motion: ServedMotion) -> bool:
        request, viewed = motion.goal.request, None
        assert request is not None
        if isinstance(request, GoToPoint):
            viewed = self._views.view_for(motion.motion_id, request)
            if viewed is None:
                return False
        refusal = self._navigator.start(motion.motion_id, request, motion.goal.holder, self._inputs(viewed))
        self._servers.started(motion, refusal)
        return True

    def _cancel(self, motion: ServedMotion) -> None:
        if self._navigator.active_id == motion.motion_id:
            self._navigator.cancel(self._time_s(), MotionStatus.CANCELLED, "cancelled by its client")

    def _on_view(self) -> None:
        self._servers.pump()
        self._answer()

    def _on_timer(self) -> None:
        self._servers.pump()
        self._step(stamps.to_nanoseconds(self.now_s()))

    def _step(self, stamp_ns: int) -> None:
        step = self._navigator.step(self._inputs())
        stamp_s = stamp_ns / 1e9
        self._velocity.publish(sensing.to_twist_stamped(step.command.velocity, stamp_s))
        if self._has_head:
            self._head.publish(sensing.to_head_state(step.command.camera_pitch, stamp_s))
        for report in step.finished:
            self._servers.finish(report)
        self._show_path(stamp_s)

    def _show_path(self, stamp_s: float) -> None:
        path = self._navigator.path
        if path is self._shown_path or self._path.get_subscription_count() == 0:
            return
        self._shown_path = path
        points = [] if path is None else [SE2(float(x), float(y)) for x, y in path.points]
        self._path.publish(to_path(points, stamp_s))

    def _on_path_goal(self, handle: Any) -> None:
        started = time.monotonic()
        goal = handle.request
        start = se2_of(goal.start.pose) if goal.use_start else self._inputs().pose
        end = se2_of(goal.goal.pose)
        found = None
        if self._costmap is not None and all(math.isfinite(v) for v in (start.x, start.y, end.x, end.y)):
            found = compute_path(start, end, self._costmap, self.settings.executor)
        result = path_result(found, self._time_s(), time.monotonic() - started)
        self._paths.finish(handle, GoalEnd.ABORTED if result.error_code else GoalEnd.SUCCEEDED, result)

    def _on_emergency_stop(self, message: Bool) -> None:
        self._navigator.emergency_stop(message.data, self._time_s())

    def _on_costmap(self, message: OccupancyGrid) -> None:
        self._costmap = maps.grid_of(message)
        self._advance()

    def _on_odometry(self, message: OdometryMessage) -> None:
        if self.settings.lockstep:
            self._gathering.measured(stamps.nanoseconds_of(message.header.stamp), "odom", message)
            self._advance()
        else:
            self._odometry = sensing.odometry_of(message)

    def _on_joints(self, message: JointState) -> None:
        pitch = sensing.head_pitch_of(message)
        if self.settings.lockstep:
            self._gathering.measured(stamps.nanoseconds_of(message.header.stamp), "head", pitch)
            self._advance()
        elif pitch is not None:
            self._pitch = pitch

    def _on_tick(self, message: Tick) -> None:
        names = ["odom", "mapper", *(["head"] if self._has_head else [])]
        self._gathering.expect(message.tick, stamps.nanoseconds_of(message.stamp), names)
        self._advance()

    def _on_done(self, message: TickDone) -> None:
        if message.stage == TickDone.STAGE_MAPPER:
            self._gathering.said(message.tick, "mapper", message)
            self._advance()
        elif message.stage == TickDone.STAGE_REQUESTS:
            self._question = message
            self._answer()

    def _advance(self) -> None:
        """Lockstep: step once everything of the tick is here, the map that the mapper speaks of included."""
        if not self._is_active or not self.settings.lockstep:
            return
        self._pending_tick = self._pending_tick or self._gathering.take()
        tick = self._pending_tick
        if tick is None or self._costmap is None:
            return
        if stamps.to_nanoseconds(self._costmap.stamp_s) != stamps.nanoseconds_of(tick.values["mapper"].map_stamp):
            return
        self._odometry = sensing.odometry_of(tick.values["odom"])
        self._pitch = tick.values.get("head") or 0.0
        self._now_ns = tick.stamp_ns
        if self._inputs().odometry is None:
            return
        self._pending_tick = None
        self._step(tick.stamp_ns)
        self._done.publish(TickDone(stage=TickDone.STAGE_EXECUTOR, tick=tick.tick, count=self._servers.ended))

    def _answer(self) -> None:
        """Lockstep: say again what has ended, once every goal that the mind sent has been started or refused."""
        question = self._question
        if question is None or not self._servers.is_idle:
            return
        self._question = None
        self._done.publish(
            TickDone(
                stage=TickDone.STAGE_EXECUTOR, tick=question.tick, round=question.round, count=self._servers.ended
            )
        )


def make_node(**kwargs: Any) -> ExecutorNode:
    """The node, brought up."""
    node = ExecutorNode("executor", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
