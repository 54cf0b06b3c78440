"""Episode files in the released layout: JSON lists of MolmoSpaces episodes, with `interactive_nav` (v3) or without.

An episode is kept as the JSON that it came as, so that fields unknown here survive; what is read is checked first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mnav_bench.multinav.plan_checks import plan_fault
from mnav_core.errors import UsageError

SCHEMA = "interactive_nav_v3"
MAX_TILT_RAD = math.radians(5.0)
MAX_BYTES = 400_000_000
MOLMOSPACES = ("house_index", "scene_dataset", "data_split", "robot", "task", "language")
NAVIGATION = "nav_to_obj"
SHOWN = 60
HEAD_BYTES = 4096
MARK = b'"house_index"'

Number = Annotated[float, Field(allow_inf_nan=False)]
Pose7 = tuple[Number, Number, Number, Number, Number, Number, Number]


class _Part(BaseModel):
    """A part of an episode; what is not named here is let through."""

    model_config = ConfigDict(extra="allow", frozen=True)


class JointState(_Part):
    """How far a joint is open, and the word for it."""

    joint_fraction: Number
    semantic_state: str


class Prerequisite(_Part):
    """What must be done before."""

    interaction_id: str
    type: Literal["mechanical", "reachability", "visibility"]


class Interaction(_Part):
    """One annotated interaction with one joint."""

    interaction_id: str
    type: Literal["channel_hinged_door", "channel_sliding_door", "container_hinged_door", "container_sliding_drawer"]
    object_name: str
    object_category: str
    joint_name: str
    joint_index: int
    effect_types: tuple[str, ...]
    prerequisites: tuple[Prerequisite, ...]
    initial_state: JointState
    target_state: JointState


class Step(_Part):
    """One step of an oracle plan."""

    type: Literal["navigate", "set_view", "open_joint", "observe_target"]
    interaction_id: str | None = None


class OraclePlan(_Part):
    """One way to the goal."""

    plan_id: str
    required_interaction_ids: tuple[str, ...]
    steps: tuple[Step, ...]


class Distance(_Part):
    """The planar distance criterion."""

    threshold_m: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class SuccessCriteria(_Part):
    """When the goal counts as reached."""

    distance: Distance


class Target(_Part):
    """What is looked for."""

    category: str
    selected_instance: str


class Payload(_Part):
    """`interactive_nav` of an episode."""

    schema_version: Literal["interactive_nav_v3"]
    case_id: str
    interaction_domains: Annotated[tuple[Literal["channel", "container"], ...], Field(min_length=1)]
    interaction_requirement: Literal["required", "unnecessary", "beneficial", "unknown"]
    target: Target
    success_criteria: SuccessCriteria
    interactions: tuple[Interaction, ...]
    oracle_plan: OraclePlan
    oracle_plans: tuple[OraclePlan, ...] = ()
    generation_validation: dict[str, Any] = {}

    @property
    def plans(self) -> tuple[OraclePlan, ...]:
        """All plans; the single one where there is no list."""
        return self.oracle_plans or (self.oracle_plan,)


class Articulation(_Part):
    """The state of one joint at the start: the only source that is replayed."""

    object_name: str
    joint_name: str
    position: Number
    open_fraction: Number


class SceneModifications(_Part):
    """What differs from the scene as it is published."""

    object_poses: dict[str, Pose7] = {}
    articulation_states: tuple[Articulation, ...] = ()


class Task(_Part):
    """The task of MolmoSpaces."""

    task_cls: str
    task_type: str
    robot_base_pose: Pose7
    pickup_obj_name: str
    succ_pos_threshold: Number


class Episode(_Part):
    """What is read of one episode."""

    house_index: int
    scene_dataset: str
    data_split: str
    task: Task
    scene_modifications: SceneModifications
    interactive_nav: Payload


@dataclass(frozen=True)
class ReleasedFile:
    """A file as it was read: `episodes` are the JSON objects, nothing left out."""

    name: str
    episodes: tuple[Mapping[str, Any], ...]

    @property
    def description(self) -> str:
        """What is in it, for people."""
        interactive = sum("interactive_nav" in e for e in self.episodes)
        navigation = sum(_is_navigation(e) for e in self.episodes)
        if interactive:
            return f"{len(self.episodes)} MolmoSpaces episodes, {interactive} with interactive_nav"
        tasks = ", ".join(sorted({str(e["task"].get("task_cls", "?")).rsplit(".", 1)[-1] for e in self.episodes}))
        kind = f"{navigation} of them navigation" if navigation else "no navigation task"
        return f"{len(self.episodes)} valid MolmoSpaces episodes, {kind} ({tasks})"


def read_released(file: Path) -> ReleasedFile:
    """Read a file of MolmoSpaces episodes of any task. Raises UsageError naming file, episode and field."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UsageError(f"episode file {file}: over {MAX_BYTES} bytes, allowed: at most so many")
        data = json.loads(file.read_text())
    except OSError as error:
        raise UsageError(f"episode file {file}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"episode file {file}: not JSON: {error}") from error
    if not isinstance(data, list) or not data:
        raise UsageError(f"episode file {file}: {type(data).__name__}, allowed: a list of episodes")
    for number, episode in enumerate(data):
        if not isinstance(episode, dict):
            raise UsageError(f"episode file {file}: episode {number} is {type(episode).__name__}, allowed: an object")
        for field in MOLMOSPACES:
            if episode.get(field) is None:
                raise UsageError(f"episode file {file}: episode {number}: {field} is missing or null")
        if not isinstance(episode["task"], dict):
            raise UsageError(f"episode file {file}: episode {number}: task is no object")
    return ReleasedFile(file.name, tuple(data))


def looks_released(file: Path) -> bool:
    """Whether a file begins like a list of MolmoSpaces episodes; False for what cannot be read."""
    try:
        with file.open("rb") as stream:
            head = stream.read(HEAD_BYTES).lstrip()
    except OSError:
        return False
    return head.startswith(b"[") and MARK in head


def refuse_released(file: Path) -> None:
    """Refuse a file of MolmoSpaces episodes where the suite's own are wanted; any other file passes.

    Raises UsageError that names the file, the first episode that is no navigation task and its task, or what is amiss.
    """
    if not looks_released(file):
        return
    read = read_released(file)
    interactive_episodes(read)
    raise UsageError(
        f"episode file {file}: {read.description}, whose scenes are MolmoSpaces', allowed: episodes of this suite's gen"
    )


def write_released(file: Path, episodes: Sequence[Mapping[str, Any]]) -> None:
    """Write episodes as they are; folders are made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(list(episodes), indent=4, ensure_ascii=False) + "\n")


def interactive_episodes(read: ReleasedFile) -> tuple[Episode, ...]:
    """The episodes as tasks that can be run.

    Raises UsageError naming file, episode and field: a file without a navigation task, a null or missing value, a base
    that leans over 5 degrees, an interaction whose joint the scene does not list, a plan that contradicts itself.
    """
    return tuple(_interactive(read.name, number, raw) for number, raw in enumerate(read.episodes))


def _interactive(file: str, number: int, raw: Mapping[str, Any]) -> Episode:
    case = raw.get("interactive_nav")
    name = case.get("case_id", number) if isinstance(case, dict) else number
    where = f"episode file {file}: episode {name}"
    if not _is_navigation(raw):
        kind = raw["task"].get("task_cls")
        raise UsageError(
            f"{where}: task.task_cls = {kind!r}: a valid MolmoSpaces episode, but no navigation task, allowed: "
            f"task_type = {NAVIGATION!r}"
        )
    if not isinstance(case, dict):
        raise UsageError(f"{where}: interactive_nav is missing, allowed: {SCHEMA}")
    try:
        episode = Episode.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{where}: {field} = {repr(first['input'])[:SHOWN]}: {first['msg']}") from error
    tilt = tilt_of(episode.task.robot_base_pose)
    if tilt is None or tilt > MAX_TILT_RAD:
        said = "is no rotation" if tilt is None else f"leans {math.degrees(tilt):.1f} degrees"
        raise UsageError(f"{where}: task.robot_base_pose {said}, allowed: at most 5 degrees from upright")
    listed = {(a.object_name, a.joint_name) for a in episode.scene_modifications.articulation_states}
    for place, interaction in enumerate(episode.interactive_nav.interactions):
        if (interaction.object_name, interaction.joint_name) not in listed:
            raise UsageError(
                f"{where}: interactive_nav.interactions.{place}.joint_name = {interaction.joint_name!r}: not among "
                f"scene_modifications.articulation_states of {interaction.object_name!r}"
            )
    fault = plan_fault(
        {i.interaction_id: [p.interaction_id for p in i.prerequisites] for i in episode.interactive_nav.interactions},
        [
            (plan.plan_id, plan.required_interaction_ids,
             [step.interaction_id for step in plan.steps if step.type == "open_joint"])
            for plan in episode.interactive_nav.plans
        ],
    )  # fmt: skip
    if fault:
        raise UsageError(f"{where}: interactive_nav: {fault}")
    return episode


def tilt_of(pose: Pose7) -> float | None:
    """Angle between a pose's z axis and the vertical, radians, from x, y, z, qw, qx, qy, qz; None without a length."""
    _, qx, qy, _ = pose[3:]
    square = math.fsum(q * q for q in pose[3:])
    if square < 1e-12:
        return None
    return math.acos(min(max(1.0 - 2.0 * (qx * qx + qy * qy) / square, -1.0), 1.0))


def _is_navigation(raw: Mapping[str, Any]) -> bool:
    return bool(raw["task"].get("task_type") == NAVIGATION)
