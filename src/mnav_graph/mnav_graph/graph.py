"""The interaction graph: persistent, conditioned on states (MultINav, section 4 and appendix D)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mnav_core.geometry import SE2, Array
from mnav_core.sensing import DetectionFrame
from mnav_graph.association import PlaceIndex, Seen, associate
from mnav_graph.attempts import AttemptLog
from mnav_graph.boxes import camera_distances, holds, seen_in, tightened, volume
from mnav_graph.records import (
    Acknowledgement,
    Attempt,
    Candidate,
    Edge,
    Entity,
    EntityState,
    NodeKind,
    RobotNode,
    RoomNode,
    RoomPassage,
    Verdict,
    requested_state,
)
from mnav_graph.relations import connections, edges_of, room_distances
from mnav_graph.room_layer import NO_ROOMS, RoomLayer, named_rooms, passages_of
from mnav_graph.settings import GraphSettings
from mnav_graph.state import FORMAT, GraphState
from mnav_graph.states import updated_state
from mnav_graph.verification import verified_state
from mnav_perception.articulation.records import StateEvidence
from mnav_perception.rooms.records import RoomMap


@dataclass(frozen=True)
class Observed:
    """What a frame did: the entity of each detection in order, which of them are new, which changed their state."""

    ids: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]


class InteractionGraph:
    """Rooms, doors, containers, objects and the robot, with what was tried; one writer.

    Nothing is ever removed: absence from a view is no evidence. Times are robot seconds, places in `map`.
    """

    def __init__(self, settings: GraphSettings | None = None) -> None:
        self.settings = settings or GraphSettings()
        self._entities: dict[str, Entity] = {}
        self._index = PlaceIndex()
        self._rooms: dict[str, RoomNode] = {}
        self._layer: RoomLayer = NO_ROOMS
        self._passages: tuple[RoomPassage, ...] = ()
        self._robot: RobotNode | None = None
        self._in_view: dict[str, tuple[str, ...]] = {}
        self._counters: dict[str, int] = {}
        self._log = AttemptLog()

    @property
    def entities(self) -> Mapping[str, Entity]:
        """Doors, containers and objects by id, in the order in which they were first seen."""
        return self._entities

    @property
    def rooms(self) -> Mapping[str, RoomNode]:
        """Rooms by id; one that is not current is remembered but was merged or lost from the map."""
        return self._rooms

    @property
    def passages(self) -> tuple[RoomPassage, ...]:
        """Ways between rooms in the newest segmentation."""
        return self._passages

    @property
    def robot(self) -> RobotNode | None:
        """Where the robot is, None before it was told."""
        return self._robot

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Everything that was tried, oldest first."""
        return self._log.all

    @property
    def in_view(self) -> frozenset[str]:
        """Entities in the newest frame of each view."""
        return frozenset(name for names in self._in_view.values() for name in names)

    def edges(self) -> tuple[Edge, ...]:
        """All relations under the states as they are now (equation 2)."""
        room = self._robot.room if self._robot is not None else ""
        return tuple(edges_of(self._entities, self._rooms, self._passages, self.in_view, room))

    def room_distances(self, room: str) -> dict[str, float]:
        """Length of the shortest open way from a room to each room that can be reached, metres."""
        return room_distances(room, connections(self._entities, self._rooms, self._passages))

    def room_at(self, x: float, y: float) -> str:
        """The room at a point of `map`, or the nearest within the reach of a room; "" where there is none."""
        return self._layer.room_at(x, y, self.settings.room_reach_m)

    def floor_of(self, room: str, stride: int = 1) -> tuple[Array, Array]:
        """x and y in `map` of every `stride`-th floor cell of a room, (N,) each; empty for one that is not current."""
        return self._layer.cells_of(room, stride)

    @property
    def pending_entities(self) -> frozenset[str]:
        """Entities that are being acted on."""
        return self._log.pending_entities

    def observe(self, frame: DetectionFrame, evidence: Sequence[StateEvidence | None] = ()) -> Observed:
        """Take in one view (equation 4). `evidence` comes one per detection, or not at all.

        While an attempt on an entity is pending its state waits for the verifier. Raises ValueError when the evidence
        has another length than the detections.
        """
        if evidence and len(evidence) != len(frame.detections):
            raise ValueError(f"evidence: {len(evidence)} for {len(frame.detections)} detections, allowed: one each")
        seen = seen_in(frame)
        moved = self._log.acted_on_since(frame.stamp_s - self.settings.moved_s)
        matched = associate(seen, self._entities, self._index, moved, self.settings)
        pending = self._log.pending_entities
        distances = camera_distances(frame).tolist()
        ids, new, changed = [], [], []
        for number, (detection, thing, known) in enumerate(zip(frame.detections, seen, matched, strict=True)):
            near = distances[number] <= self.settings.look_m
            self._release_instance(thing.instance_id, known)
            if known is None:
                entity = self._created(thing, detection.score, frame, near)
                new.append(entity.id)
            else:
                entity = _seen_again(self._entities[known], thing, detection.score, frame, near)
            before = entity.state
            if entity.is_interactive and entity.id not in pending:
                told = evidence[number] if evidence else None
                entity = self._with_state(entity, told, frame.stamp_s)
                if told is None:
                    sure = self.settings.detector_confidence
                    state = updated_state(entity.state, detection.state, sure, frame.stamp_s, self.settings)
                    entity = replace(entity, state=state)
                if entity.state.state is not before.state:
                    changed.append(entity.id)
            self._put(entity)
            ids.append(entity.id)
        for name in ids:
            if self._entities[name].kind is NodeKind.OBJECT:
                self._place_inside(self._entities[name])
        self._in_view[frame.view] = tuple(ids)
        return Observed(tuple(ids), tuple(new), tuple(changed))

    def set_robot(self, pose: SE2, stamp_s: float) -> None:
        """Where the robot is now; the room that it is in counts as visited."""
        room = self.room_at(pose.x, pose.y)
        self._robot = RobotNode(pose, stamp_s, room)
        if room:
            self._rooms[room] = replace(self._rooms[room], visited_s=stamp_s)

    def set_rooms(self, segmented: RoomMap, stamp_s: float) -> None:
        """Take in a new segmentation; rooms keep their ids while their floors overlap."""
        first = self._counters.get("room", 0)
        self._rooms, self._layer, self._counters["room"] = named_rooms(
            segmented, self._rooms, self._layer, stamp_s, first
        )
        self._passages = passages_of(segmented, self._layer, self._entities.values(), self.settings)
        for entity in list(self._entities.values()):
            self._entities[entity.id] = self._in_rooms(entity)
        if self._robot is not None:
            self.set_robot(self._robot.pose, self._robot.stamp_s)

    def begin_attempt(self, candidate: Candidate, now_s: float) -> Attempt:
        """Record that a candidate is being tried. Raises ValueError while another attempt on its entity is pending."""
        entity = self._entities.get(candidate.entity_id)
        return self._log.begin(candidate, entity, now_s)

    def end_attempt(
        self,
        number: int,
        acknowledgement: Acknowledgement,
        now_s: float,
        evidence: Sequence[StateEvidence] = (),
        reason: str = "",
    ) -> Attempt:
        """Close an attempt; for an interaction the verifier (equation 3) decides from evidence seen after it.

        Raises KeyError for an unknown attempt, ValueError for one that has ended.
        """
        attempt = self._log.pending(number)
        entity = self._entities.get(attempt.entity_id)
        if attempt.operation is None or entity is None:
            reached = acknowledgement is Acknowledgement.COMPLETED
            verdict = Verdict.VERIFIED if reached else Verdict.NO_CHANGE
            return self._log.end(attempt, acknowledgement, now_s, verdict, None, reason)
        state, verdict = verified_state(
            attempt.before, requested_state(attempt.operation), evidence, acknowledgement, now_s, self.settings
        )
        if verdict is Verdict.NO_CHANGE:
            # What was seen after a failure is still an observation.
            for told in evidence:
                state = updated_state(state, told.state, told.confidence, told.stamp_s, self.settings)
        self._put(replace(entity, state=state))
        return self._log.end(attempt, acknowledgement, now_s, verdict, state, reason)

    def failures(self, candidate_id: str, entity_id: str = "") -> tuple[int, float | None]:
        """How often a candidate was tried in vain since it last worked, and when the last of these ended."""
        return self._log.failures(candidate_id, entity_id)

    def state(self) -> GraphState:
        """Everything that is known, as one record."""
        return GraphState(
            format=FORMAT,
            settings=self.settings,
            entities=tuple(self._entities.values()),
            rooms=tuple(self._rooms.values()),
            room_grid=self._layer.grid(),
            passages=self._passages,
            robot=self._robot,
            in_view=tuple(self._in_view.items()),
            counters=tuple(self._counters.items()),
            attempts=self._log.all,
        )

    @staticmethod
    def of_state(state: GraphState) -> InteractionGraph:
        """The graph that `state` described, equal in everything that it does next."""
        graph = InteractionGraph(state.settings)
        graph._layer = RoomLayer.of_grid(state.room_grid)
        graph._rooms = {room.id: room for room in state.rooms}
        graph._passages = state.passages
        graph._robot = state.robot
        graph._in_view = dict(state.in_view)
        graph._counters = dict(state.counters)
        graph._log = AttemptLog(state.attempts)
        for entity in state.entities:
            graph._put(entity)
        return graph

    def _put(self, entity: Entity) -> None:
        self._entities[entity.id] = entity
        self._index.put(entity)

    def _release_instance(self, instance_id: str, owner: str | None) -> None:
        """An id that comes back for something else belongs to one entity alone."""
        former = self._index.of_instance(instance_id) if instance_id else None
        if former is not None and former != owner:
            entity = self._entities[former]
            left = tuple(i for i in entity.instance_ids if i != instance_id)
            self._entities[former] = replace(entity, instance_ids=left)

    def _created(self, seen: Seen, score: float, frame: DetectionFrame, near: bool) -> Entity:
        base = "_".join(seen.category.split()) or "thing"
        number = self._counters.get(base, 0)
        self._counters[base] = number + 1
        x, y, _ = frame.camera_in_map.translation
        return self._in_rooms(
            Entity(
                id=f"{base}_{number}",
                kind=seen.kind,
                category=seen.category,
                low=seen.low,
                high=seen.high,
                core_low=seen.low,
                core_high=seen.high,
                score=float(score),
                first_seen_s=frame.stamp_s,
                last_seen_s=frame.stamp_s,
                looked_s=frame.stamp_s if near else None,
                sightings=1,
                seen_from=(float(x), float(y)),
                instance_ids=(seen.instance_id,) if seen.instance_id else (),
            )
        )

    def _in_rooms(self, entity: Entity) -> Entity:
        """The entity with the rooms that it is in or, a door, joins; a door keeps two once it had them."""
        x, y, _ = entity.position
        if entity.kind is not NodeKind.CHANNEL:
            room = self.room_at(x, y)
            return replace(entity, rooms=(room,)) if room and entity.rooms != (room,) else entity
        joined = next((p.rooms for p in self._passages if p.channel == entity.id), None)
        near = joined or self._layer.rooms_near(x, y, self.settings.channel_reach_m)[:2]
        known = tuple(room for room in entity.rooms if self._rooms[room].current)
        if len(near) < 2 <= len(known):
            return entity
        return replace(entity, rooms=near or known) if (near or known) != entity.rooms else entity

    def _with_state(self, entity: Entity, told: StateEvidence | None, stamp_s: float) -> Entity:
        if told is None:
            return entity
        return replace(
            entity,
            state=updated_state(entity.state, told.state, told.confidence, stamp_s, self.settings),
            operable_part=told.part or entity.operable_part,
            operable_point=told.part_point or entity.operable_point,
            facing=told.facing or entity.facing,
        )

    def _place_inside(self, thing: Entity) -> None:
        """An object in an open container's box is in it; in view outside of every box, it is in none."""
        where = thing.position
        inside = ""
        entities, closed = self._entities, EntityState.CLOSED
        # A closed container shows nothing of what it holds: what is seen is before it.
        holding = [
            container
            for name in self._index.containers_near(where)
            if holds(container := entities[name], where) and container.state.state is not closed
        ]
        if holding:
            inside = min(holding, key=lambda c: (volume((c.core_low, c.core_high)), c.id)).id
        if inside != thing.inside:
            self._entities[thing.id] = replace(thing, inside=inside)


def _seen_again(entity: Entity, seen: Seen, score: float, frame: DetectionFrame, near: bool) -> Entity:
    """The entity with fresh evidence in place of stale attributes; an old frame only adds a sighting."""
    known = entity.instance_ids
    ids = known if not seen.instance_id or seen.instance_id in known else (*known, seen.instance_id)
    if frame.stamp_s < entity.last_seen_s:
        return replace(entity, sightings=entity.sightings + 1, instance_ids=ids)
    core = tightened((entity.core_low, entity.core_high), (seen.low, seen.high))
    x, y, _ = frame.camera_in_map.translation
    return replace(
        entity,
        low=seen.low,
        high=seen.high,
        core_low=core[0],
        core_high=core[1],
        score=float(score),
        last_seen_s=frame.stamp_s,
        looked_s=frame.stamp_s if near else entity.looked_s,
        sightings=entity.sightings + 1,
        seen_from=(float(x), float(y)),
        instance_ids=ids,
    )
