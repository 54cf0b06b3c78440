"""Exploring frontier by frontier: which one is next, and the drive to it."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mnav_core.maps import MapSnapshot
from mnav_core.motion import MotionGroup, MotionReport, MotionStatus
from mnav_core.requests import (
    EventKind,
    GoToPose,
    MotionHandle,
    Note,
    Observation,
    Reply,
    Request,
    Turn,
    Wait,
    WaitReason,
    WaitResult,
)
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame
from mnav_perception.exploration.frontiers import (
    Blacklisted,
    Frontier,
    FrontierSettings,
    FrontierState,
    find_frontiers,
)
from mnav_planner.agents.approach import motion
from mnav_planner.agents.closed_places import ClosedPlace, place_ahead, with_closed

# Goals so near to each other are of one frontier that changed its shape.
_SAME_M = 1.0


@dataclass(frozen=True)
class ExplorationSettings:
    """How the agent explores. Metres, seconds, square metres of unseen cells.

    Large frontiers come first: the tiers are tried in turn, each a least size and a least gain. Uninspected places are
    looked at from `look_m` away, at most `farthest_m`, which lies within the detector's range. A place where the base
    got stuck is not gone through for `closed_s`. Frontiers within `visited_m` of one that was reached come last; 0
    keeps no account. A robot that must turn to look around leaves a frontier only for one not `loyalty_m` farther.
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
    visited_m: float = 0.0
    loyalty_m: float = 3.0
    random_choice: bool = False


class Lookout(Protocol):
    """What an agent makes of what it sees while it explores."""

    def observe(self) -> Generator[Request, Reply, Observation]:
        """What is known now; what was seen goes into the agent's memory."""
        ...

    def add(self, frames: Iterable[DetectionFrame]) -> None:
        """Take in what was seen."""
        ...

    def calls_away(self, now_s: float) -> bool:
        """Whether there is something better to do than to go on exploring."""
        ...


