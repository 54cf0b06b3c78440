"""Which known entity a detection is: by its instance id, or by category, kind and place when ids are withheld."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mnav_graph.records import Entity, NodeKind, Point3
from mnav_graph.settings import GraphSettings

CELL_M = 1.0
Cell = tuple[int, int]
Key = tuple[str, str, int, int]


@dataclass(frozen=True)
class Seen:
    """A detection in `map`: opaque id ("" when withheld), category, kind and bounding box."""

    instance_id: str
    category: str
    kind: NodeKind
    low: Point3
    high: Point3

    @property
    def position(self) -> Point3:
        """Middle of the box."""
        return (
            (self.low[0] + self.high[0]) / 2.0,
            (self.low[1] + self.high[1]) / 2.0,
            (self.low[2] + self.high[2]) / 2.0,
        )


@dataclass
class PlaceIndex:
    """Entities by category, kind and square metre, and by instance id."""

    _cells: dict[Key, dict[str, None]] = field(default_factory=dict)
    _at: dict[str, Key] = field(default_factory=dict)
    _by_instance: dict[str, str] = field(default_factory=dict)
    _containers: dict[Cell, dict[str, None]] = field(default_factory=dict)

    def put(self, entity: Entity) -> None:
        """Take in an entity, or where it is now."""
        x, y, _ = entity.position
        cell = (math.floor(x / CELL_M), math.floor(y / CELL_M))
        # The kind by its word: an enum is slow to hash.
        key = (entity.category, entity.kind.value, *cell)
        old = self._at.get(entity.id)
        if old != key:
            if old is not None:
                del self._cells[old][entity.id]
            self._cells.setdefault(key, {})[entity.id] = None
            self._at[entity.id] = key
            if entity.kind is NodeKind.CONTAINER:
                if old is not None:
                    del self._containers[old[2:]][entity.id]
                self._containers.setdefault(cell, {})[entity.id] = None
        for instance in entity.instance_ids:
            self._by_instance[instance] = entity.id

    def of_instance(self, instance_id: str) -> str | None:
        """The entity last seen under an opaque id."""
        return self._by_instance.get(instance_id)

    def containers_near(self, at: Point3) -> Iterator[str]:
        """Containers within a cell of a point, whatever their category."""
        for cell in _cells_around(at):
            yield from self._containers.get(cell, ())

    def near(self, seen: Seen) -> Iterator[str]:
        """Entities of the same category and kind within a cell of a detection, in the order of their arrival."""
        category, kind = seen.category, seen.kind.value
        for column, row in _cells_around(seen.position):
            yield from self._cells.get((category, kind, column, row), ())


def _cells_around(at: Point3) -> list[Cell]:
    column, row = math.floor(at[0] / CELL_M), math.floor(at[1] / CELL_M)
    return [(column + dx, row + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


def associate(
    seen: Sequence[Seen],
    entities: Mapping[str, Entity],
    index: PlaceIndex,
    may_have_moved: frozenset[str],
    settings: GraphSettings,
) -> list[str | None]:
    """The known entity of each detection of one view, None for a new one; no entity is given twice.

    With trusted ids an id that is known decides, and one that is not can only be an entity that never had an id.
    Without, nearest pairs come first.
    """
    matched: list[str | None] = [None] * len(seen)
    taken: set[str] = set()
    pairs: list[tuple[float, int, str]] = []
    for number, detection in enumerate(seen):
        has_id = bool(detection.instance_id) and settings.trust_ids
        if has_id:
            known = index.of_instance(detection.instance_id)
            if known is not None and _same_sort(detection, entities[known]):
                matched[number] = known
                taken.add(known)
                continue
        for name in index.near(detection):
            entity = entities[name]
            if has_id and entity.instance_ids:
                continue
            apart = _apart(detection, entity, name in may_have_moved, settings)
            if apart is not None:
                pairs.append((apart, number, name))
    pairs.sort()
    for _, number, name in pairs:
        if matched[number] is None and name not in taken:
            matched[number] = name
            taken.add(name)
    return matched


def _same_sort(seen: Seen, entity: Entity) -> bool:
    return seen.category == entity.category and seen.kind is entity.kind


def _apart(seen: Seen, entity: Entity, may_have_moved: bool, settings: GraphSettings) -> float | None:
    """Distance of the middles when the two can be the same thing, None when they cannot."""
    a, b = seen.position, entity.position
    heights = max(seen.high[2] - seen.low[2], entity.high[2] - entity.low[2])
    if abs(a[2] - b[2]) > settings.gate_z_m + settings.gate_share * heights:
        return None
    apart = math.hypot(a[0] - b[0], a[1] - b[1])
    within = True
    for axis in (0, 1):
        extent = max(seen.high[axis] - seen.low[axis], entity.high[axis] - entity.low[axis])
        within &= abs(a[axis] - b[axis]) <= settings.gate_m + settings.gate_share * extent
    if within or _overlap(seen, entity) >= settings.overlap or (may_have_moved and apart <= settings.moved_m):
        return math.dist(a, b)
    return None


def _overlap(seen: Seen, entity: Entity) -> float:
    """Shared volume over the smaller box's."""
    shared = mine = its = 1.0
    for axis in range(3):
        shared *= max(min(seen.high[axis], entity.high[axis]) - max(seen.low[axis], entity.low[axis]), 0.0)
        mine *= seen.high[axis] - seen.low[axis]
        its *= entity.high[axis] - entity.low[axis]
    smaller = min(mine, its)
    return shared / smaller if smaller > 0.0 else 0.0
