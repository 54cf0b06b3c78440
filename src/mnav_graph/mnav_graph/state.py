"""Everything that a graph knows, as one record, and its JSON file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from mnav_core.errors import UsageError
from mnav_graph.records import Attempt, Entity, RobotNode, RoomNode, RoomPassage
from mnav_graph.room_layer import RoomGrid
from mnav_graph.settings import GraphSettings

FORMAT = 1


@dataclass(frozen=True)
class GraphState:
    """A graph at rest: what `InteractionGraph.state` gives and `of_state` takes."""

    format: int
    settings: GraphSettings
    entities: tuple[Entity, ...]
    rooms: tuple[RoomNode, ...]
    room_grid: RoomGrid
    passages: tuple[RoomPassage, ...]
    robot: RobotNode | None
    in_view: tuple[tuple[str, tuple[str, ...]], ...]
    counters: tuple[tuple[str, int], ...]
    attempts: tuple[Attempt, ...]


STATE = TypeAdapter(GraphState)


def to_json(state: GraphState) -> str:
    """The state as JSON; equal states give the same text, and every number comes back as it was."""
    return STATE.dump_json(state, indent=1).decode() + "\n"


def from_json(text: str | bytes, where: str = "graph") -> GraphState:
    """The state that `to_json` wrote. Raises UsageError naming field, value and what is allowed."""
    try:
        state = STATE.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "file"
        raise UsageError(f"{where}: {place} = {str(first['input'])[:60]}: {first['msg']}") from error
    if state.format != FORMAT:
        raise UsageError(f"{where}: format = {state.format}, allowed: {FORMAT}")
    return state


def save(state: GraphState, file: Path) -> None:
    """Write a state so that a crash leaves the old file or the new one, never half of one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(file.suffix + ".part")
    beside.write_text(to_json(state))
    beside.replace(file)


def load(file: Path) -> GraphState:
    """Read a state. Raises UsageError naming the file and what is wrong with it."""
    try:
        return from_json(file.read_bytes(), f"graph file {file}")
    except OSError as error:
        raise UsageError(f"graph file {file}: {error.strerror or error}") from error
