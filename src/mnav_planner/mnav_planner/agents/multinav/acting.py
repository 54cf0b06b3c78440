"""Interactions: to the viewpoint, take hold of the operable part, pull, and see what came of it (section 4.3)."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.interaction import InteractionCause, InteractionStatus, Operation
from mnav_core.motion import MotionGroup, MotionReport
from mnav_core.requests import (
    GoToPose,
    Interact,
    Look,
    Note,
    Observation,
    Observe,
    Reply,
    Request,
    Turn,
    Wait,
    WaitResult,
)
from mnav_core.robot import RobotDescription
from mnav_core.sensing import ArticulationState
from mnav_graph.records import Acknowledgement, Attempt, Candidate, Entity, NodeKind, Verdict, requested_state
from mnav_graph.viewpoints import Standing, standing_places
from mnav_perception.articulation.records import StateEvidence
from mnav_perception.exploration.travel import travel_cost
from mnav_planner.agents.approach import motion
from mnav_planner.agents.multinav.beyond import normal_of
from mnav_planner.agents.multinav.fronts import front_of
from mnav_planner.agents.multinav.operable_point import OperablePoint, ground, is_in_reach
from mnav_planner.agents.multinav.scene import Scene
from mnav_planner.agents.multinav.settings import GraphUpdate, MultiNavSettings

ACKNOWLEDGED = {
    InteractionStatus.COMPLETED: Acknowledgement.COMPLETED,
    InteractionStatus.STALLED: Acknowledgement.STALLED,
    InteractionStatus.REJECTED: Acknowledgement.REJECTED,
}
# Where to stand for a second try: farther off where the part met the robot, else nearer and more from the side.
FARTHER = Standing((1.3, 1.5), math.radians(45.0))
NEARER = Standing((0.8, 1.0, 1.2), math.radians(75.0))
IN_THE_WAY = frozenset({InteractionCause.IN_SWEEP, InteractionCause.HITS_ROBOT, InteractionCause.OBSTRUCTED})
# A viewpoint is reached when the base is this near: the point decides, not the place.
NEAR_ENOUGH_M = 0.3
LOOK_WAIT_S = 1.2


@dataclass(frozen=True)
class Pulled:
    """What an attempt did: the executor's word, why, and when it ended."""

    acknowledgement: Acknowledgement
    cause: InteractionCause
    reason: str
    ended_s: float


