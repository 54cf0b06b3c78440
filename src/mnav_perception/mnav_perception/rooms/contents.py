"""What kind a room is, from what was seen in it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from mnav_core.sensing import DetectionFrame
from mnav_perception.rooms.records import RoomKind, RoomMap

KINDS = ("kitchen", "living room", "bedroom", "bathroom", "hallway", "dining room", "office", "laundry room")
# How sharply the prior's scores tell kinds apart: differences of a tenth are what it is sure of.
SHARPNESS = 12.0
MOST_THINGS = 5000
# Doors and windows are in every room.
NOT_CONTENTS = frozenset({"door", "window", "wall", "floor", "ceiling"})


class PlacePrior(Protocol):
    """How plausible it is to find a thing in a place, by their names; only differences mean something."""

    def score(self, thing: str, place: str) -> float:
        """Higher is more plausible."""
        ...


@dataclass(frozen=True)
class SeenThing:
    """A thing that was seen: opaque id, category, place in `map`."""

    entity_id: str
    category: str
    x: float
    y: float


@dataclass
class SeenThings:
    """Every entity once, where it was last seen from nearest; at most MOST_THINGS of them."""

    _nearest: dict[str, tuple[float, SeenThing]] = field(default_factory=dict)

    def add(self, frame: DetectionFrame) -> None:
        """Take over one detection frame."""
        for detection in frame.detections:
            away = float(np.linalg.norm(detection.center))
            known = self._nearest.get(detection.entity_id)
            is_new = known is None and len(self._nearest) < MOST_THINGS and math.isfinite(away)
            if is_new or (known is not None and away <= known[0]):
                x, y, _ = frame.camera_in_map.apply(np.asarray(detection.center, float))
                thing = SeenThing(detection.entity_id, detection.category, float(x), float(y))
                self._nearest[detection.entity_id] = (away, thing)

    @property
    def things(self) -> tuple[SeenThing, ...]:
        """What was seen, sorted by id."""
        return tuple(thing for _, (_, thing) in sorted(self._nearest.items()))


def things_in(frames: Iterable[DetectionFrame]) -> tuple[SeenThing, ...]:
    """The entities of some frames."""
    seen = SeenThings()
    for frame in frames:
        seen.add(frame)
    return seen.things


def type_rooms(rooms: RoomMap, things: Sequence[SeenThing], prior: PlacePrior, kinds: Sequence[str] = KINDS) -> RoomMap:
    """The rooms with their kinds, best first; a room in which nothing telling was seen stays unknown.

    Each category counts once a room: it votes with the prior's scores over the kinds, made shares by a softmax.
    """
    inside: dict[int, set[str]] = defaultdict(set)
    for thing in things:
        room = rooms.room_at(thing.x, thing.y)
        if room and thing.category not in NOT_CONTENTS:
            inside[room].add(thing.category)
    typed = tuple(replace(room, kinds=_kinds_of(sorted(inside[room.id]), prior, kinds)) for room in rooms.rooms)
    return replace(rooms, rooms=typed)


def _kinds_of(categories: Sequence[str], prior: PlacePrior, kinds: Sequence[str]) -> tuple[RoomKind, ...]:
    if not categories:
        return ()
    evidence = np.zeros(len(kinds))
    for category in categories:
        scores = np.array([prior.score(category, kind) for kind in kinds])
        votes = np.exp(SHARPNESS * (scores - scores.max()))
        evidence += np.log(votes / votes.sum() + 1e-3)
    # Things of one room are no independent witnesses: as many count as the square root of their number.
    evidence /= math.sqrt(len(categories))
    shares = np.exp(evidence - evidence.max())
    shares /= shares.sum()
    order = np.argsort(-shares, kind="stable")
    return tuple(RoomKind(kinds[int(k)], float(shares[k])) for k in order)
