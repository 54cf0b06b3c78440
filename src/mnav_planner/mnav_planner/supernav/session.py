"""The state of one session: what the caller has seen, asked for, marked and claimed, on which robot."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from mnav_core.errors import UsageError
from mnav_core.requests import Capture
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame
from mnav_models.images import ImageBudget
from mnav_perception.exploration.frontiers import Frontier
from mnav_planner.supernav.arguments import ClaimedOutcome
from mnav_planner.supernav.catalogue import Configuration, Tool, ToolName, allowed_by_default, canonical_name, tools_for
from mnav_planner.supernav.goals import GoalRecords
from mnav_planner.supernav.grounding import Grounder, Preview
from mnav_planner.supernav.labelled_images import REPLY_BUDGET, ImageChoice
from mnav_planner.supernav.remembered import SightingMemory

REMEMBERED_REFS = 256
SAME_FRONTIER_M = 0.5


@dataclass(frozen=True)
class SessionPolicy:
    """What a session may do and how long.

    `allowed` None means the configuration's own tools. `global_task` keeps poses, maps and everything of an evaluation
    out of replies (SuperNav, appendix A). `run_s` and `call_s` are robot seconds. `least_motion_m`: a place reached
    after less than this asks for a check.
    """

    configuration: Configuration = Configuration.FULL
    allowed: frozenset[ToolName] | None = None
    global_task: bool = True
    run_s: float = 3600.0
    call_s: float = 300.0
    motion_s: float = 240.0
    least_motion_m: float = 0.15
    images: ImageBudget = REPLY_BUDGET

    def __post_init__(self) -> None:
        for name in ("run_s", "call_s", "motion_s"):
            if not 0.0 < getattr(self, name) <= 86_400.0:
                raise UsageError(f"session policy: {name} is {getattr(self, name)}, allowed is > 0 and <= 86400")

    @property
    def tools(self) -> frozenset[ToolName]:
        """The allow-list. Where replies are filtered there is no place for a tool that takes map coordinates."""
        names = allowed_by_default(self.configuration) if self.allowed is None else self.allowed
        return names - {ToolName.NAVIGATE_TO_POSE} if self.global_task else names


@dataclass(frozen=True)
class Claim:
    """What the caller says about its own task when it ends; kept apart from every score."""

    outcome: ClaimedOutcome
    reason: str
    stamp_s: float


@dataclass
class Hop:
    """The motion that runs, or the last one."""

    number: int
    tool: ToolName
    started_s: float
    status: str = "running"
    ended_s: float | None = None
    travelled_m: float = 0.0

    def as_fields(self, now_s: float) -> dict[str, Any]:
        """What `localnav_status` says."""
        end_s = now_s if self.ended_s is None else self.ended_s
        return {
            "leg_id": self.number,
            "tool": self.tool.value,
            "status": self.status,
            "elapsed_s": round(max(0.0, end_s - self.started_s), 1),
            "displacement_m": round(self.travelled_m, 2),
        }


@dataclass
class ToolSession:
    """One caller on one robot."""

    session_id: str
    robot_name: str
    robot: RobotDescription
    policy: SessionPolicy
    goals: GoalRecords
    grounder: Grounder | None = None
    graph: Callable[[Capture | None], list[dict[str, Any]]] | None = None
    capture: Capture | None = None
    opened_s: float | None = None
    now_s: float = 0.0
    hop: Hop | None = None
    hops: int = 0
    preview: Preview | None = None
    claim: Claim | None = None
    stop_asked: bool = False
    calls: Counter[ToolName] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    frontier_places: dict[str, tuple[str, float, float]] = field(default_factory=dict)
    memory: SightingMemory = field(default_factory=SightingMemory)
    seen_refs: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED_REFS))

    @property
    def closed(self) -> bool:
        """Whether the session has ended."""
        return self.claim is not None

    @property
    def tool_calls(self) -> int:
        """How many tools were called; reading skills and listing resources are no tools of the robot."""
        return sum(self.calls.values())

    @property
    def image_choice(self) -> ImageChoice:
        """Which images the caller is shown."""
        return ImageChoice(self.policy.configuration is Configuration.FRONT_ONLY, self.policy.images)

    def tools(self) -> tuple[Tool, ...]:
        """The tools that this session may call."""
        return tools_for(self.policy.configuration, self.policy.tools, self.robot, self.graph is not None)

    def tool(self, name: str) -> Tool | None:
        """The tool of a name or alias, None where there is none or it is not allowed."""
        wanted = canonical_name(name)
        return next((tool for tool in self.tools() if tool.name is wanted), None)

    def show(self, capture: Capture) -> None:
        """Make a capture the one that points refer to."""
        self.capture = capture
        self.seen_refs.append(capture.ref)
        self.remember(capture.detections)

    def remember(self, frames: Iterable[DetectionFrame]) -> None:
        """Keep what the detector found in the views that the caller is shown."""
        self.memory.add(frames, ("front",) if self.image_choice.front_only else tuple(self.robot.views))

    def begin_hop(self, tool: ToolName, now_s: float) -> Hop:
        """A motion starts."""
        self.hops += 1
        self.hop = Hop(self.hops, tool, now_s)
        return self.hop

    def frontier_name(self, frontier: Frontier) -> str:
        """The name under which the caller knows a frontier, the same while it changes a little."""
        kind, (x, y) = frontier.kind.value, frontier.centroid
        near = [
            (math.dist((x, y), place[1:]), name)
            for name, place in self.frontier_places.items()
            if place[0] == kind and math.dist((x, y), place[1:]) <= SAME_FRONTIER_M
        ]
        name = min(near)[1] if near else f"f{len(self.frontier_places) + 1}"
        self.frontier_places[name] = (kind, x, y)
        return name
