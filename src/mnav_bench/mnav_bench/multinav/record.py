"""What an episode demands and what happened in it, without a simulator: the evaluator's whole input."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mnav_core.interaction import Operation

OPEN_FROM = 0.8


class Domain(Enum):
    """What an interaction changes: connectivity or visibility."""

    CHANNEL = "channel"
    CONTAINER = "container"


class Split(Enum):
    """The task domain of an episode."""

    CHANNEL = "channel"
    CONTAINER = "container"
    MIXED = "mixed"


class Necessity(Enum):
    """Whether the benchmark declares interaction necessary."""

    REQUIRED = "required"
    UNNECESSARY = "unnecessary"


@dataclass(frozen=True)
class InteractionClass:
    """An annotated class: interaction domain and object category."""

    domain: Domain
    category: str


@dataclass(frozen=True)
class JointClass:
    """A joint of the scene, the object that it belongs to and that object's class."""

    joint: str
    object_id: str
    of: InteractionClass


@dataclass(frozen=True)
class RequiredEffect:
    """An annotated interaction: its id and the joint that it opens."""

    id: str
    joint: str


@dataclass(frozen=True)
class Plan:
    """An oracle plan: the ids of the interactions that it needs. An invalid one does not count."""

    id: str
    required: tuple[str, ...]
    valid: bool = True


@dataclass(frozen=True)
class EpisodeSpec:
    """What an episode demands.

    `reference_m`: planar length of the oracle route that permits necessary interactions, None where there is none.
    `classes`: C_i. `joints`: every articulated joint of the scene. `ineligible`: why it does not count, decided at
    reset, "" when it counts.
    """

    id: str
    split: Split
    necessity: Necessity
    reference_m: float | None
    threshold_m: float
    classes: tuple[InteractionClass, ...]
    effects: tuple[RequiredEffect, ...]
    plans: tuple[Plan, ...]
    joints: tuple[JointClass, ...]
    ineligible: str = ""


@dataclass(frozen=True)
class AttemptRecord:
    """One `interact` goal that was sent, accepted or not."""

    number: int
    operation: Operation
    start_s: float
    end_s: float
    acknowledged: bool = False
    rejected: bool = False


class Mover(Enum):
    """What moved a joint."""

    ATTEMPT = "attempt"
    BODY = "body"
    OTHER = "other"


@dataclass(frozen=True)
class JointMotion:
    """A joint went from one open fraction to another by `time_s`; `attempt` numbers the attempt that did it."""

    time_s: float
    joint: str
    before: float
    after: float
    by: Mover
    attempt: int = -1

    @property
    def opens(self) -> bool:
        """From below the open threshold to at least it."""
        return self.before < OPEN_FROM <= self.after

    @property
    def closes(self) -> bool:
        """From at least the open threshold to below it."""
        return self.after < OPEN_FROM <= self.before


@dataclass(frozen=True)
class Claim:
    """A restricted policy's claim of completion: `evidence`, the target was in a published observation."""

    evidence: bool


@dataclass(frozen=True)
class EpisodeRun:
    """What happened: base positions in time order, the end's distance and visibility, attempts and joint motions.

    `distance_m` is planar from the base to the nearest target, None when it was not measured. `restricted`: the policy
    must claim completion. `crashed`: the run did not end by itself.
    """

    episode_id: str
    trajectory: tuple[tuple[float, float], ...]
    distance_m: float | None
    target_visible: bool
    attempts: tuple[AttemptRecord, ...] = ()
    motions: tuple[JointMotion, ...] = ()
    restricted: bool = False
    claim: Claim | None = None
    crashed: bool = False
