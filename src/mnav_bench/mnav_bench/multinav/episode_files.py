"""Episode files of suite `multinav`: one JSON object with a header and episodes (MultINav, Appendix C)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mnav_bench.episodes import Finite, NonNegative, Pose
from mnav_bench.json_records import read_record, write_record
from mnav_bench.multinav.released_file import refuse_released

FORMAT: Literal["mnav_multinav_v1"] = "mnav_multinav_v1"
Domain = Literal["channel", "container", "mixed"]
Requirement = Literal["required", "beneficial", "unnecessary"]
TaskForm = Literal["objectgoal", "pointgoal", "instructiongoal"]
Recipe = Literal["single_path", "distractor", "critical_distractor", "route_shortening", "container", "door_container"]
Point3 = tuple[Finite, Finite, Finite]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class JointStart(_Record):
    """Where a joint starts, as a share of its travel; what is not named is closed (containers) or open (doors)."""

    joint: str
    fraction: Annotated[float, Field(ge=0.0, le=1.0)]


class AddedThing(_Record):
    """A thing that the episode puts into a container of the house."""

    name: str
    category: str
    container: str
    seed: Annotated[int, Field(ge=0)]


class Interaction(_Record):
    """An interaction that the task depends on, with its joint, its effect and what must hold before it."""

    interaction_id: str
    type: Literal["channel_hinged_door", "container_hinged_door", "container_sliding_drawer"]
    entity: str
    category: str
    joint: str
    effect: Literal["restore_reachability", "shorten_route", "reveal_target_object"]
    prerequisites: tuple[str, ...] = ()
    point: Point3


class Step(_Record):
    """One step of a plan: drive along `waypoints` to `pose` and look down by `pitch`; open an interaction; observe."""

    kind: Literal["navigate", "open", "observe"]
    waypoints: tuple[tuple[Finite, Finite], ...] = ()
    pose: Pose | None = None
    pitch: Finite = 0.0
    interaction_id: str = ""
    length_m: NonNegative = 0.0


class Plan(_Record):
    """An ordered way to the goal. `length_m` is planar base motion alone; `target` is where the goal is at its end."""

    plan_id: str
    required_interaction_ids: tuple[str, ...]
    steps: tuple[Step, ...]
    length_m: NonNegative
    target: Point3


class Instruction(_Record):
    """A sentence at one level of disclosure, with the plan's steps and the entities that its words rest on."""

    disclosure: Literal["hidden", "partial", "explicit"]
    text: str
    plan_steps: tuple[int, ...]
    entities: tuple[str, ...]


class MultiNavEpisode(_Record):
    """One episode: scene, robot, start, goal, joints, interactions, plan, label and how hard its house is."""

    id: str
    domain: Domain
    recipe: Recipe
    requirement: Requirement
    task_form: TaskForm
    data_split: Literal["train", "val"]
    house_seed: Annotated[int, Field(ge=0)]
    house_sub_seed: Annotated[int, Field(ge=0)]
    house_rooms: Annotated[int, Field(ge=1)]
    house_doors: Annotated[int, Field(ge=0)]
    house_containers: Annotated[int, Field(ge=0)]
    scene_hash: str
    removed: tuple[str, ...]
    added: tuple[AddedThing, ...]
    joints: tuple[JointStart, ...]
    robot: str
    success_view: str
    start: Pose
    category: str
    target_ids: Annotated[tuple[str, ...], Field(min_length=1)]
    target_container: str
    target_container_category: str
    start_room: str
    target_room: str
    goal_point: tuple[Finite, Finite] | None
    interactions: tuple[Interaction, ...]
    plans: Annotated[tuple[Plan, ...], Field(min_length=1)]
    closed_path_m: NonNegative | None
    open_path_m: NonNegative
    distractor_containers: Annotated[int, Field(ge=0)]
    plausible_distractors: Annotated[int, Field(ge=0)]
    unusual_container: bool
    instructions: tuple[Instruction, ...]
    disclosure: Literal["", "hidden", "partial", "explicit"]

    @property
    def reference_m(self) -> float:
        """Length of the shortest plan."""
        return min(plan.length_m for plan in self.plans)

    @model_validator(mode="after")
    def _plans_fit(self) -> MultiNavEpisode:
        known = {i.interaction_id for i in self.interactions}
        for plan in self.plans:
            opened = tuple(s.interaction_id for s in plan.steps if s.kind == "open")
            if not set(opened) <= known:
                raise ValueError(f"plan {plan.plan_id!r} opens {opened}, allowed: {sorted(known)}")
            if set(plan.required_interaction_ids) - set(opened):
                raise ValueError(f"plan {plan.plan_id!r} does not open {plan.required_interaction_ids}")
            done: set[str] = set()
            needs = {i.interaction_id: i.prerequisites for i in self.interactions}
            for one in opened:
                if set(needs[one]) - done:
                    raise ValueError(f"plan {plan.plan_id!r} opens {one!r} before {needs[one]}")
                done.add(one)
        return self


class MultiNavFile(_Record):
    """A suite of episodes with what made them."""

    format: Literal["mnav_multinav_v1"]
    suite: Literal["multinav"]
    generator_version: str
    seed: Annotated[int, Field(ge=0)]
    robot: str
    distance_m: Annotated[float, Field(gt=0.0)]
    budget_s: Annotated[float, Field(gt=0.0)]
    episodes: Annotated[tuple[MultiNavEpisode, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> MultiNavFile:
        ids = [episode.id for episode in self.episodes]
        if len(set(ids)) != len(ids):
            twice = next(i for i in ids if ids.count(i) > 1)
            raise ValueError(f"episode id {twice!r} stands twice, allowed: once")
        return self


def write_multinav(file: Path, episodes: MultiNavFile) -> None:
    """Write an episode file."""
    write_record(file, episodes)


def read_multinav(file: Path) -> MultiNavFile:
    """Read an episode file. Raises UsageError naming file, field, value and what is allowed."""
    refuse_released(file)
    return read_record(file, MultiNavFile, "episode file")
