"""The agent's loop: observe, update the graph, choose a candidate, carry it out, verify (section 4)."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

import numpy as np

from mnav_core.motion import MotionGroup
from mnav_core.requests import (
    GoToPose,
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
from mnav_graph.candidates import CandidateRequest, make_candidates
from mnav_graph.records import Acknowledgement, Candidate, CandidateKind, ExpectedEffect, NodeKind, Verdict
from mnav_perception.exploration.frontiers import Frontier
from mnav_perception.exploration.travel import travel_cost
from mnav_planner.agents.approach import ApproachSettings, approach, motion
from mnav_planner.agents.exploring import ExplorationSettings, Explorer, note_of
from mnav_planner.agents.multinav.acting import Hands
from mnav_planner.agents.multinav.fronts import from_the_front
from mnav_planner.agents.multinav.records import Choice, ChoiceCounts, Chooser, PastAction, Situation
from mnav_planner.agents.multinav.scene import Scene
from mnav_planner.agents.multinav.settings import GraphUpdate, MultiNavSettings
from mnav_planner.sightings import Sighting

HISTORY = 12


@dataclass
class MultiNavRun:
    """One run of the agent, and what it cost."""

    goal: TaskGoal
    robot: RobotDescription
    scene: Scene
    chooser: Chooser
    rng: np.random.Generator
    settings: MultiNavSettings = field(default_factory=MultiNavSettings)
    approach_settings: ApproachSettings = field(default_factory=ApproachSettings)
    exploration: ExplorationSettings = field(default_factory=lambda: ExplorationSettings(visited_m=0.7))
    update: GraphUpdate = GraphUpdate.VERIFIED
    counts: ChoiceCounts = field(default_factory=ChoiceCounts)

    def __post_init__(self) -> None:
        self.hands = Hands(self.robot, self.scene, self.settings, self.update)
        self._explorer = Explorer(self.robot, self.rng, self.exploration, self)
        self._frontier: Frontier | None = None
        self._history: list[PastAction] = []
        self._known_changes = 0
        self._decided_s = 0.0
        self._studied_s = float("-inf")

    def mind(self) -> Mind:
        """Find the goal, opening what helps, or give up honestly."""
        yield from self.hands.look_ahead()
        yield from self._explorer.look_around()
        misses = 0
        for _ in range(self.settings.decisions):
            now = yield from self.hands.study()
            self._studied_s = now.stamp_s
            unreached = self._unreached_target(now)
            if unreached is not None:
                choice = None
            else:
                situation = self._situation(now)
                choice = (yield from self.chooser.choose(situation, self.counts)) if situation is not None else None
            if unreached is None and choice is None:
                misses += 1
                if misses > self.settings.patience:
                    break
                yield Note(f"nothing worth doing ({self._explorer.state.value}), looking around ({misses})")
                yield from self._explorer.look_around()
                continue
            misses = 0
            if unreached is not None:
                found = yield from self._approach(unreached)
            else:
                assert situation is not None and choice is not None
                found = yield from self._carry_out(choice, situation)
            if found:
                yield Stop()
                return TaskResult(
                    TaskOutcome.ACHIEVED, f"the {self.goal.category} is in view", f"{self.goal.category} found"
                )
        yield Stop()
        left = f"frontiers: {self._explorer.state.value}, {self.hands.attempts} interactions"
        return TaskResult(TaskOutcome.BLOCKED, f"no {self.goal.category} found, {left}")

    def observe(self) -> Generator[Request, Reply, Observation]:
        """What is known now; from time to time with a capture whose attributes are inferred."""
        now = yield Observe()
        assert isinstance(now, Observation)
        if now.stamp_s - self._studied_s >= self.settings.study_s:
            self.scene.add(now.detections)
            now = yield from self.hands.study()
            self._studied_s = now.stamp_s
            return now
        self.scene.add(now.detections)
        self.scene.settle(now)
        return now

    def add(self, frames: Iterable[DetectionFrame]) -> None:
        """Take in what was seen."""
        self.scene.add(frames)

    def calls_away(self, now_s: float) -> bool:
        """Whether a target was seen, or a door or container that the last choice did not know."""
        if self.scene.candidates(now_s):
            return True
        return self.scene.changes > self._known_changes and now_s - self._decided_s >= self.settings.reconsider_s

    def _unreached_target(self, now: Observation) -> Sighting | None:
        """The nearest target that was seen and not tried in vain just now."""
        targets = self.scene.candidates(now.stamp_s)
        return min(targets, key=lambda s: now.pose.distance_to(*s.position[:2])) if targets else None

    def _situation(self, now: Observation) -> Situation | None:
        if now.maps is None:
            return None
        frontiers = self._explorer.frontiers(now)
        preferred = self._explorer.best_of(frontiers, now, self._frontier)
        maps = self._explorer.passable(now)
        request = CandidateRequest(frozenset({self.goal.category}))
        made = make_candidates(self.scene.graph, maps, frontiers, now.stamp_s, request)
        possible = [c for c in made if c.is_eligible and c.effect is not ExpectedEffect.REACH_TARGET]
        travel = travel_cost(maps.costmap, now.pose)
        eligible = from_the_front(possible, self.scene.graph.entities, maps, travel)
        self._known_changes, self._decided_s = self.scene.changes, now.stamp_s
        return Situation(
            category=self.goal.category,
            request=self.goal.text or f"find the {self.goal.category}",
            now=now,
            maps=maps,
            graph=self.scene.graph,
            candidates=eligible,
            frontiers={f"explore:{f.id}": f for f in frontiers},
            preferred="" if preferred is None else f"explore:{preferred.id}",
            visits={f"explore:{f.id}": self._explorer.visits_of(f) for f in frontiers},
            history=tuple(self._history[-HISTORY:]),
            shown=self.scene.shown,
        )

    def _carry_out(self, choice: Choice, situation: Situation) -> Generator[Request, Reply, bool]:
        """Do the first of the ranking; True once the goal is reached and verified."""
        self.counts.decisions += 1
        self.counts.reasons[choice.reason.value] = self.counts.reasons.get(choice.reason.value, 0) + 1
        candidate = next(c for c in situation.candidates if c.id == choice.ranked_ids[0])
        yield Note(
            f"{choice.reason.value}: {candidate.id} ({choice.confidence.value}, {choice.origin.value}) {choice.words}"
        )
        if candidate.kind is CandidateKind.EXPLORE:
            self._frontier = situation.frontiers[candidate.id]
            yield note_of(self._frontier)
            reached = yield from self._explorer.explore(self._frontier)
            outcome = "explored" if reached else "not reached"
        elif candidate.kind is CandidateKind.INTERACT:
            outcome = yield from self._interact(candidate)
        else:
            outcome = yield from self._visit(candidate)
        self._history.append(PastAction(situation.now.stamp_s, candidate.id, outcome))
        return False

    def _interact(self, candidate: Candidate) -> Generator[Request, Reply, str]:
        verdict = yield from self.hands.interact(candidate)
        entity = self.scene.graph.entities[candidate.entity_id]
        if entity.kind is NodeKind.CONTAINER and verdict is not Verdict.NO_CHANGE:
            yield from self.hands.look_inside(candidate.entity_id)
        now = yield from self.hands.observe()
        if not self.scene.candidates(now.stamp_s):
            yield from self.hands.look_ahead()
        return verdict.value

    def _visit(self, candidate: Candidate) -> Generator[Request, Reply, str]:
        """Go to a room, or look again at something whose state is in doubt."""
        place = candidate.viewpoint
        assert place is not None
        started = yield from self.hands.observe()
        attempt = self.scene.graph.begin_attempt(candidate, started.stamp_s)
        report = yield from motion(GoToPose(place.x, place.y, place.yaw), self.settings.motion_s, self.scene)
        reached = report.status.group is MotionGroup.REACHED
        if reached:
            yield from self.hands.face(candidate.point)
            now = yield from self.hands.study()
            yield from self.hands.look_ahead()
        else:
            now = yield from self.hands.observe()
        said = Acknowledgement.COMPLETED if reached else Acknowledgement.FAILED
        self.scene.graph.end_attempt(attempt.number, said, now.stamp_s, reason=report.reason)
        return "reached" if reached else f"not reached: {report.status.name}"

    def _approach(self, target: Sighting) -> Generator[Request, Reply, bool]:
        """Terminal verification: the target in the success view within the distance."""
        yield Note(f"TARGET_VISIBLE: {target.category} seen at ({target.position[0]:.1f}, {target.position[1]:.1f})")
        yield Stop()
        if (yield from approach(target, self.robot, self.scene, self.approach_settings)):
            return True
        later = yield from self.hands.observe()
        self.scene.avoid(target.entity_id, later.stamp_s + self.settings.avoid_s)
        self._history.append(PastAction(later.stamp_s, f"navigate:{target.category}", "not in view from near"))
        yield from self.hands.look_ahead()
        return False
