"""Episode files.

One JSON object with a header and a list of episodes, refused with a clear line when something is off.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mnav_bench.json_records import read_record, write_record
from mnav_bench.multinav.released_file import refuse_released

Finite = Annotated[float, Field(allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
FORMAT = "mnav_episodes_v1"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Pose(_Record):
    """A planar pose in `map`: metres and radians."""

    x: Finite
    y: Finite
    yaw: Finite


class Reference(_Record):
    """The oracle's route.

    Length of the shortest path of the inflated footprint, its corners, and where it ends looking.
    """

    length_m: NonNegative
    waypoints: tuple[tuple[Finite, Finite], ...]
    pose: Pose
    camera_pitch: Finite
    object_id: str
    object_position: tuple[Finite, Finite, Finite]


class NavToObjEpisode(_Record):
    """One object-goal episode. `target_ids` are all instances of the category in the house."""

    id: str
    house_seed: Annotated[int, Field(ge=0)]
    house_sub_seed: Annotated[int, Field(ge=0)]
    house_rooms: Annotated[int, Field(ge=1)]
    scene_hash: str
    robot: str
    success_view: str
    start: Pose
    category: str
    target_ids: Annotated[tuple[str, ...], Field(min_length=1)]
    start_room: str
    target_room: str
    visible_from_start: bool
    reference: Reference


class EpisodeFile(_Record):
    """A suite of episodes with what made them."""

    format: Literal["mnav_episodes_v1"]
    suite: Literal["navtoobj"]
    generator_version: str
    seed: Annotated[int, Field(ge=0)]
    robot: str
    distance_m: Annotated[float, Field(gt=0.0)]
    budget_s: Annotated[float, Field(gt=0.0)]
    episodes: Annotated[tuple[NavToObjEpisode, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> EpisodeFile:
        ids = [episode.id for episode in self.episodes]
        if len(set(ids)) != len(ids):
            twice = next(i for i in ids if ids.count(i) > 1)
            raise ValueError(f"episode id {twice!r} stands twice, allowed: once")
        return self


def write_episodes(file: Path, episodes: EpisodeFile) -> None:
    """Write an episode file."""
    write_record(file, episodes)


def read_episodes(file: Path) -> EpisodeFile:
    """Read an episode file. Raises UsageError naming file, field, value and what is allowed."""
    refuse_released(file)
    return read_record(file, EpisodeFile, "episode file")
