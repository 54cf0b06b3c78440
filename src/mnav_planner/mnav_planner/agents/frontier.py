"""Agent `frontier`: detections and frontiers, no semantics. Agent `random-frontier` draws its frontier instead."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from mnav_core.maps import MapSnapshot
from mnav_core.motion import MotionGroup, MotionReport, MotionStatus
from mnav_core.requests import (
    EventKind,
    GoToPose,
    Look,
    Mind,
    MotionHandle,
    Note,
    Observation,
    Observe,
    Reply,
    Request,
    Stop,
    TaskGoal,
    TaskOutcome,
    TaskResult,
    Turn,
    Wait,
    WaitReason,
    WaitResult,
)
from mnav_core.robot import RobotDescription
from mnav_perception.exploration.frontiers import (
    Blacklisted,
    Frontier,
    FrontierSettings,
    FrontierState,
    find_frontiers,
)
from mnav_planner.agents.approach import ApproachSettings, approach, motion
from mnav_planner.agents.closed_places import ClosedPlace, place_ahead, with_closed
from mnav_planner.sightings import TargetMemory


@dataclass(frozen=True)
class ExplorationSettings:
    """How the agent explores. Metres, seconds, square metres of unseen cells.

    Large frontiers come first: the tiers are tried in turn, each a least size and a least gain. Uninspected places are
    looked at from `look_m` away, at most `farthest_m`, which lies within the detector's range. A place where the base
    got stuck is not gone through for `closed_s`.
    """

    tiers: tuple[tuple[float, float], ...] = ((0.8, 1.0), (0.8, 0.3), (0.8, 0.0), (0.4, 0.3), (0.4, 0.0))
    look_m: float = 3.0
    farthest_m: float = 3.7
    turn_weight: float = 0.3
    commitment_m: float = 1.0
    replan_s: float = 2.0
    blacklist_radius_m: float = 0.4
    blacklist_s: float = 60.0
    closed_s: float = 180.0
    patience: int = 4
    motion_timeout_s: float = 120.0
    avoid_s: float = 45.0
    random_choice: bool = False


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
        self._rng = rng
        self._settings = settings
        self._approach = approach_settings
        self._memory = TargetMemory(goal.category)
        self._blacklist: list[Blacklisted] = []
        self._closed: list[ClosedPlace] = []
        self._needs_turning = len(robot.views) < 4
        self._frontier_settings = FrontierSettings(
            coverage_view_m=settings.look_m, coverage_farthest_m=settings.farthest_m
        )

    def run(self) -> Mind:
        camera = self._robot.views[self._robot.success_view]
        if camera.tilt is not None:
            yield from motion(Look(camera.tilt.drive_rad), 10.0, self._memory)
        yield from self._look_around()
        misses = 0
        while misses <= self._settings.patience:
            now = yield from self._observe()
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
                later = yield from self._observe()
                self._memory.avoid(target.entity_id, later.stamp_s + self._settings.avoid_s)
                if camera.tilt is not None:
                    yield from motion(Look(camera.tilt.drive_rad), 10.0, self._memory)
                continue
            choice = self._choose(now, None)
            if choice is None:
                misses += 1
                yield Note(f"no frontier to go to ({self._state.value}), looking around ({misses})")
                yield from self._look_around()
                continue
            misses = 0
            yield _note_of(choice)
            yield from self._explore(choice)
        yield Stop()
        return TaskResult(TaskOutcome.BLOCKED, f"no {self._goal.category} seen, frontiers: {self._state.value}")

    _state: FrontierState = FrontierState.NONE_LEFT

    def _observe(self) -> Generator[Request, Reply, Observation]:
        now = yield Observe()
        assert isinstance(now, Observation)
        self._memory.add(now.detections)
        return now

    def _look_around(self) -> Generator[Request, Reply, None]:
        if not self._needs_turning:
            yield from self._pause(1.5)
            return
        for _ in range(4):
            yield from motion(Turn(math.pi / 2.0), 20.0, self._memory)
            yield from self._pause(0.6)
            now = yield from self._observe()
            if self._memory.candidates(now.stamp_s):
                return

    def _pause(self, seconds: float) -> Generator[Request, Reply, None]:
        now = yield from self._observe()
        waited = yield Wait(until_s=now.stamp_s + seconds)
        assert isinstance(waited, WaitResult)
        self._memory.add(waited.detections)

    def _explore(self, choice: Frontier) -> Generator[Request, Reply, None]:
        """Drive to the frontier; end early when a target is seen, and change over when a better one shows."""
        now = yield from self._observe()
        handle = yield self._drive(choice)
        assert isinstance(handle, MotionHandle)
        deadline_s = now.stamp_s + self._settings.motion_timeout_s
        next_look_s = now.stamp_s + self._settings.replan_s
        while True:
            waited = yield Wait(handle.motion_id, frozenset({EventKind.DETECTION}), min(next_look_s, deadline_s))
            assert isinstance(waited, WaitResult)
            self._memory.add(waited.detections)
            if self._memory.candidates(waited.stamp_s):
                return
            if waited.reason is WaitReason.MOTION:
                assert waited.report is not None
                if waited.report.status.group is not MotionGroup.REACHED:
                    yield Note(f"frontier not reached: {waited.report.status.name} {waited.report.reason}")
                    self._avoid(choice, waited.stamp_s)
                    self._close_ahead(waited.report)
                elif self._needs_turning:
                    yield from self._look_around()
                else:
                    yield from self._after_arrival(choice)
                return
            if waited.stamp_s >= deadline_s:
                self._avoid(choice, waited.stamp_s)
                return
            if waited.stamp_s >= next_look_s:
                next_look_s = waited.stamp_s + self._settings.replan_s
                now = yield from self._observe()
                better = self._choose(now, choice)
                if better is None:
                    return
                if math.dist(better.goal, choice.goal) > 0.5 and not self._settings.random_choice:
                    choice = better
                    yield _note_of(choice)
                    handle = yield self._drive(choice)
                    assert isinstance(handle, MotionHandle)

    def _after_arrival(self, choice: Frontier) -> Generator[Request, Reply, None]:
        """A frontier that is still there after looking from its own place is not looked at again for a while."""
        yield from self._pause(1.2)
        now = yield from self._observe()
        left = self._frontiers(now)
        if any(math.dist(f.goal, choice.goal) < self._settings.blacklist_radius_m for f in left):
            self._avoid(choice, now.stamp_s)

    def _drive(self, choice: Frontier) -> GoToPose:
        return GoToPose(choice.goal[0], choice.goal[1], None, 0.25)

    def _avoid(self, choice: Frontier, now_s: float) -> None:
        self._blacklist.append(
            Blacklisted(choice.goal, self._settings.blacklist_radius_m, now_s + self._settings.blacklist_s)
        )

    def _close_ahead(self, report: MotionReport) -> None:
        if report.status is MotionStatus.BLOCKED_NO_PROGRESS and report.end_pose is not None:
            self._closed.append(place_ahead(report.end_pose, report.end_s + self._settings.closed_s))

    def _frontiers(self, now: Observation) -> Sequence[Frontier]:
        """Every frontier of the smallest size; the state of what is left is kept for the reasons."""
        if now.maps is None:
            return ()
        found = self._found(with_closed(now.maps, self._closed, now.stamp_s), now)
        if not found and self._closed:
            self._closed.clear()
            found = self._found(now.maps, now)
        return found

    def _found(self, maps: MapSnapshot, now: Observation) -> Sequence[Frontier]:
        report = find_frontiers(
            maps,
            now.pose,
            min_size_m=min(size for size, _ in self._settings.tiers),
            blacklist=self._blacklist,
            now_s=now.stamp_s,
            settings=self._frontier_settings,
        )
        self._state = report.state
        return report.frontiers

    def _choose(self, now: Observation, current: Frontier | None) -> Frontier | None:
        frontiers = self._frontiers(now)
        if not frontiers or now.maps is None:
            return None
        if self._settings.random_choice:
            return current or frontiers[int(self._rng.integers(len(frontiers)))]
        cell_m2 = now.maps.occupancy.resolution**2
        for size_m, gain_m2 in self._settings.tiers:
            large = [f for f in frontiers if f.size_m >= size_m and f.gain * cell_m2 >= gain_m2]
            if large:
                return min(large, key=lambda f: (self._cost(f, now, current), f.goal))
        return None

    def _cost(self, frontier: Frontier, now: Observation, current: Frontier | None) -> float:
        """Metres to drive, plus the turn, less loyalty to the current goal: the nearest first keeps the tour short."""
        cost = frontier.path_cost_m + self._settings.turn_weight * abs(now.pose.bearing_to(*frontier.goal))
        if current is not None and math.dist(frontier.goal, current.goal) < 1.0:
            cost -= self._settings.commitment_m
        return cost


def _note_of(choice: Frontier) -> Note:
    x, y = choice.goal
    return Note(f"exploring the {choice.kind.value} frontier at ({x:.1f}, {y:.1f}), {choice.path_cost_m:.1f} m away")
