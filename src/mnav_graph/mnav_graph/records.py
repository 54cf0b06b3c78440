"""Nodes, edges, attempts and candidates of the interaction graph (MultINav, section 4 and appendix D)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mnav_core.geometry import SE2
from mnav_core.interaction import Operation
from mnav_core.sensing import ArticulationState
from mnav_perception.rooms.records import RoomKind

Point2 = tuple[float, float]
Point3 = tuple[float, float, float]


class NodeKind(Enum):
    """What a node of the graph is."""

    ROOM = "room"
    CHANNEL = "channel"
    CONTAINER = "container"
    OBJECT = "object"
    ROBOT = "robot"


class EntityState(Enum):
    """z_t(u) of an interactive entity."""

    OPEN = "open"
    CLOSED = "closed"
    UNCERTAIN = "uncertain"


class EdgeKind(Enum):
    """How two nodes are related."""

    CONNECTIVITY = "connectivity"
    CONTAINMENT = "containment"
    VISIBILITY = "visibility"


def requested_state(operation: Operation) -> EntityState:
    """The state that an operation is meant to reach."""
    return EntityState.OPEN if operation is Operation.OPEN else EntityState.CLOSED


@dataclass(frozen=True)
class StateEstimate:
    """The believed state: confidence 0..1, when it was last supported by evidence, and what that evidence showed."""

    state: EntityState = EntityState.UNCERTAIN
    confidence: float = 0.0
    stamp_s: float = 0.0
    observed: ArticulationState = ArticulationState.UNKNOWN


@dataclass(frozen=True)
class Entity:
    """A door, container or object that was seen.

    `low` and `high` bound it along the axes of `map` as last seen, `core_low` and `core_high` as in the tightest view.
    `instance_ids` are the opaque ids under which it was seen. `looked_s`: when it was last seen from near. `seen_from`:
    where the camera was at the newest sighting. `facing`: unit normal of the closing plane, towards who opens it.
    `rooms`: the room it is in, for a channel up to two that it joins. `inside`: the container that holds it, or "".
    """

    id: str
    kind: NodeKind
    category: str
    low: Point3
    high: Point3
    core_low: Point3
    core_high: Point3
    score: float
    first_seen_s: float
    last_seen_s: float
    looked_s: float | None
    sightings: int
    seen_from: Point2
    instance_ids: tuple[str, ...] = ()
    state: StateEstimate = StateEstimate()
    operable_part: str = ""
    operable_point: Point3 | None = None
    facing: Point2 | None = None
    rooms: tuple[str, ...] = ()
    inside: str = ""

    @property
    def position(self) -> Point3:
        """Middle of the newest box in `map`."""
        return (
            (self.low[0] + self.high[0]) / 2.0,
            (self.low[1] + self.high[1]) / 2.0,
            (self.low[2] + self.high[2]) / 2.0,
        )

    @property
    def size(self) -> Point3:
        """Extents along the axes of `map`, metres."""
        return (self.high[0] - self.low[0], self.high[1] - self.low[1], self.high[2] - self.low[2])

    @property
    def is_interactive(self) -> bool:
        """Whether it can be opened and closed."""
        return self.kind in (NodeKind.CHANNEL, NodeKind.CONTAINER)


@dataclass(frozen=True)
class RoomNode:
    """A room under an id that stays while its floor is recognised.

    `current`: part of the newest segmentation. `visited_s`: when the robot was last in it.
    """

    id: str
    centroid: Point2
    area_m2: float
    kinds: tuple[RoomKind, ...]
    last_seen_s: float
    visited_s: float | None = None
    current: bool = True


@dataclass(frozen=True)
class RoomPassage:
    """A way between two rooms at `centre`, through the door `channel`, or without a door ("")."""

    rooms: tuple[str, str]
    centre: Point2
    channel: str = ""


@dataclass(frozen=True)
class RobotNode:
    """Where the robot is, in which room ("" unknown), and when."""

    pose: SE2
    stamp_s: float
    room: str = ""


@dataclass(frozen=True)
class Edge:
    """A relation from `source` to `target`: a weight in metres for connectivity (inf while blocked), else 1.0."""

    kind: EdgeKind
    source: str
    target: str
    weight: float = 1.0
    via: str = ""


class Acknowledgement(Enum):
    """What the executor said about an attempt; what really happened is for the verifier to see."""

    COMPLETED = "completed"
    STALLED = "stalled"
    REJECTED = "rejected"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


class Verdict(Enum):
    """What is believed of an attempt once it has been looked at."""

    VERIFIED = "verified"
    UNCERTAIN = "uncertain"
    NO_CHANGE = "no_change"
    PENDING = "pending"


@dataclass(frozen=True)
class Attempt:
    """One thing that was tried: the candidate's id, the entity it acts on ("" for a place), and how it ended.

    `verdict` is PENDING until the attempt has ended; for navigation it says whether the goal was reached.
    """

    number: int
    candidate_id: str
    entity_id: str
    operation: Operation | None
    started_s: float
    before: StateEstimate
    ended_s: float | None = None
    acknowledgement: Acknowledgement | None = None
    verdict: Verdict = Verdict.PENDING
    after: StateEstimate | None = None
    reason: str = ""


class CandidateKind(Enum):
    """What a candidate does."""

    NAVIGATE = "navigate"
    EXPLORE = "explore"
    INTERACT = "interact"


class ExpectedEffect(Enum):
    """The coarse change to hope for; never a claim that something unseen is there (section 4.2)."""

    REACH_TARGET = "reach_target"
    REACH_ROOM = "reach_room"
    REFRESH_STATE = "refresh_state"
    OBSERVE_SPACE = "observe_space"
    ENABLE_TRAVERSAL = "enable_traversal"
    REVEAL_CONTENTS = "reveal_contents"
    BLOCK_TRAVERSAL = "block_traversal"
    HIDE_CONTENTS = "hide_contents"


class Eligibility(Enum):
    """Whether a candidate may be executed now, or the first thing that speaks against it."""

    ELIGIBLE = "eligible"
    NO_ROUTE = "no_route"
    EVIDENCE_WEAK = "evidence_weak"
    EVIDENCE_STALE = "evidence_stale"
    STATE_UNRELIABLE = "state_unreliable"
    STATE_ALREADY = "state_already"
    ATTEMPT_PENDING = "attempt_pending"
    TRIED_RECENTLY = "tried_recently"
    TRIED_TOO_OFTEN = "tried_too_often"


@dataclass(frozen=True)
class Candidate:
    """One thing that could be done next.

    `entity_id` is an entity or a room, "" for a frontier. `viewpoint` is the pose to act from (None without a route),
    `route_cost_m` what it costs to get there (inf without a route), `point` what is looked at. `leads_to`: rooms that
    the effect concerns. `failures`: earlier attempts without a verified effect. `gain`: of a frontier, cells.
    """

    id: str
    kind: CandidateKind
    entity_id: str
    operation: Operation | None
    effect: ExpectedEffect
    viewpoint: SE2 | None
    route_cost_m: float
    point: Point3
    eligibility: Eligibility
    reason: str
    room: str = ""
    leads_to: tuple[str, ...] = ()
    failures: int = 0
    gain: int = 0

    @property
    def is_eligible(self) -> bool:
        """Whether it may be executed now."""
        return self.eligibility is Eligibility.ELIGIBLE
