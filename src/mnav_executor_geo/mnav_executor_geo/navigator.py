"""The geometric executor as a whole: one motion at a time, a request in, a velocity every tick, a report at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, MotionReport, MotionStatus, RobotCommand
from mnav_core.requests import GoToPoint, GoToPose, Look, MotionRequest, Turn
from mnav_core.robot import RobotDescription
from mnav_executor_geo.delegated_drive import DelegatedDrive, DriveServer
from mnav_executor_geo.driving import DriveTask, GoalChooser
from mnav_executor_geo.goals import locate_point, point_chooser, pose_goal
from mnav_executor_geo.inputs import NavigatorInputs, NavigatorStep, TaskStep, is_fresh
from mnav_executor_geo.lease import MotionLease
from mnav_executor_geo.looking import LookTask, check_look, head_of
from mnav_executor_geo.paths import NoPath, Path, plan
from mnav_executor_geo.settings import ExecutorSettings
from mnav_executor_geo.turning import TurnTask, check_turn

# A new motion begins once the base rests, after a time in which rest can be seen from outside, and at the latest after
# a time that an odometry which never says so may hold it up.
_REST_S = 0.3
_SETTLE_S = 0.6
# Odometry moves further than this in one tick only when it was reset.
_JUMP_M = 0.5


class _Task(Protocol):
    needs_odometry: bool
    needs_map: bool

    def step(self, inputs: NavigatorInputs) -> TaskStep: ...
    def pause(self) -> None: ...
    def end(self) -> None: ...
    def distance_to_target(self, inputs: NavigatorInputs) -> float | None: ...
    def expected_s(self) -> float: ...


@dataclass
class _Motion:
    motion_id: int
    task: _Task
    started_s: float
    ends_s: float
    travelled_m: float = 0.0
    stale_since_s: float | None = None


class Navigator:
    """Serves Look, Turn, GoToPose and GoToPoint for one robot.

    Step it at 10 Hz with what is known; command what it answers to the velocity gate. In the step after a cancel, a
    superseding goal or an emergency stop, and while odometry or map are stale, the velocity is zero. With a `server`
    drives are its, within the same lease and stops.
    """

    def __init__(
        self, robot: RobotDescription, settings: ExecutorSettings | None = None, server: DriveServer | None = None
    ) -> None:
        self._robot = robot
        self._server = server
        self._settings = ExecutorSettings() if settings is None else settings
        self._lease = MotionLease()
        self._motion: _Motion | None = None
        self._finished: list[MotionReport] = []
        self._inputs: NavigatorInputs | None = None
        self._odometry_pose: SE2 | None = None
        self._cut_s: float | None = None
        self._stopped = False
        head = head_of(robot)
        self._pitch: float | None = None if head is None else head.drive_rad

    @property
    def active_id(self) -> int | None:
        """The motion that runs, None when there is none."""
        return None if self._motion is None else self._motion.motion_id

    @property
    def holder(self) -> str | None:
        """Who holds the motion lease."""
        return self._lease.holder

    @property
    def path(self) -> Path | None:
        """The path that is followed, None when the base is not driving."""
        task = None if self._motion is None else self._motion.task
        return task.path if isinstance(task, DriveTask) else None

    def start(
        self, motion_id: int, request: MotionRequest, holder: str, inputs: NavigatorInputs
    ) -> MotionReport | None:
        """Begin a motion. A report says that it was refused at once; None that it runs.

        An accepted motion supersedes one of the same holder, whose report comes with the next step; a refused one
        leaves it alone. While another holder moves the robot the answer is REFUSED_BUSY with that holder's name.
        """
        self._inputs = inputs
        if self._stopped:
            return self._refusal(motion_id, MotionStatus.ESTOP, "emergency stop is active", inputs)
        if self._motion is not None and self._lease.holder not in (None, holder):
            return self._refusal(motion_id, MotionStatus.REFUSED_BUSY, f"moved by {self._lease.holder}", inputs)
        task = self._make_task(request, inputs)
        if isinstance(task, NoPath):
            return self._refusal(motion_id, task.status, task.reason, inputs)
        if self._motion is not None:
            self._finish(MotionStatus.SUPERSEDED, f"superseded by motion {motion_id}", inputs)
        self._lease.acquire(holder)
        self._motion = _Motion(motion_id, task, inputs.now_s, inputs.now_s + self._limit_s(task.expected_s()))
        return None

    def cancel(self, now_s: float, status: MotionStatus = MotionStatus.CANCELLED, reason: str = "") -> None:
        """End the motion that runs, if any; its report comes with the next step, whose velocity is zero."""
        if self._motion is not None and self._inputs is not None:
            self._finish(status, reason, self._inputs, now_s)

    def emergency_stop(self, active: bool, now_s: float | None = None) -> None:
        """Latch or release the operator's stop; latching ends the motion that runs, and none starts until released."""
        self._stopped = active
        if active and self._motion is not None and self._inputs is not None:
            self._finish(MotionStatus.ESTOP, "emergency stop", self._inputs, now_s)

    def step(self, inputs: NavigatorInputs) -> NavigatorStep:
        """One control tick."""
        self._inputs = inputs
        self._measure(inputs)
        velocity = STOP
        if self._is_settled(inputs) and self._motion is not None:
            motion, task = self._motion, self._motion.task
            if inputs.now_s >= motion.ends_s:
                limit = motion.ends_s - motion.started_s
                self._finish(MotionStatus.TIMED_OUT, f"not done within {limit:.0f} s", inputs)
            elif stale := self._stale(task, inputs):
                self._hold(motion, inputs, stale)
            else:
                motion.stale_since_s = None
                answer = task.step(inputs)
                if answer.camera_pitch is not None:
                    self._pitch = answer.camera_pitch
                if answer.status.is_terminal:
                    self._finish(answer.status, answer.reason, inputs)
                else:
                    velocity = answer.velocity
                    self._extend(motion)
        finished, self._finished = tuple(self._finished), []
        return NavigatorStep(RobotCommand(velocity, 0.0 if self._pitch is None else self._pitch), finished)

    def _make_task(self, request: MotionRequest, inputs: NavigatorInputs) -> _Task | NoPath:
        if isinstance(request, Look):
            return check_look(self._robot, request) or LookTask(request, self._settings.look_tolerance)
        if isinstance(request, Turn):
            return check_turn(request) or TurnTask(request, self._robot, self._settings)
        if isinstance(request, GoToPose):
            goal = pose_goal(request)
            if isinstance(goal, NoPath):
                return goal
            return self._begin(self._make_drive(lambda costmap, pose: goal, goal.target), inputs)
        if isinstance(request, GoToPoint):
            located = locate_point(request, inputs, self._settings)
            if isinstance(located, NoPath):
                return located
            anchor, seen_from = located
            choose = point_chooser(request, anchor, seen_from, self._robot, self._settings)
            return self._begin(self._make_drive(choose, (anchor.x, anchor.y)), inputs)
        return NoPath(MotionStatus.UNSUPPORTED, f"{type(request).__name__} is not served by the geometric executor")

    def _make_drive(self, choose: GoalChooser, target: tuple[float, float]) -> DriveTask | DelegatedDrive:
        if self._server is not None:
            return DelegatedDrive(choose, target, self._robot, self._server)
        return DriveTask(choose, target, self._robot, self._settings)

    def _begin(self, task: DriveTask | DelegatedDrive, inputs: NavigatorInputs) -> DriveTask | DelegatedDrive | NoPath:
        """Plan at once where the map allows; with a stale map the motion starts and waits for it."""
        if isinstance(task, DelegatedDrive):
            # Sent with its first step, once what ran before has been cancelled.
            return task
        if self._stale(task, inputs) or inputs.costmap is None:
            return task
        return task.begin(inputs.now_s, inputs.pose, inputs.costmap) or task

    def _stale(self, task: _Task, inputs: NavigatorInputs) -> str:
        """Names of the inputs that may not move the robot now; empty when all may."""
        names = []
        stamp = None if inputs.odometry is None else inputs.odometry.stamp_s
        if task.needs_odometry and not is_fresh(inputs.now_s, stamp, self._settings.odometry_age_s):
            names.append("odometry")
        map_stamp = None if inputs.costmap is None else inputs.map_stamp_s
        if task.needs_map and not is_fresh(inputs.now_s, map_stamp, self._settings.map_age_s):
            names.append("costmap")
        return " and ".join(names)

    def _hold(self, motion: _Motion, inputs: NavigatorInputs, stale: str) -> None:
        motion.task.pause()
        if motion.stale_since_s is None:
            motion.stale_since_s = inputs.now_s
        if inputs.now_s - motion.stale_since_s > self._settings.stale_s:
            self._finish(MotionStatus.BLOCKED_STALE_INPUT, f"{stale} too old", inputs)

    def _limit_s(self, expected_s: float) -> float:
        settings = self._settings
        return min(settings.time_limit_max_s, settings.time_limit_base_s + settings.time_limit_factor * expected_s)

    def _extend(self, motion: _Motion) -> None:
        """A path that got longer gets more time; standing still does not."""
        driven_s = motion.travelled_m / self._robot.limits.vx_max
        motion.ends_s = max(motion.ends_s, motion.started_s + self._limit_s(driven_s + motion.task.expected_s()))

    def _measure(self, inputs: NavigatorInputs) -> None:
        if inputs.odometry is None:
            return
        pose, last = inputs.odometry.pose, self._odometry_pose
        self._odometry_pose = pose
        if last is not None and self._motion is not None:
            moved = last.distance_to(pose.x, pose.y)
            self._motion.travelled_m += moved if moved <= _JUMP_M else 0.0

    def _is_settled(self, inputs: NavigatorInputs) -> bool:
        """Whether the base rests since the last motion was cut short."""
        if self._cut_s is None:
            return True
        since = inputs.now_s - self._cut_s
        rests = inputs.odometry is None or (since >= _REST_S - 1e-6 and inputs.odometry.velocity.is_rest)
        if 0.0 <= since < _SETTLE_S and not rests:
            return False
        self._cut_s = None
        return True

    def _finish(self, status: MotionStatus, reason: str, inputs: NavigatorInputs, now_s: float | None = None) -> None:
        motion = self._motion
        assert motion is not None
        self._motion = None
        self._lease.release()
        motion.task.end()
        end_s = inputs.now_s if now_s is None else now_s
        if status is not MotionStatus.REACHED:
            self._cut_s = end_s
        planned = motion.task.planned_m if isinstance(motion.task, DriveTask | DelegatedDrive) else 0.0
        self._finished.append(
            MotionReport(
                motion.motion_id,
                status,
                reason,
                planned_m=planned,
                travelled_m=motion.travelled_m,
                distance_to_target_m=motion.task.distance_to_target(inputs),
                end_pose=inputs.pose,
                end_s=end_s,
            )
        )

    def _refusal(self, motion_id: int, status: MotionStatus, reason: str, inputs: NavigatorInputs) -> MotionReport:
        return MotionReport(motion_id, status, reason, end_pose=inputs.pose, end_s=inputs.now_s)


def compute_path(start: SE2, goal: SE2, costmap: GridMap, settings: ExecutorSettings | None = None) -> Path | NoPath:
    """The path that a drive would begin with, without driving it; a status and a reason when there is none."""
    return plan(costmap, start, (goal.x, goal.y), (settings or ExecutorSettings()).planner)
