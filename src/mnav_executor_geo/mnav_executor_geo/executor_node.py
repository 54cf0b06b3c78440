"""Node `executor`: motions as actions, velocities to the gate."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import OccupancyGrid, Path
from nav_msgs.msg import Odometry as OdometryMessage
from pydantic import BaseModel, ConfigDict, Field
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from mnav_core import frames
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.messages import maps, sensing
from mnav_core.messages.motion import to_path
from mnav_core.motion import MotionStatus
from mnav_core.nodes import qos
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.nodes.self_starting import SelfStartingNode
from mnav_core.nodes.transform_listener import TransformListener
from mnav_core.parameters import declare_parameters
from mnav_core.requests import GoToPoint
from mnav_core.robot import find_robot
from mnav_core.sensing import Odometry
from mnav_core.transforms import TransformError
from mnav_executor_geo.executor_lockstep import ExecutorLockstep
from mnav_executor_geo.inputs import NavigatorInputs
from mnav_executor_geo.motion_servers import MotionServers, ServedMotion
from mnav_executor_geo.nav2_server import make_nav2
from mnav_executor_geo.navigator import Navigator
from mnav_executor_geo.path_service import PathServer, remaining_m
from mnav_executor_geo.settings import ExecutorSettings
from mnav_executor_geo.viewed_captures import ViewedCapture, ViewFetcher
from mnav_executor_geo.warm import warm

FEEDBACK_PERIOD_S = 0.5


class ExecutorNodeSettings(BaseModel):
    """Parameters of the node. `view_timeout_s` in wall seconds.

    `backend` nav2: drives and paths are Nav2's, whose actions and `cmd_vel` are under `nav2_prefix`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    autostart: bool = True
    lockstep: bool = False
    robot: str = "cobot_magic"
    rate_hz: Annotated[float, Field(gt=0.0, le=100.0)] = 10.0
    view_timeout_s: Annotated[float, Field(gt=0.0, le=60.0)] = 2.0
    backend: Literal["own", "nav2"] = "own"
    nav2_prefix: Annotated[str, Field(min_length=1)] = "nav2"
    nav2_stamped_cmd_vel: bool = False
    executor: ExecutorSettings = ExecutorSettings()


