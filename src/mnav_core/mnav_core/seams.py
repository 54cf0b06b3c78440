"""The protocols behind which implementations change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import MotionReport, RobotCommand, Velocity
from mnav_core.requests import Capture, MotionRequest, Observation
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame, SensorFrame, SensorRequest


class Truth(Protocol):
    """What really holds in a simulated world; for the evaluation alone."""

    def robot_pose(self, robot: str) -> SE2:
        """True planar pose of the base in `map`."""
        ...

    def robot_velocity(self, robot: str) -> Velocity:
        """True base velocity in the base frame."""
        ...

    def object_position(self, object_id: str) -> tuple[float, float, float]:
        """True centre of an object in `map`."""
        ...

    def objects_of(self, category: str) -> tuple[str, ...]:
        """Ids of all objects of a category."""
        ...

    def visible_pixels(self, robot: str, view: str, object_id: str) -> int:
        """Number of pixels of the object in the view now, at 640x480."""
        ...

    def obstacle_map(self, robot: str, resolution: float = 0.05) -> GridMap:
        """Occupancy (0/100) of everything that a robot as tall as this one could hit, joints where they are now,
        robots left out.
        """
        ...


class World(Protocol):
    """A simulator of one building with one or more robots. Deterministic given the seed and the commands."""

    @property
    def time_s(self) -> float:
        """Simulated time since reset."""
        ...

    @property
    def tick_s(self) -> float:
        """Length of one step."""
        ...

    @property
    def robots(self) -> Mapping[str, RobotDescription]:
        """The robots by name."""
        ...

    def reset(self, seed: int) -> None:
        """Back to the initial state; `seed` drives sensor noise, patterns and opaque ids."""
        ...

    def step(self, commands: Mapping[str, RobotCommand]) -> None:
        """Advance one tick; a robot without a command is commanded to rest."""
        ...

    def sense(self, robot: str, request: SensorRequest) -> SensorFrame:
        """Read the asked sensors of one robot now. Raises KeyError for an unknown robot or view."""
        ...

    def truth(self) -> Truth:
        """Private truth: for the evaluation alone."""
        ...

    def state_hash(self) -> str:
        """Hash of the physical state."""
        ...

    def close(self) -> None:
        """Free the renderer."""
        ...


class Body(Protocol):
    """A robot as its mind sees it. Never blocks; ids are answered at once and reports come later."""

    @property
    def robot(self) -> RobotDescription:
        """Which robot this is."""
        ...

    def now_s(self) -> float:
        """Robot time."""
        ...

    def start(self, request: MotionRequest) -> int:
        """Begin a motion, superseding one of the same holder; a refusal is in the report of the id."""
        ...

    def stop(self) -> int:
        """Cancel every motion and command rest."""
        ...

    def report(self, motion_id: int) -> MotionReport | None:
        """The report, or None while the motion runs."""
        ...

    def begin_capture(self) -> int:
        """Ask for fresh images of every view."""
        ...

    def capture(self, capture_id: int) -> Capture | MotionReport | None:
        """The capture, a report that says why there is none, or None while it is being taken."""
        ...

    def observe(self) -> Observation:
        """What is known now; drains nothing."""
        ...

    def drain_detections(self) -> tuple[DetectionFrame, ...]:
        """Detection frames since the last call, oldest first, bounded."""
        ...