@dataclass
class Hands:
    """Carries out interactions of one robot in one scene; `update` says what they write into the graph."""

    robot: RobotDescription
    scene: Scene
    settings: MultiNavSettings
    update: GraphUpdate = GraphUpdate.VERIFIED
    attempts: int = 0

    def interact(self, candidate: Candidate) -> Generator[Request, Reply, Verdict]:
        """Try a candidate, from another place once when the first try changes nothing."""
        viewpoint = candidate.viewpoint
        verdict = Verdict.NO_CHANGE
        for number in range(self.settings.viewpoints):
            if viewpoint is None or not (yield from self._go(viewpoint)):
                yield Note(f"no way to a viewpoint of {candidate.entity_id}")
                return self._untried(candidate, (yield from self.observe()).stamp_s, verdict)
            point = yield from self._grounded(candidate, number)
            entity = self.scene.graph.entities[candidate.entity_id]
            assert candidate.operation is not None
            if self._is_reached_already(candidate, entity):
                yield Note(f"{entity.id} is {entity.state.state.value} already")
                return Verdict.VERIFIED
            if point is None:
                yield Note(f"no part of {entity.id} to take hold of is in view")
                return self._untried(candidate, (yield from self.observe()).stamp_s, verdict)
            attempt = self._begin(candidate, (yield from self.observe()).stamp_s)
            pulled = yield from self._pull(candidate, entity, point)
            evidence = yield from self._evidence(candidate, pulled)
            verdict = self._end(attempt, pulled, evidence)
            if entity.kind is NodeKind.CHANNEL and pulled.acknowledgement is not Acknowledgement.REJECTED:
                yield from self._look_at_threshold(point)
            yield Note(
                f"{candidate.id}: {pulled.acknowledgement.value} {pulled.cause.value or pulled.reason}, {verdict.value}"
            )
            if verdict is not Verdict.NO_CHANGE or pulled.acknowledgement is Acknowledgement.COMPLETED:
                return verdict
            standing = FARTHER if pulled.cause in IN_THE_WAY else NEARER
            viewpoint = yield from self._another(entity, standing)
        return verdict

    def observe(self) -> Generator[Request, Reply, Observation]:
        """What is known now, taken into the scene."""
        now = yield Observe()
        assert isinstance(now, Observation)
        self.scene.add(now.detections)
        self.scene.settle(now)
        return now

    def study(self) -> Generator[Request, Reply, Observation]:
        """A fresh capture, its attributes inferred."""
        now = yield Observe(capture=True)
        assert isinstance(now, Observation)
        self.scene.add(now.detections)
        if now.capture is not None:
            self.scene.study(now.capture)
        self.scene.settle(now)
        return now

    def face(self, point: tuple[float, float, float]) -> Generator[Request, Reply, None]:
        """Turn and tilt the success camera to a point of `map`."""
        camera = self.robot.views[self.robot.success_view]
        now = yield from self.observe()
        angle = wrap_angle(now.pose.bearing_to(point[0], point[1]) - camera.rpy[2])
        if abs(angle) > 0.15:
            yield from motion(Turn(angle), 30.0, self.scene)
        if camera.tilt is not None:
            away = max(0.2, now.pose.distance_to(point[0], point[1]) - camera.xyz[0])
            pitch = min(max(math.atan2(camera.xyz[2] - point[2], away), camera.tilt.min_rad), camera.tilt.max_rad)
            if abs(pitch - now.camera_pitch) > 0.05:
                yield from motion(Look(pitch), 10.0, self.scene)

    def look_ahead(self) -> Generator[Request, Reply, None]:
        """The head as it is while driving."""
        camera = self.robot.views[self.robot.success_view]
        if camera.tilt is not None:
            yield from motion(Look(camera.tilt.drive_rad), 10.0, self.scene)

    def look_inside(self, entity_id: str) -> Generator[Request, Reply, None]:
        """Look at the whole height of an open container, so that the detector sees what it holds."""
        entity = self.scene.graph.entities[entity_id]
        x, y, _ = entity.position
        low, high = entity.core_low[2], entity.core_high[2]
        heights = [(low + high) / 2.0] if high - low < 0.6 else [low + 0.3 * (high - low), low + 0.75 * (high - low)]
        for z in heights:
            yield from self.face((x, y, z))
            yield from self.wait(LOOK_WAIT_S)
        yield from self.study()

    def wait(self, seconds: float) -> Generator[Request, Reply, None]:
        """Stand and see."""
        now = yield from self.observe()
        waited = yield Wait(until_s=now.stamp_s + seconds)
        assert isinstance(waited, WaitResult)
        self.scene.add(waited.detections)

    def _look_at_threshold(self, point: OperablePoint) -> Generator[Request, Reply, None]:
        """The foot of a leaf lies below the scans and stays in the map until a camera has looked at the floor there."""
        yield from self.face((point.point[0], point.point[1], 0.0))
        yield from self.wait(LOOK_WAIT_S)

    def _go(self, viewpoint: SE2) -> Generator[Request, Reply, bool]:
        now = yield from self.observe()
        if now.pose.distance_to(viewpoint.x, viewpoint.y) < NEAR_ENOUGH_M:
            return True
        goal = GoToPose(viewpoint.x, viewpoint.y, viewpoint.yaw, 0.15)
        report = yield from motion(goal, self.settings.motion_s, self.scene)
        now = yield from self.observe()
        return report.status.group is MotionGroup.REACHED or (
            now.pose.distance_to(viewpoint.x, viewpoint.y) < NEAR_ENOUGH_M
        )

    def _grounded(self, candidate: Candidate, number: int) -> Generator[Request, Reply, OperablePoint | None]:
        """Face the part and find it in the current view; a step back when it is not in view at all."""
        entity = self.scene.graph.entities[candidate.entity_id]
        yield from self.face(entity.operable_point or entity.position)
        yield from self.study()
        entity = self.scene.graph.entities[candidate.entity_id]
        if entity.operable_point is not None:
            # The first look may have shown where the part is.
            yield from self.face(entity.operable_point)
            yield from self.study()
        now = yield from self.observe()
        failures = self.scene.graph.failures(candidate.id, candidate.entity_id)[0]
        shown = self.scene.shown.get(candidate.entity_id, ())
        front = normal_of(entity) if entity.kind is NodeKind.CHANNEL or now.maps is None else front_of(entity, now.maps)
        point = ground(shown, self.robot.success_view, failures + number, front)
        return point if point is not None and is_in_reach(point, now.pose) else None

    def _is_reached_already(self, candidate: Candidate, entity: Entity) -> bool:
        assert candidate.operation is not None
        believed, graph = entity.state, self.scene.graph
        is_so = believed.state is requested_state(candidate.operation)
        return is_so and believed.confidence >= graph.settings.reliable_from

    def _pull(self, candidate: Candidate, entity: Entity, point: OperablePoint) -> Generator[Request, Reply, Pulled]:
        assert self.scene.capture is not None and candidate.operation is not None
        self.attempts += 1
        report: MotionReport = yield from motion(
            Interact(
                self.scene.capture.ref,
                point.view,
                point.u,
                point.v,
                candidate.operation,
                1.0,
                None,
                entity.id,
                entity.category,
            ),
            self.settings.interact_s,
            self.scene,
        )
        now = yield from self.observe()
        end = report.interaction
        if end is None:
            return Pulled(Acknowledgement.TIMED_OUT, InteractionCause.TIMED_OUT, report.reason, now.stamp_s)
        return Pulled(ACKNOWLEDGED[end.status], end.cause, end.reason, now.stamp_s)

    def _evidence(self, candidate: Candidate, pulled: Pulled) -> Generator[Request, Reply, list[StateEvidence]]:
        if self.update is not GraphUpdate.ACKNOWLEDGED:
            return (yield from self._fresh(candidate.entity_id, pulled.ended_s))
        yield from self.study()
        if pulled.acknowledgement is not Acknowledgement.COMPLETED:
            return []
        said = ArticulationState.OPEN if candidate.operation is Operation.OPEN else ArticulationState.CLOSED
        return [StateEvidence(said, 1.0, pulled.ended_s)]

    def _fresh(self, entity_id: str, since_s: float) -> Generator[Request, Reply, list[StateEvidence]]:
        """Evidence from fresh views: from where the robot stands, then facing the part."""
        yield from self.study()
        evidence = self.scene.evidence_on(entity_id, since_s)
        tau = self.scene.graph.settings.tau_verify
        if any(e.confidence >= tau for e in evidence):
            return evidence
        entity = self.scene.graph.entities[entity_id]
        middle = [(a + b) / 2.0 for a, b in zip(entity.core_low, entity.core_high, strict=True)]
        yield from self.face((middle[0], middle[1], middle[2]))
        yield from self.study()
        return [*evidence, *self.scene.evidence_on(entity_id, since_s)]

    def _another(self, entity: Entity, standing: Standing) -> Generator[Request, Reply, SE2 | None]:
        """Another place to stand than here."""
        now = yield from self.observe()
        if now.maps is None:
            return None
        travel = travel_cost(now.maps.costmap, now.pose)
        x, y, _ = entity.position
        facing = normal_of(entity) if entity.kind is NodeKind.CHANNEL else front_of(entity, now.maps)
        width = max(entity.core_high[0] - entity.core_low[0], entity.core_high[1] - entity.core_low[1])
        places = standing_places(
            now.maps,
            travel,
            np.array([(x, y)]),
            np.array([width / 2.0 + 0.2]),
            np.array([math.atan2(facing[1], facing[0])]),
            standing,
        )
        return places[0][0]

    def _begin(self, candidate: Candidate, now_s: float) -> Attempt | None:
        return self.scene.graph.begin_attempt(candidate, now_s) if self.update is not GraphUpdate.NONE else None

    def _end(self, attempt: Attempt | None, pulled: Pulled, evidence: list[StateEvidence]) -> Verdict:
        if attempt is None:
            return Verdict.PENDING
        ended = self.scene.graph.end_attempt(
            attempt.number, pulled.acknowledgement, pulled.ended_s, evidence, pulled.reason
        )
        return ended.verdict

    def _untried(self, candidate: Candidate, now_s: float, verdict: Verdict) -> Verdict:
        """What could not even be tried counts as tried in vain, so that it is not chosen again at once."""
        if self.update is not GraphUpdate.NONE:
            number = self.scene.graph.begin_attempt(candidate, now_s).number
            self.scene.graph.end_attempt(number, Acknowledgement.FAILED, now_s)
        return verdict