class ExecutorNode(SelfStartingNode):
    """Steps a `Navigator`: at `rate_hz` when free-running, once a tick in lockstep (`ExecutorLockstep`)."""

    settings: ExecutorNodeSettings

    def configure(self) -> None:
        """Make the core and the topics."""
        self.settings = declare_parameters(self, ExecutorNodeSettings)
        lockstep, robot = self.settings.lockstep, find_robot(self.settings.robot)
        warm(robot)
        self._nav2 = make_nav2(self, self.settings, self.time_s) if self.settings.backend == "nav2" else None
        self._navigator = Navigator(robot, self.settings.executor, self._nav2)
        self.has_head = any(camera.tilt is not None for camera in robot.views.values())
        self.costmap: GridMap | None = None
        self._odometry: Odometry | None = None
        self._pitch = 0.0
        self._tick_s: float | None = None
        self._shown_path: Any = None
        self._next_feedback_s = 0.0
        command = qos.command_qos(lockstep)
        self._velocity = self.create_publisher(TwistStamped, "cmd_vel_raw", command)
        self._head = self.create_publisher(JointState, "head_command", command)
        self._plan = self.create_publisher(Path, "plan", qos.latched_qos())
        self._lockstep = ExecutorLockstep(self) if lockstep else None
        self._transforms = TransformListener(self, lockstep, self._advance)
        self._views = ViewFetcher(self, Mailbox(self), self.settings.view_timeout_s, self._pump)
        self._servers = MotionServers(self, self._start, self._cancel)
        self._paths = PathServer(self, self.settings.executor, self._path_inputs)

    def activate(self) -> None:
        """Listen, serve and step."""
        self._transforms.open()
        depth = 4 if self.settings.lockstep else 1
        self.create_subscription(OccupancyGrid, "costmap", self._on_costmap, qos.latched_qos(depth))
        self.create_subscription(Bool, "emergency_stop", self._on_emergency_stop, qos.latched_qos())
        self._views.open()
        self._servers.open()
        (self._nav2 or self._paths).open()
        if self._lockstep is not None:
            self._lockstep.open()
            return
        self.create_subscription(OdometryMessage, "odom", self._on_odometry, qos.sensor_qos())
        if self.has_head:
            self.create_subscription(JointState, "joint_states", self._on_joints, qos.sensor_qos())
        self._timer = self.create_timer(1.0 / self.settings.rate_hz, self._on_timer)

    def deactivate(self) -> None:
        """Stop the robot and fall silent."""
        self._navigator.cancel(self.time_s(), MotionStatus.CANCELLED, "the executor was deactivated")
        if self._lockstep is None:
            self.destroy_timer(self._timer)
            self.step(self.now_s())

    @property
    def ended(self) -> int:
        """How many motions have ended, refused ones included."""
        return self._servers.ended

    @property
    def has_started_all(self) -> bool:
        """Whether every goal that came has been started or refused."""
        return self._servers.is_idle

    def time_s(self) -> float:
        """Robot time: the tick's in lockstep, else the node's clock."""
        return self.now_s() if self._tick_s is None else self._tick_s

    def take_tick(self, odometry: Odometry, pitch: float) -> bool:
        """Lockstep: what was measured in a tick; False while the base cannot be located."""
        self._odometry, self._pitch, self._tick_s = odometry, pitch, odometry.stamp_s
        return self._inputs().odometry is not None

    def step(self, stamp_s: float) -> None:
        """One control tick: command, and end what has ended."""
        step = self._navigator.step(self._inputs())
        self._velocity.publish(sensing.to_twist_stamped(step.command.velocity, stamp_s))
        if self.has_head:
            self._head.publish(sensing.to_head_state(step.command.camera_pitch, stamp_s))
        for report in step.finished:
            self._servers.finish(report)
        self._show(stamp_s)

    def _show(self, stamp_s: float) -> None:
        """Feedback twice a second, and a changed path."""
        path, active = self._navigator.path, self._navigator.active_id
        if path is not None and active is not None and stamp_s >= self._next_feedback_s:
            self._next_feedback_s = stamp_s + FEEDBACK_PERIOD_S
            pose = self._inputs().pose
            self._servers.tell(active, pose, remaining_m(path, pose), stamp_s)
        if path is not self._shown_path and self._plan.get_subscription_count() > 0:
            self._shown_path = path
            points = [] if path is None else [SE2(float(x), float(y)) for x, y in path.points]
            self._plan.publish(to_path(points, stamp_s))

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
            now_s=self.time_s(),
            odometry=odometry,
            pose=pose,
            camera_pitch=self._pitch,
            costmap=self.costmap,
            newest_capture=viewed.newest,
            known_refs=viewed.known_refs,
            map_stamp_s=None if self.costmap is None else self.costmap.stamp_s,
        )

    def _path_inputs(self) -> tuple[SE2, GridMap | None, float]:
        inputs = self._inputs()
        return inputs.pose, inputs.costmap, inputs.now_s

    def _start(self, motion: ServedMotion) -> bool:
        request, viewed = motion.goal.request, None
        assert request is not None
        if isinstance(request, GoToPoint):
            viewed = self._views.view_for(motion.motion_id, request)
            if viewed is None:
                return False
        before = self._navigator.active_id
        refusal = self._navigator.start(motion.motion_id, request, motion.goal.holder, self._inputs(viewed))
        self._servers.started(motion, refusal, self.time_s())
        if before is not None and refusal is None:
            self._rest_now()
        return True

    def _cancel(self, motion: ServedMotion) -> None:
        if self._navigator.active_id == motion.motion_id:
            self._navigator.cancel(self.time_s(), MotionStatus.CANCELLED, "cancelled by its client")
            self._rest_now()

    def _rest_now(self) -> None:
        """A motion was cut short: free-running, its rest does not wait for the timer."""
        if self._lockstep is None:
            self.step(self.now_s())

    def _pump(self) -> None:
        self._servers.pump()
        if self._lockstep is not None:
            self._lockstep.answer()

    def _advance(self) -> None:
        if self._lockstep is not None:
            self._lockstep.advance()

    def _on_timer(self) -> None:
        self._servers.pump()
        self.step(self.now_s())

    def _on_emergency_stop(self, message: Bool) -> None:
        self._navigator.emergency_stop(message.data, self.time_s())
        self._rest_now()

    def _on_costmap(self, message: OccupancyGrid) -> None:
        self.costmap = maps.grid_of(message)
        self._advance()

    def _on_odometry(self, message: OdometryMessage) -> None:
        odometry = sensing.odometry_of(message)
        # What is no number ages the last one that was.
        if odometry.is_finite:
            self._odometry = odometry

    def _on_joints(self, message: JointState) -> None:
        pitch = sensing.head_pitch_of(message)
        if pitch is not None:
            self._pitch = pitch


def make_node(**kwargs: Any) -> ExecutorNode:
    """The node, brought up."""
    node = ExecutorNode("executor", **kwargs)
    node.bring_up()
    return node


def main() -> int:
    """Run the node alone."""
    from mnav_core.nodes.entry import run_node

    return run_node(make_node)