class Explorer:
    """Frontiers of one robot, with those that failed and the places where the base got stuck."""

    def __init__(
        self, robot: RobotDescription, rng: np.random.Generator, settings: ExplorationSettings, lookout: Lookout
    ) -> None:
        self.settings = settings
        self.state = FrontierState.NONE_LEFT
        self._lookout = lookout
        self._rng = rng
        self._needs_turning = len(robot.views) < 4
        self._blacklist: list[Blacklisted] = []
        self._visited: list[tuple[float, float]] = []
        self._closed: list[ClosedPlace] = []
        self._frontier_settings = FrontierSettings(
            coverage_view_m=settings.look_m, coverage_farthest_m=settings.farthest_m
        )

    def look_around(self) -> Generator[Request, Reply, None]:
        """See every direction once: a pause where cameras point everywhere, else a full turn."""
        if not self._needs_turning:
            yield from self.pause(1.5)
            return
        for _ in range(4):
            yield from motion(Turn(math.pi / 2.0), 20.0, self._lookout)
            yield from self.pause(0.6)
            now = yield from self._lookout.observe()
            if self._lookout.calls_away(now.stamp_s):
                return

    def pause(self, seconds: float) -> Generator[Request, Reply, None]:
        """Stand and see."""
        now = yield from self._lookout.observe()
        waited = yield Wait(until_s=now.stamp_s + seconds)
        assert isinstance(waited, WaitResult)
        self._lookout.add(waited.detections)

    def explore(self, choice: Frontier) -> Generator[Request, Reply, bool]:
        """Drive to the frontier; end early when called away, and change over when a better one shows.

        False when the drive failed.
        """
        now = yield from self._lookout.observe()
        handle = yield _drive(choice)
        assert isinstance(handle, MotionHandle)
        deadline_s = now.stamp_s + self.settings.motion_timeout_s
        next_look_s = now.stamp_s + self.settings.replan_s
        while True:
            waited = yield Wait(handle.motion_id, frozenset({EventKind.DETECTION}), min(next_look_s, deadline_s))
            assert isinstance(waited, WaitResult)
            self._lookout.add(waited.detections)
            if self._lookout.calls_away(waited.stamp_s):
                return True
            if waited.reason is WaitReason.MOTION:
                assert waited.report is not None
                return (yield from self._arrived(choice, waited.report, waited.stamp_s))
            if waited.stamp_s >= deadline_s:
                self._avoid(choice, waited.stamp_s)
                return False
            if waited.stamp_s >= next_look_s:
                next_look_s = waited.stamp_s + self.settings.replan_s
                now = yield from self._lookout.observe()
                better = self.choose(now, choice)
                if better is None:
                    return True
                if math.dist(better.goal, choice.goal) > 0.5 and not self.settings.random_choice:
                    choice = better
                    yield note_of(choice)
                    handle = yield _drive(choice)
                    assert isinstance(handle, MotionHandle)

    def _arrived(self, choice: Frontier, report: MotionReport, now_s: float) -> Generator[Request, Reply, bool]:
        if report.status.group is not MotionGroup.REACHED:
            yield Note(f"frontier not reached: {report.status.name} {report.reason}")
            self._avoid(choice, now_s)
            self._close_ahead(report)
            return False
        self._visited.append(choice.goal)
        if self._needs_turning:
            yield from self.look_around()
        else:
            yield from self.pause(1.2)
        yield from self._leave_what_is_left(choice)
        return True

    def _leave_what_is_left(self, choice: Frontier) -> Generator[Request, Reply, None]:
        """A frontier that is still there after looking from its own place is not looked at again for a while."""
        now = yield from self._lookout.observe()
        left = self.frontiers(now)
        if any(math.dist(f.goal, choice.goal) < self.settings.blacklist_radius_m for f in left):
            self._avoid(choice, now.stamp_s)

    def _avoid(self, choice: Frontier, now_s: float) -> None:
        self._blacklist.append(
            Blacklisted(choice.goal, self.settings.blacklist_radius_m, now_s + self.settings.blacklist_s)
        )

    def _close_ahead(self, report: MotionReport) -> None:
        if report.status is MotionStatus.BLOCKED_NO_PROGRESS and report.end_pose is not None:
            self._closed.append(place_ahead(report.end_pose, report.end_s + self.settings.closed_s))

    def passable(self, now: Observation) -> MapSnapshot:
        """The maps with the places where the base got stuck. Raises ValueError before there are maps."""
        if now.maps is None:
            raise ValueError("maps: none yet, allowed: after the first")
        return with_closed(now.maps, self._closed, now.stamp_s)

    def frontiers(self, now: Observation) -> Sequence[Frontier]:
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
            min_size_m=min(size for size, _ in self.settings.tiers),
            blacklist=self._blacklist,
            now_s=now.stamp_s,
            settings=self._frontier_settings,
        )
        self.state = report.state
        return report.frontiers

    def choose(self, now: Observation, current: Frontier | None) -> Frontier | None:
        """The frontier to explore next; None when there is none of any tier."""
        frontiers = self.frontiers(now)
        if frontiers and self.settings.random_choice:
            return current or frontiers[int(self._rng.integers(len(frontiers)))]
        return self.best_of(frontiers, now, current)

    def best_of(self, frontiers: Sequence[Frontier], now: Observation, current: Frontier | None) -> Frontier | None:
        """The cheapest frontier of the first tier that has one."""
        frontiers = [f for f in frontiers if not self.visits_of(f)] or frontiers
        for size_m, gain_m2 in self.settings.tiers:
            large = [f for f in frontiers if f.size_m >= size_m and gain_of(f, now) >= gain_m2]
            if large:
                best = min(large, key=lambda f: (self._cost(f, now, current), f.goal))
                return self._same_again(frontiers, best, current) or best
        return None

    def _same_again(self, frontiers: Sequence[Frontier], best: Frontier, current: Frontier | None) -> Frontier | None:
        """The current frontier, when a robot that sees one way only would leave it for one much farther off."""
        if current is None or not self._needs_turning:
            return None
        same = [f for f in frontiers if math.dist(f.goal, current.goal) < _SAME_M]
        nearest = min(same, key=lambda f: f.path_cost_m, default=None)
        if nearest is None or best.path_cost_m <= nearest.path_cost_m + self.settings.loyalty_m:
            return None
        return nearest

    def visits_of(self, frontier: Frontier) -> int:
        """How often a frontier was looked at from near its own goal: what is still there then is hard to see."""
        return sum(math.dist(frontier.goal, place) < self.settings.visited_m for place in self._visited)

    def _cost(self, frontier: Frontier, now: Observation, current: Frontier | None) -> float:
        """Metres to drive, plus the turn, less loyalty to the current goal: the nearest first keeps the tour short."""
        cost = frontier.path_cost_m + self.settings.turn_weight * abs(now.pose.bearing_to(*frontier.goal))
        if current is not None and math.dist(frontier.goal, current.goal) < _SAME_M:
            cost -= self.settings.commitment_m
        return cost


def gain_of(frontier: Frontier, now: Observation) -> float:
    """What there is to see at a frontier, square metres."""
    return 0.0 if now.maps is None else float(frontier.gain * now.maps.occupancy.resolution**2)


def note_of(choice: Frontier) -> Note:
    """One line of the decision log."""
    x, y = choice.goal
    return Note(f"exploring the {choice.kind.value} frontier at ({x:.1f}, {y:.1f}), {choice.path_cost_m:.1f} m away")


def _drive(choice: Frontier) -> GoToPose:
    return GoToPose(choice.goal[0], choice.goal[1], None, 0.25)
