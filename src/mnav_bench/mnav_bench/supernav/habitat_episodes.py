"""Reads object-goal episode files as HM3D and OVON publish them: JSON, perhaps gzipped, y up, quaternions x, y, z, w.

Nothing of a simulator is needed: what comes out are starts, viewpoints and lengths in this project's frame (z up).
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnav_core.errors import UsageError
from mnav_core.geometry import SE2

Point3 = tuple[float, float, float]
MAX_BYTES = 400_000_000


@dataclass(frozen=True)
class ForeignGoal:
    """One instance of the category: its centre and its viewpoints, metres, z up."""

    object_id: str
    position: Point3
    viewpoints: tuple[Point3, ...]


@dataclass(frozen=True)
class ForeignEpisode:
    """One object-goal episode. `start_height` is the floor's, `geodesic_m` the reference where the file has one."""

    id: str
    scene: str
    category: str
    start: SE2
    start_height: float
    goals: tuple[ForeignGoal, ...]
    geodesic_m: float | None

    @property
    def viewpoints(self) -> tuple[tuple[float, float], ...]:
        """All approved viewpoints in the plane."""
        return tuple((x, y) for goal in self.goals for x, y, _ in goal.viewpoints)


def read_habitat_episodes(file: Path) -> list[ForeignEpisode]:
    """The episodes of one file. Raises UsageError naming file, place and what is allowed."""
    data = _loaded(file)
    if not isinstance(data, dict) or not isinstance(data.get("episodes"), list):
        raise UsageError(f"episode file {file}: no list `episodes`, allowed: an object-goal file of HM3D or OVON")
    by_category = data.get("goals_by_category") or {}
    if not isinstance(by_category, dict):
        raise UsageError(f"episode file {file}: goals_by_category is {type(by_category).__name__}, allowed: an object")
    return list(_episodes(file, data["episodes"], by_category))


def _episodes(file: Path, listed: Sequence[Any], by_category: Mapping[str, Any]) -> Iterator[ForeignEpisode]:
    goals_of: dict[str, tuple[ForeignGoal, ...]] = {}
    for number, entry in enumerate(listed):
        where = f"episode file {file}: episodes.{number}"
        if not isinstance(entry, dict):
            raise UsageError(f"{where} is {type(entry).__name__}, allowed: an object")
        scene, category = str(_field(entry, "scene_id", where)), str(_field(entry, "object_category", where))
        key = f"{scene.rsplit('/', 1)[-1]}_{category}"
        if entry.get("goals"):
            goals = _goals(entry["goals"], f"{where}.goals")
        elif key in by_category:
            if key not in goals_of:
                goals_of[key] = _goals(by_category[key], f"episode file {file}: goals_by_category.{key}")
            goals = goals_of[key]
        else:
            raise UsageError(f"{where}: no goals, allowed: its own, or goals_by_category.{key}")
        position = _point(_field(entry, "start_position", where), f"{where}.start_position")
        info = entry.get("info") or {}
        length = info.get("geodesic_distance") if isinstance(info, dict) else None
        yield ForeignEpisode(
            str(entry.get("episode_id", number)),
            scene,
            category,
            SE2(position[0], position[1], _yaw(_field(entry, "start_rotation", where), f"{where}.start_rotation")),
            position[2],
            goals,
            float(length) if isinstance(length, int | float) and math.isfinite(length) else None,
        )


def _goals(listed: Any, where: str) -> tuple[ForeignGoal, ...]:
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{where}: no goals in it, allowed: at least one")
    goals = []
    for number, entry in enumerate(listed):
        place = f"{where}.{number}"
        if not isinstance(entry, dict):
            raise UsageError(f"{place} is {type(entry).__name__}, allowed: an object")
        views = entry.get("view_points") or []
        viewpoints = tuple(_viewpoint(view, f"{place}.view_points.{i}") for i, view in enumerate(views))
        position = _point(_field(entry, "position", place), f"{place}.position")
        goals.append(ForeignGoal(str(entry.get("object_id", number)), position, viewpoints))
    return tuple(goals)


def _viewpoint(view: Any, where: str) -> Point3:
    """HM3D nests the position in `agent_state`; other files have it plainly."""
    state = view.get("agent_state", view) if isinstance(view, dict) else view
    return _point(_field(state, "position", where), where) if isinstance(state, dict) else _point(state, where)


def _point(value: Any, where: str) -> Point3:
    """From y up (x, y, z) to z up (x, -z, y)."""
    numbers = isinstance(value, list) and len(value) == 3 and all(isinstance(v, int | float) for v in value)
    if not numbers or not all(math.isfinite(v) for v in value):
        raise UsageError(f"{where} is {str(value)[:60]}, allowed: three finite numbers")
    return float(value[0]), -float(value[2]), float(value[1])


def _yaw(value: Any, where: str) -> float:
    """Heading in the plane of an agent that looks along -z of its own frame, y up."""
    numbers = isinstance(value, list) and len(value) == 4 and all(isinstance(v, int | float) for v in value)
    if not numbers or not math.isfinite(sum(value)) or sum(v * v for v in value) < 1e-12:
        raise UsageError(f"{where} is {str(value)[:60]}, allowed: a quaternion x, y, z, w")
    x, y, z, w = value
    forward_x = -2.0 * (x * z + w * y)
    forward_z = -(1.0 - 2.0 * (x * x + y * y))
    return math.atan2(-forward_z, forward_x)


def _field(entry: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in entry:
        raise UsageError(f"{where}: {name} is missing, there are: {', '.join(sorted(map(str, entry)))[:200]}")
    return entry[name]


def _loaded(file: Path) -> Any:
    try:
        raw = file.read_bytes()
        if len(raw) > MAX_BYTES:
            raise UsageError(f"episode file {file}: {len(raw)} bytes, allowed: at most {MAX_BYTES}")
        if raw[:2] == b"\x1f\x8b":
            with gzip.open(file) as stream:
                raw = stream.read(MAX_BYTES + 1)
            if len(raw) > MAX_BYTES:
                raise UsageError(f"episode file {file}: unpacks to more than {MAX_BYTES} bytes")
        return json.loads(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"episode file {file}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"episode file {file}: not JSON: {error}") from error
