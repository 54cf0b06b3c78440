"""Files of the suite: one JSON object with a header and tasks, refused with a clear line when something is off."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mnav_bench.episodes import Pose
from mnav_bench.json_records import read_record, write_record
from mnav_bench.supernav.scoring import Box

Finite = Annotated[float, Field(allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Kind = Literal["single", "multi", "demand"]
FORMAT = "mnav_supernav_v1"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Goal(_Record):
    """One stage: what the agent is told, and what the scorer knows.

    `viewpoints` are the approved positions of a single or multi-object goal, `boxes` (x0, y0, x1, y1) the admissible
    objects of a need by id. `categories` are what the detector calls what is meant.
    """

    description: Annotated[str, Field(min_length=1, max_length=300)]
    categories: Annotated[tuple[str, ...], Field(min_length=1)]
    viewpoints: tuple[tuple[Finite, Finite], ...] = ()
    boxes: dict[str, tuple[Finite, Finite, Finite, Finite]] = {}

    @model_validator(mode="after")
    def _can_be_reached(self) -> Goal:
        if bool(self.viewpoints) == bool(self.boxes):
            raise ValueError("viewpoints or boxes, exactly one of them must be given")
        return self

    def as_boxes(self) -> dict[str, Box]:
        """The admissible objects."""
        return {object_id: Box(*box) for object_id, box in self.boxes.items()}


class SuperNavTask(_Record):
    """One task in one generated house. `designated_unreachable` matters only to the variant that credits such tasks."""

    id: str
    house_seed: Annotated[int, Field(ge=0)]
    house_sub_seed: Annotated[int, Field(ge=0)]
    house_rooms: Annotated[int, Field(ge=1)]
    scene_hash: str
    robot: str
    start: Pose
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    goals: Annotated[tuple[Goal, ...], Field(min_length=1, max_length=8)]
    reference_m: NonNegative
    designated_unreachable: bool = False


class SuperNavFile(_Record):
    """Tasks of one kind with what made them."""

    format: Literal["mnav_supernav_v1"]
    suite: Literal["supernav"]
    kind: Kind
    generator_version: str
    seed: Annotated[int, Field(ge=0)]
    robot: str
    budget_s: Annotated[float, Field(gt=0.0)]
    episodes: Annotated[tuple[SuperNavTask, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_consistent(self) -> SuperNavFile:
        ids = [task.id for task in self.episodes]
        if len(set(ids)) != len(ids):
            twice = next(i for i in ids if ids.count(i) > 1)
            raise ValueError(f"task id {twice!r} stands twice, allowed: once")
        for task in self.episodes:
            if self.kind == "single" and len(task.goals) != 1:
                raise ValueError(f"task {task.id!r} has {len(task.goals)} goals, allowed for single: 1")
            if any(bool(goal.boxes) != (self.kind == "demand") for goal in task.goals):
                needed = "boxes" if self.kind == "demand" else "viewpoints"
                raise ValueError(f"task {task.id!r}: goals of kind {self.kind} need {needed}")
        return self


def write_tasks(file: Path, tasks: SuperNavFile) -> None:
    """Write a task file."""
    write_record(file, tasks)


def read_tasks(file: Path) -> SuperNavFile:
    """Read a task file. Raises UsageError naming file, field, value and what is allowed."""
    return read_record(file, SuperNavFile, "task file")
