"""Agent `frontier`: detections and frontiers, no semantics. Agent `random-frontier` draws its frontier instead."""

from __future__ import annotations

from collections.abc import Generator, Iterable

import numpy as np

from mnav_core.requests import (
    Look,
    Mind,
    Note,
    Observation,
    Observe,
    Reply,
    Request,
    Stop,
    TaskGoal,
    TaskOutcome,
    TaskResult,
)
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame
from mnav_planner.agents.approach import ApproachSettings, approach, motion
from mnav_planner.agents.exploring import ExplorationSettings, Explorer, note_of
from mnav_planner.sightings import TargetMemory


def frontier_mind(
    goal: TaskGoal,
    robot: RobotDescription,
    rng: np.random.Generator,
    settings: ExplorationSettings | None = None,
    approach_settings: ApproachSettings | None = None,
) -> Mind:
    """Explore until something of the goal's category is seen, go there, verify, stop; or give up honestly."""
    return _Search(goal, robot, rng, settings or ExplorationSettings(), approach_settings or ApproachSettings()).run()


class _Search:
    def __init__(
        self,
        goal: TaskGoal,
        robot: RobotDescription,
        rng: np.random.Generator,
        settings: ExplorationSettings,
        approach_settings: ApproachSettings,
    ) -> None:
        self._goal = goal
        self._robot = robot
        self._settings = settings
        self._approach = approach_settings
        self._memory = TargetMemory(goal.category)
        self._explorer = Explorer(robot, rng, settings, self)

    def run(self) -> Mind:
        camera = self._robot.views[self._robot.success_view]
        if camera.tilt is not None:
            yield from motion(Look(camera.tilt.drive_rad), 10.0, self._memory)
        yield from self._explorer.look_around()
        misses = 0
        while misses <= self._settings.patience:
            now = yield from self.observe()
            targets = self._memory.candidates(now.stamp_s)
            if targets:
                target = min(targets, key=lambda s: now.pose.distance_to(*s.position[:2]))
                yield Note(f"{target.category} seen at ({target.position[0]:.1f}, {target.position[1]:.1f})")
                yield Stop()
                if (yield from approach(target, self._robot, self._memory, self._approach)):
                    yield Stop()
                    return TaskResult(
                        TaskOutcome.ACHIEVED, f"the {target.category} is in view", f"{target.category} found"
                    )
                later = yield from self.observe()
                self._memory.avoid(target.entity_id, later.stamp_s + self._settings.avoid_s)
                if camera.tilt is not None:
                    yield from motion(Look(camera.tilt.drive_rad), 10.0, self._memory)
                continue
            choice = self._explorer.choose(now, None)
            if choice is None:
                misses += 1
                yield Note(f"no frontier to go to ({self._explorer.state.value}), looking around ({misses})")
                yield from self._explorer.look_around()
                continue
            misses = 0
            yield note_of(choice)
            yield from self._explorer.explore(choice)
        yield Stop()
        reason = f"no {self._goal.category} seen, frontiers: {self._explorer.state.value}"
        return TaskResult(TaskOutcome.BLOCKED, reason)

    def observe(self) -> Generator[Request, Reply, Observation]:
        """What is known now."""
        now = yield Observe()
        assert isinstance(now, Observation)
        self._memory.add(now.detections)
        return now

    def add(self, frames: Iterable[DetectionFrame]) -> None:
        """Remember what of the goal's category was seen."""
        self._memory.add(frames)

    def calls_away(self, now_s: float) -> bool:
        """Whether there is something to approach."""
        return bool(self._memory.candidates(now_s))
