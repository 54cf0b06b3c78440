"""What a mind asks of a runner, and what it is sent back."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum

from mnav_core.chat import ChatRequest, ChatTurn
from mnav_core.geometry import SE2
from mnav_core.interaction import Operation
from mnav_core.maps import MapSnapshot
from mnav_core.motion import MotionReport
from mnav_core.sensing import DetectionFrame, RgbdImage


class PointIntent(Enum):
    """What the point of a view is for."""

    APPROACH = "approach"
    PASS_THROUGH = "pass_through"
    INSPECT = "inspect"


@dataclass(frozen=True)
class Observe:
    """Ask for what is known now; with `capture` also for fresh images of every view that the robot has, which waits."""

    capture: bool = False


@dataclass(frozen=True)
class Look:
    """Tilt the head to `pitch_rad`, positive down."""

    pitch_rad: float


@dataclass(frozen=True)
class Turn:
    """Turn in place by `angle_rad`, positive left; more than a full turn is refused."""

    angle_rad: float


@dataclass(frozen=True)
class GoToPoint:
    """Drive to the point (u, v), normalised from the top-left corner, of one view of the newest capture."""

    image_ref: str
    view: str
    u: float
    v: float
    intent: PointIntent = PointIntent.APPROACH


@dataclass(frozen=True)
class GoToPose:
    """Drive to a pose of `map`; `yaw` None leaves the heading free."""

    x: float
    y: float
    yaw: float | None = None
    tolerance_m: float = 0.15


@dataclass(frozen=True)
class GoByIntent:
    """Drive by an instruction in words; served where a learned executor is."""

    text: str


@dataclass(frozen=True)
class Interact:
    """Open or close the part that a point lies on, by `fraction` of its travel: the point decides, never a name.

    The point is `point` (x, y, z in `map`, metres) when given, else what (u, v) of a view of the newest capture marks.
    It must lie within `interaction.REACH_M` and be in view when the base has come to rest. Answered with a
    `MotionHandle`; the report carries an `InteractionEnd`. While it runs nothing else moves the base, but the robot may
    back off by itself so that the leaf does not meet it. `entity_id` and `category` are for logs.
    """

    image_ref: str
    view: str
    u: float
    v: float
    operation: Operation
    fraction: float = 1.0
    point: tuple[float, float, float] | None = None
    entity_id: str = ""
    category: str = ""


@dataclass(frozen=True)
class Stop:
    """End every motion; answered with a `MotionHandle` once the command to stop is out."""


class EventKind(Enum):
    """What can end a `Wait` besides motion and time."""

    DETECTION = "detection"


@dataclass(frozen=True)
class Wait:
    """Wait for any of: the end of motion `motion_id`, an event kind, the time `until_s`."""

    motion_id: int | None = None
    events: frozenset[EventKind] = frozenset()
    until_s: float | None = None


@dataclass(frozen=True)
class Note:
    """One line of the decision log: feedback of the task, for people."""

    text: str


@dataclass(frozen=True)
class AskModel:
    """Ask the chat model for one turn, at most `deadline_s` wall seconds; answered with a `ChatTurn`."""

    request: ChatRequest
    deadline_s: float = 120.0


MotionRequest = Look | Turn | GoToPoint | GoToPose | GoByIntent | Interact
Request = Observe | MotionRequest | Stop | Wait | Note | AskModel


@dataclass(frozen=True)
class MotionHandle:
    """A motion that was asked for; whether it was refused is in its report."""

    motion_id: int


@dataclass(frozen=True, eq=False)
class Capture:
    """Images taken together (`simultaneous`) or by turning, under one reference."""

    ref: str
    stamp_s: float
    simultaneous: bool
    images: tuple[RgbdImage, ...]
    detections: tuple[DetectionFrame, ...] = ()


@dataclass(frozen=True, eq=False)
class Observation:
    """What is known at `stamp_s`.

    Pose in `map`, maps, all detection frames since the last Observe or Wait, a capture if asked.
    """

    stamp_s: float
    pose: SE2
    camera_pitch: float
    maps: MapSnapshot | None
    detections: tuple[DetectionFrame, ...] = ()
    capture: Capture | None = None


class WaitReason(Enum):
    """Why a `Wait` ended."""

    MOTION = "motion"
    EVENT = "event"
    TIME = "time"


@dataclass(frozen=True, eq=False)
class WaitResult:
    """Why and when a `Wait` ended, with the report of the motion if it did and the detection frames since the last
    one.
    """

    reason: WaitReason
    stamp_s: float
    report: MotionReport | None = None
    detections: tuple[DetectionFrame, ...] = ()


class TaskOutcome(Enum):
    """How a task ended, as the robot itself claims."""

    ACHIEVED = "achieved"
    BLOCKED = "blocked"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True)
class TaskGoal:
    """One thing to find: `category` names it, `text` is what the person said."""

    id: str
    category: str
    text: str = ""


@dataclass(frozen=True)
class TaskResult:
    """What a mind claims when it ends. `reason` is for people."""

    outcome: TaskOutcome
    reason: str = ""
    answer: str = ""


Reply = Observation | MotionHandle | WaitResult | ChatTurn | None
Mind = Generator[Request, Reply, TaskResult]
