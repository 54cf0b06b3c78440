"""The house record: what is where, by name, with a JSON round trip."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

GENERATOR_VERSION = "1.0"
Point2 = tuple[float, float]
Point3 = tuple[float, float, float]


@dataclass(frozen=True)
class RoomRecord:
    """A room: `rect` is x0, y0, x1, y1 between the walls' faces; `neighbours` are the rooms one can walk into."""

    id: str
    kind: str
    rect: tuple[float, float, float, float]
    neighbours: tuple[str, ...]


@dataclass(frozen=True)
class DoorRecord:
    """A door: `axis` of its wall; joint 0 is closed, `open_qpos` fully open; the leaf opens into `opens_into`.

    `initial_qpos` is where it starts; `handle` lies on the leaf in its own frame.
    """

    id: str
    rooms: tuple[str, str]
    centre: Point2
    axis: str
    body: str
    joint: str
    closed_qpos: float
    open_qpos: float
    initial_qpos: float
    opens_into: str
    hinge_side: int
    handle: Point3


@dataclass(frozen=True)
class OpeningRecord:
    """An archway without a leaf."""

    rooms: tuple[str, str]
    centre: Point2
    axis: str
    width: float


@dataclass(frozen=True)
class ContainerRecord:
    """A fridge, cabinet or drawer: joints (0 closed, `travel` open), interior in the frame of `body`."""

    id: str
    category: str
    body: str
    room: str
    furniture: str
    joints: tuple[str, ...]
    travel: tuple[float, ...]
    interior: tuple[Point3, Point3]
    contents: tuple[str, ...]
    front: Point3
    facing: float


@dataclass(frozen=True)
class FurnitureRecord:
    """A piece of furniture: floor rectangle x0, y0, x1, y1, height, heading of its front."""

    id: str
    category: str
    room: str
    body: str
    rect: tuple[float, float, float, float]
    height: float
    facing: float


@dataclass(frozen=True)
class ObjectRecord:
    """A small thing: centre and full extents in the map at the start, what it stands on, what holds it."""

    id: str
    category: str
    body: str
    room: str
    support: str
    support_height: float
    container: str | None
    position: Point3
    size: Point3
    target: bool


@dataclass(frozen=True)
class WindowRecord:
    """A window: middle of the hole, its width and height."""

    room: str
    centre: Point3
    axis: str
    width: float
    height: float


@dataclass(frozen=True)
class HouseRecord:
    """Everything that is known of one generated house. `xml_sha256` names the model it belongs to."""

    seed: int
    sub_seed: int
    generator_version: str
    doors_mode: str
    size: tuple[float, float]
    rooms: tuple[RoomRecord, ...]
    doors: tuple[DoorRecord, ...]
    openings: tuple[OpeningRecord, ...]
    windows: tuple[WindowRecord, ...]
    furniture: tuple[FurnitureRecord, ...]
    containers: tuple[ContainerRecord, ...]
    objects: tuple[ObjectRecord, ...]
    xml_sha256: str

    def room_at(self, x: float, y: float) -> str | None:
        """Id of the room whose floor holds the point, None in a wall, a doorway or outside."""
        for room in self.rooms:
            if room.rect[0] <= x <= room.rect[2] and room.rect[1] <= y <= room.rect[3]:
                return room.id
        return None

    def to_json(self) -> str:
        """The record as JSON, the same text for equal records."""
        return json.dumps(asdict(self), indent=1, sort_keys=True)

    @staticmethod
    def from_json(text: str) -> HouseRecord:
        """The record that `to_json` wrote. Raises ValueError when the text is not one."""
        try:
            data = json.loads(text)
            return HouseRecord(
                **{
                    **_tuples(data),
                    **{key: tuple(kind(**_tuples(item)) for item in data[key]) for key, kind in _PARTS.items()},
                }
            )
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(f"house record: not a record of generator {GENERATOR_VERSION}: {error}") from error


_PARTS: Mapping[str, type] = {
    "rooms": RoomRecord,
    "doors": DoorRecord,
    "openings": OpeningRecord,
    "windows": WindowRecord,
    "furniture": FurnitureRecord,
    "containers": ContainerRecord,
    "objects": ObjectRecord,
}


def _tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _tuple(value) for key, value in data.items()}


def _tuple(value: Any) -> Any:
    return tuple(_tuple(v) for v in value) if isinstance(value, list) else value
