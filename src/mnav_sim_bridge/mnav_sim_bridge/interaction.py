"""Interactions in a simulated house: force on the joint that a point lies on (MultINav, Appendix F)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import mujoco
import numpy as np

from mnav_core.geometry import SE2, SE3
from mnav_core.interaction import (
    REACH_M,
    InteractionCause,
    InteractionEnd,
    InteractionGoal,
    InteractionStatus,
    Operation,
)
from mnav_core.motion import STOP, Velocity
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.articulation import CLOSED_SHARE, Articulation
from mnav_sim_bridge.joint_log import JointLog, cause_of_attempt
from mnav_sim_bridge.moving_parts import PartFinder
from mnav_sim_bridge.swept_volume import SweptVolume

MAX_FINISHED = 64


@dataclass(frozen=True)
class Drive:
    """A spring and damper on a joint: gains per radian or metre, largest force, speed of its set point."""

    stiffness: float
    damping: float
    force: float
    rate: float


@dataclass(frozen=True)
class InteractionSettings:
    """Reach (m), gains as published, and when an attempt is over. Seconds are simulated; shares are of the travel.

    `kinematic_completion` sets a stalled joint to its goal, as the published executor does; it is off, and counted.
    """

    reach_m: float = REACH_M
    hinge: Drive = Drive(90.0, 12.0, 45.0, 1.2)
    slide: Drive = Drive(600.0, 80.0, 160.0, 0.3)
    rest_s: float = 1.0
    park_mps: float = 0.2
    park_s: float = 12.0
    tolerance: float = 0.02
    # A leaf that its handle stops at a wall has done what was asked.
    stop_tolerance: float = 0.1
    stall_s: float = 1.0
    stall_share: float = 0.01
    longest_s: float = 10.0
    kinematic_completion: bool = False


class Phase(Enum):
    """What an attempt is doing."""

    SETTLING = "settling"
    PARKING = "parking"
    MOVING = "moving"


@dataclass
class Attempt:
    """One attempt and what really happened, for the evaluation alone: fractions of the joint's travel, metres driven
    to make room.
    """

    robot: str
    goal: InteractionGoal
    started_s: float
    phase: Phase = Phase.SETTLING
    joint: str = ""
    target: float = 0.0
    before: float = math.nan
    after: float = math.nan
    parked_m: float = 0.0
    end: InteractionEnd | None = None
    ended_s: float = math.nan
    kinematic: bool = False
    _set_point: float = 0.0
    _since_s: float = 0.0
    _progress: tuple[float, float] = (0.0, 0.0)
    _park_from: SE2 | None = None


@dataclass(frozen=True)
class RobotState:
    """What an attempt needs to know of its robot: pose, velocity, hull height, hull geom, views in the map."""

    description: RobotDescription
    pose: SE2
    velocity: Velocity
    hull_m: float
    hull: int
    optical: dict[str, SE3]


@dataclass
class Interactions:
    """Runs at most one attempt a robot in one model: a goal in, base velocities and joint forces, an end out."""

    model: mujoco.MjModel
    articulation: Articulation
    parts: PartFinder
    sweep: SweptVolume
    log: JointLog
    settings: InteractionSettings = InteractionSettings()
    attempts: list[Attempt] = field(default_factory=list)
    kinematic_completions: int = 0
    _active: dict[str, Attempt] = field(default_factory=dict)
    _finished: dict[str, list[InteractionEnd]] = field(default_factory=dict)

    def reset(self) -> None:
        """Forget every attempt."""
        self.attempts.clear()
        self._active.clear()
        self._finished.clear()
        self.kinematic_completions = 0

    def begin(self, robot: str, goal: InteractionGoal, data: mujoco.MjData, now_s: float) -> None:
        """Begin an attempt; one of the same robot that runs is let go of."""
        if robot in self._active:
            self._end(robot, data, now_s, InteractionCause.CANCELLED, f"superseded by attempt {goal.attempt_id}")
        attempt = Attempt(robot, goal, now_s)
        attempt._since_s = now_s
        self.attempts.append(attempt)
        self._active[robot] = attempt

    def release(self, robot: str, data: mujoco.MjData, now_s: float) -> None:
        """Let go of what a robot works on."""
        if robot in self._active:
            self._end(robot, data, now_s, InteractionCause.CANCELLED, "let go")

    def is_active(self, robot: str) -> bool:
        """Whether an attempt holds the robot's base."""
        return robot in self._active

    def base_velocity(self, robot: str) -> Velocity | None:
        """What the base does instead of what it is commanded; None while no attempt holds it."""
        attempt = self._active.get(robot)
        if attempt is None:
            return None
        if attempt.phase is Phase.PARKING:
            return Velocity(math.copysign(self.settings.park_mps, attempt.parked_m))
        return STOP

    def push(self, data: mujoco.MjData, dt: float) -> None:
        """Forces for one physics step."""
        for attempt in self._active.values():
            if attempt.phase is Phase.MOVING:
                self._pull(attempt, data, dt)

    def advance(self, robot: str, state: RobotState, data: mujoco.MjData, now_s: float) -> None:
        """One control tick of a robot's attempt, if it has one."""
        attempt = self._active.get(robot)
        if attempt is None:
            return
        if attempt.phase is Phase.SETTLING:
            self._settle(attempt, state, data, now_s)
        elif attempt.phase is Phase.PARKING:
            self._park(attempt, state, data, now_s)
        else:
            self._judge(attempt, state, data, now_s)

    def drain(self, robot: str) -> tuple[InteractionEnd, ...]:
        """Ends since the last call, oldest first."""
        return tuple(self._finished.pop(robot, ()))

    def _settle(self, attempt: Attempt, state: RobotState, data: mujoco.MjData, now_s: float) -> None:
        """Once the base rests: is the goal one that can be worked on from here?"""
        if not state.velocity.is_rest:
            if now_s - attempt._since_s > self.settings.rest_s:
                self._end(attempt.robot, data, now_s, InteractionCause.NOT_AT_REST, "the base does not come to rest")
            return
        refusal = self._check(attempt, state, data)
        if refusal is not None:
            self._end(attempt.robot, data, now_s, *refusal)
            return
        goal = attempt.goal
        attempt.target = goal.fraction if goal.operation is Operation.OPEN else 0.0
        parking = self.sweep.parking(data, state.description, state.hull_m, state.pose, attempt.joint, attempt.target)
        if parking is None:
            reason = "the robot stands where the part moves and has no free way out"
            self._end(attempt.robot, data, now_s, InteractionCause.IN_SWEEP, reason)
            return
        attempt.parked_m = parking.drive_m
        attempt._since_s = now_s
        if parking.drive_m:
            attempt.phase, attempt._park_from = Phase.PARKING, state.pose
        else:
            self._start_moving(attempt, data, now_s)

    def _check(self, attempt: Attempt, state: RobotState, data: mujoco.MjData) -> tuple[InteractionCause, str] | None:
        goal, reach = attempt.goal, self.settings.reach_m
        point = np.array(goal.point, float)
        if not np.isfinite(point).all() or not 0.0 < goal.fraction <= 1.0:
            return InteractionCause.BAD_GOAL, f"point {goal.point}, fraction {goal.fraction}: allowed: finite, (0, 1]"
        away = state.pose.distance_to(point[0], point[1])
        if away > reach:
            return InteractionCause.TOO_FAR, f"{away:.2f} m away, allowed: {reach:g} m"
        views = [goal.view] if goal.view else list(state.optical)
        if not set(views) <= set(state.optical):
            return InteractionCause.BAD_GOAL, f"view {goal.view!r}, allowed: {', '.join(state.optical)}"
        causes = []
        for view in views:
            optical = state.optical[view]
            camera = state.description.views[view].intrinsics()
            x, y, z = optical.inverse().apply(point)
            u, v = (camera.fx * x / z + camera.cx, camera.fy * y / z + camera.cy) if z > 1e-3 else (-1.0, -1.0)
            if not (0.0 <= u <= camera.width and 0.0 <= v <= camera.height):
                causes.append(InteractionCause.NOT_IN_VIEW)
                continue
            found = self.parts.find(data, np.asarray(optical.translation, float), point)
            if isinstance(found, str):
                attempt.joint, attempt.before = found, self.articulation.fraction(data, found)
                return None
            causes.append(found)
        if InteractionCause.NO_PART in causes:
            return InteractionCause.NO_PART, "nothing at the point can be opened or closed"
        return InteractionCause.NOT_IN_VIEW, f"the point is not to be seen in {goal.view or 'any view'} from here"

    def _park(self, attempt: Attempt, state: RobotState, data: mujoco.MjData, now_s: float) -> None:
        assert attempt._park_from is not None
        done = attempt._park_from.distance_to(state.pose.x, state.pose.y)
        if done >= abs(attempt.parked_m) - 0.02:
            self._start_moving(attempt, data, now_s)
        elif now_s - attempt._since_s > self.settings.park_s:
            self._end(attempt.robot, data, now_s, InteractionCause.IN_SWEEP, "the way out of the sweep is blocked")

    def _start_moving(self, attempt: Attempt, data: mujoco.MjData, now_s: float) -> None:
        self.articulation.release_latch(attempt.joint)
        self.log.moved_by(attempt.joint, cause_of_attempt(attempt.robot, attempt.goal.attempt_id), now_s)
        attempt.phase, attempt._since_s = Phase.MOVING, now_s
        fraction = self.articulation.fraction(data, attempt.joint)
        attempt._set_point = fraction * self.articulation.travel(attempt.joint)
        attempt._progress = (abs(attempt.target - fraction), now_s)

    def _pull(self, attempt: Attempt, data: mujoco.MjData, dt: float) -> None:
        joint = self.model.joint(attempt.joint)
        is_slide = self.model.jnt_type[joint.id] == mujoco.mjtJoint.mjJNT_SLIDE
        drive = self.settings.slide if is_slide else self.settings.hinge
        goal = attempt.target * self.articulation.travel(attempt.joint)
        left = goal - attempt._set_point
        attempt._set_point += math.copysign(min(abs(left), drive.rate * dt), left)
        value = data.joint(attempt.joint)
        force = drive.stiffness * (attempt._set_point - value.qpos[0]) - drive.damping * (
            value.qvel[0] - (math.copysign(drive.rate, left) if abs(left) > 1e-9 else 0.0)
        )
        data.qfrc_applied[joint.dofadr[0]] = min(max(force, -drive.force), drive.force)

    def _judge(self, attempt: Attempt, state: RobotState, data: mujoco.MjData, now_s: float) -> None:
        s = self.settings
        self.log.moved_by(attempt.joint, cause_of_attempt(attempt.robot, attempt.goal.attempt_id), now_s)
        if self._hits(attempt.joint, state.hull, data):
            self._end(attempt.robot, data, now_s, InteractionCause.HITS_ROBOT, "the part met the robot")
            return
        left = abs(attempt.target - self.articulation.fraction(data, attempt.joint))
        rate = abs(float(data.joint(attempt.joint).qvel[0])) / self.articulation.travel(attempt.joint)
        if left <= s.tolerance and rate < 0.05:
            self._end(attempt.robot, data, now_s, InteractionCause.NONE, "")
            return
        best, since = attempt._progress
        if best - left > s.stall_share:
            attempt._progress = (left, now_s)
        elif now_s - since > s.stall_s:
            if left <= s.stop_tolerance and attempt.goal.operation is Operation.OPEN:
                self._end(attempt.robot, data, now_s, InteractionCause.NONE, "")
            else:
                self._end(attempt.robot, data, now_s, InteractionCause.OBSTRUCTED, "the part does not move on")
        elif now_s - attempt._since_s > s.longest_s:
            self._end(attempt.robot, data, now_s, InteractionCause.TIMED_OUT, f"not done within {s.longest_s:g} s")

    def _hits(self, joint: str, hull: int, data: mujoco.MjData) -> bool:
        for contact in data.contact[: data.ncon]:
            pair = (int(contact.geom1), int(contact.geom2))
            if hull in pair and contact.dist <= 0:
                other = pair[0] if pair[1] == hull else pair[1]
                if self.parts.joint_of_geom(other) == joint:
                    return True
        return False

    def _end(self, robot: str, data: mujoco.MjData, now_s: float, cause: InteractionCause, reason: str) -> None:
        attempt = self._active.pop(robot)
        if attempt.phase is Phase.MOVING:
            # A hand lets go of a part at rest: a heavy leaf would swing on to its stop.
            data.joint(attempt.joint).qvel[0] = 0.0
        if attempt.joint:
            data.qfrc_applied[self.model.joint(attempt.joint).dofadr[0]] = 0.0
            stalled = attempt.phase is Phase.MOVING and cause in (
                InteractionCause.OBSTRUCTED,
                InteractionCause.TIMED_OUT,
            )
            if stalled and self.settings.kinematic_completion:
                self.articulation.set_fraction(data, attempt.joint, attempt.target)
                attempt.kinematic, cause, reason = True, InteractionCause.NONE, ""
                self.kinematic_completions += 1
            attempt.after = self.articulation.fraction(data, attempt.joint)
            if attempt.after < CLOSED_SHARE:
                self.articulation.latch(attempt.joint)
        if cause is InteractionCause.NONE:
            status = InteractionStatus.COMPLETED
        elif attempt.joint:
            status = InteractionStatus.STALLED
        else:
            status = InteractionStatus.REJECTED
        attempt.end, attempt.ended_s = InteractionEnd(attempt.goal.attempt_id, status, cause, reason), now_s
        finished = self._finished.setdefault(robot, [])
        finished.append(attempt.end)
        del finished[:-MAX_FINISHED]
