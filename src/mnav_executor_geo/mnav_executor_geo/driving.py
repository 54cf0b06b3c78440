"""Driving to a pose or to where a visual point can be approached: plan, follow, recover."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import STOP, MotionStatus, Velocity
from mnav_core.robot import RobotDescription
from mnav_executor_geo.detours import Detours
from mnav_executor_geo.follower import FollowerState, PathFollower
from mnav_executor_geo.inputs import NavigatorInputs, TaskStep
from mnav_executor_geo.looking import head_of
from mnav_executor_geo.paths import NoPath, Path
from mnav_executor_geo.progress import ProgressMonitor
from mnav_executor_geo.recoveries import Recoveries
from mnav_executor_geo.replanning import Replanner
from mnav_executor_geo.settings import ExecutorSettings
from mnav_executor_geo.tight_places import Route, TightPlaces

_CHOOSE_PERIOD_S = 1.0


@dataclass(frozen=True)
class DriveGoal:
    """Where to stand, in `map`; `target` is what `distance_to_target_m` is measured to."""

    x: float
    y: float
    yaw: float | None
    tolerance_m: float
    target: tuple[float, float]


# Chooses the goal on a costmap from where the robot stands; called again when the goal is no longer reachable.
GoalChooser = Callable[[GridMap, SE2], DriveGoal | NoPath]


class DriveTask:
    """One drive. The first plan is made in `begin`, or in the first step that has a map."""

    needs_odometry = True
    needs_map = True

    def __init__(
        self, choose: GoalChooser, target: tuple[float, float], robot: RobotDescription, settings: ExecutorSettings
    ) -> None:
        self._choose = choose
        self._target = target
        self._settings = settings
        self._limits = robot.limits
        head = head_of(robot)
        self._pitch = None if head is None else head.drive_rad
        self._follower = PathFollower(robot, settings.follower)
        self._replanner = Replanner(settings.planner)
        self._monitor = ProgressMonitor(settings.progress)
        self._recoveries = Recoveries(settings.progress, robot.limits)
        self._tight = TightPlaces(robot, settings)
        self._detours = Detours()
        self._came_close = False
        self._settles = False
        self._goal: DriveGoal | None = None
        self._chosen_s = 0.0
        self._off_path_m = 0.0
        self._remaining_m = math.inf
        self._no_path_since_s: float | None = None
        self.planned_m = 0.0

    @property
    def path(self) -> Path | None:
        """The path that is followed now."""
        return self._replanner.path

    def begin(self, now_s: float, pose: SE2, costmap: GridMap) -> NoPath | None:
        """Choose the goal and plan; why that is impossible, else None."""
        goal = self._choose(costmap, pose)
        if isinstance(goal, NoPath):
            return goal
        path = self._replanner.update(now_s, pose, costmap, (goal.x, goal.y), 0, 0.0)
        if isinstance(path, NoPath):
            return path
        self._goal, self._chosen_s = goal, now_s
        self.planned_m = path.length_m
        self._take(now_s, path)
        return None

    def step(self, inputs: NavigatorInputs) -> TaskStep:
        """One tick with a fresh map."""
        assert inputs.costmap is not None
        now_s, pose, costmap = inputs.now_s, inputs.pose, inputs.costmap
        if self._goal is None:
            refused = self.begin(now_s, pose, costmap)
            if refused is not None:
                return TaskStep(status=refused.status, reason=refused.reason)
        assert self._goal is not None
        if self._recoveries.is_active:
            velocity = self._recoveries.step(now_s, pose, costmap, self._follower)
            if velocity is not None:
                return self._move(velocity)
            self._replanner.forget()
            self._settles = True
        path = self._plan(now_s, pose, costmap)
        if isinstance(path, NoPath):
            return self._wait_for_path(now_s, pose, costmap, path)
        self._no_path_since_s = None
        goal = self._goal
        if self._settles:
            self._settles = False
            self._follower.settle()
        if self._parks(pose, costmap, path):
            return self._move(self._follower.ramp(now_s, STOP))
        step = self._follower.step(now_s, pose, costmap, goal.tolerance_m, goal.yaw)
        self._off_path_m = step.off_path_m
        if step.state is FollowerState.ARRIVED:
            moved = path.moved_m
            return TaskStep(
                status=MotionStatus.REACHED,
                reason=f"goal moved by {moved:.2f} m to where one can stand" if moved > 0.0 else "",
                camera_pitch=self._pitch,
            )
        blocked = step.state is FollowerState.BLOCKED
        if self._monitor.is_stuck(now_s, step.remaining_m, step.turn_left_rad, blocked):
            self._remaining_m = step.remaining_m
            if not self._follower.is_aligning and pose.distance_to(*path.end) <= goal.tolerance_m:
                self._settles = True
                self._monitor.restart(now_s)
                return self._move(self._follower.ramp(now_s, STOP))
            left = f"{step.remaining_m:.2f} m left, {step.turn_left_rad:.2f} rad to turn"
            return self._recover(now_s, pose, costmap, left)
        return self._move(step.velocity)

    def end(self) -> None:
        """Nobody else is to be told."""

    def pause(self) -> None:
        """The base was commanded to rest; progress is measured anew."""
        self._follower.halt()
        self._monitor = ProgressMonitor(self._settings.progress)

    def distance_to_target(self, inputs: NavigatorInputs) -> float | None:
        """Planar metres from the base to the target."""
        return inputs.pose.distance_to(*self._target)

    def expected_s(self) -> float:
        """Duration of what is left at full speed."""
        path = self._replanner.path
        if path is None:
            return 0.0
        left = path.length_m - float(path.lengths_m[self._follower.index])
        return left / self._limits.vx_max + 2.0 * math.pi / self._limits.wz_max

    def _plan(self, now_s: float, pose: SE2, costmap: GridMap) -> Path | NoPath:
        assert self._goal is not None
        before = self._replanner.path
        place = (self._goal.x, self._goal.y)
        marked = self._detours.mark(costmap)
        path = self._replanner.update(now_s, pose, marked, place, self._follower.index, self._off_path_m)
        if isinstance(path, NoPath) and len(self._detours) > 0:
            self._detours.forget()
            path = self._replanner.update(now_s, pose, costmap, place, 0, 0.0)
        if isinstance(path, NoPath) and now_s - self._chosen_s >= _CHOOSE_PERIOD_S:
            self._chosen_s = now_s
            goal = self._choose(costmap, pose)
            if isinstance(goal, NoPath):
                return goal
            self._goal = goal
            path = self._replanner.update(now_s, pose, costmap, (goal.x, goal.y), 0, 0.0)
        if isinstance(path, Path) and path is not before:
            self._take(now_s, path)
        return path

    def _take(self, now_s: float, path: Path) -> None:
        self._follower.follow(path)
        self._off_path_m = 0.0
        self._monitor.restart(now_s)

    def _wait_for_path(self, now_s: float, pose: SE2, costmap: GridMap, why: NoPath) -> TaskStep:
        """Rest while the map may still change, then give up; a base on lethal ground first tries to get off it."""
        if self._no_path_since_s is None:
            self._no_path_since_s = now_s
        if why.status is MotionStatus.REFUSED_START_LETHAL:
            return self._recover(now_s, pose, costmap, why.reason)
        if now_s - self._no_path_since_s >= self._settings.progress.no_path_s:
            return TaskStep(status=MotionStatus.BLOCKED_NO_PATH, reason=why.reason)
        return self._move(self._follower.ramp(now_s, STOP))

    def _recover(self, now_s: float, pose: SE2, costmap: GridMap, why: str) -> TaskStep:
        if not self._recoveries.begin(
            now_s, pose, costmap, self._follower, self._remaining_m, lambda: self._route(pose, costmap)
        ):
            reason = f"no progress after {self._recoveries.used} recoveries: {why}"
            return TaskStep(status=MotionStatus.BLOCKED_NO_PROGRESS, reason=reason)
        self._monitor.restart(now_s)
        return self._move(self._follower.ramp(now_s, STOP))

    def _route(self, pose: SE2, costmap: GridMap) -> Route | None:
        """A maneuver to the goal when it is near, else past the narrow part of the path; without one, plan round it."""
        goal, path = self._goal, self._replanner.path
        if goal is None or path is None:
            return self._tight.to_room(costmap, pose)
        route = self._tight.to_goal(costmap, pose, path.end, goal.tolerance_m, goal.yaw)
        route = route or self._tight.along(costmap, pose, path, self._follower.index)
        if route is None:
            self._detours.avoid_ahead(path, self._follower.index)
        return route

    def _parks(self, pose: SE2, costmap: GridMap, path: Path) -> bool:
        """Once near a goal at which the base does not fit head on: begin a maneuver to it, if there is one."""
        if self._came_close or pose.distance_to(*path.end) > self._settings.maneuver.narrow_m:
            return False
        self._detours = Detours()
        self._came_close = True
        goal = self._goal
        assert goal is not None
        if self._tight.fits_head_on(costmap, pose, path.end):
            return False
        route = self._tight.to_goal(costmap, pose, path.end, goal.tolerance_m, goal.yaw)
        if route is not None:
            self._recoveries.maneuver(route)
        return route is not None

    def _move(self, velocity: Velocity) -> TaskStep:
        return TaskStep(velocity, camera_pitch=self._pitch)
