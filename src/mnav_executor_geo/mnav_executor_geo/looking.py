"""Tilting the head."""

from __future__ import annotations

import math

from mnav_core.motion import MotionStatus
from mnav_core.requests import Look
from mnav_core.robot import RobotDescription, Tilt
from mnav_executor_geo.inputs import NavigatorInputs, TaskStep
from mnav_executor_geo.paths import NoPath


def head_of(robot: RobotDescription) -> Tilt | None:
    """The tilting head, None when the robot has none."""
    return next((view.tilt for view in robot.views.values() if view.tilt is not None), None)


def check_look(robot: RobotDescription, request: Look) -> NoPath | None:
    """Why the head cannot be tilted so, None when it can."""
    head = head_of(robot)
    if head is None:
        return NoPath(MotionStatus.UNSUPPORTED, f"robot {robot.name} has no tilting head")
    pitch = request.pitch_rad
    if not math.isfinite(pitch) or not head.min_rad <= pitch <= head.max_rad:
        return NoPath(
            MotionStatus.REFUSED_OUT_OF_RANGE,
            f"pitch_rad {pitch}: allowed: {head.min_rad} to {head.max_rad}",
        )
    return None


class LookTask:
    """Holds the base at rest until the head is there."""

    needs_odometry = False
    needs_map = False

    def __init__(self, request: Look, tolerance: float) -> None:
        self._pitch = request.pitch_rad
        self._tolerance = tolerance

    def step(self, inputs: NavigatorInputs) -> TaskStep:
        """One tick."""
        if abs(inputs.camera_pitch - self._pitch) <= self._tolerance:
            return TaskStep(status=MotionStatus.REACHED, camera_pitch=self._pitch)
        return TaskStep(camera_pitch=self._pitch)

    def end(self) -> None:
        """Nobody else is to be told."""

    def pause(self) -> None:
        """Nothing moves the base."""

    def distance_to_target(self, inputs: NavigatorInputs) -> float | None:
        """Looking has no place to reach."""
        return None

    def expected_s(self) -> float:
        """Longest sensible duration, unknown to the task: the base limit holds."""
        return 0.0
