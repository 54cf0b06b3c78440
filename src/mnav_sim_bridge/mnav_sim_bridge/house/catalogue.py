"""Which small things exist, whether they can be a target, and where people keep them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mnav_sim_bridge.house import belongings, kitchenware
from mnav_sim_bridge.house.shapes import Shape

Builder = Callable[[np.random.Generator], tuple[Shape, ...]]


@dataclass(frozen=True)
class ObjectKind:
    """One category: how it is built, which room kinds have it, which surface tags carry it, what may contain it."""

    category: str
    build: Builder
    rooms: tuple[str, ...]
    surfaces: tuple[str, ...]
    inside: tuple[str, ...] = ()
    target: bool = True
    weight: float = 1.0


_KITCHEN = ("kitchen", "dining_room")
_LIVING = ("living_room", "office", "bedroom")
_WET = ("bathroom", "laundry")
_ALL = ("kitchen", "dining_room", "living_room", "office", "bedroom", "hallway", "laundry", "bathroom")
_EAT = ("dining_table", "counter", "coffee_table")
_TOPS = ("dining_table", "coffee_table", "shelf", "console", "dresser_top", "side_table")
_DRY = ("desk", "shelf", "coffee_table", "nightstand", "dresser_top", "tv_stand", "side_table", "console")
_LOW = ("coffee_table", "dining_table", "sofa", "console", "bench")
_WORK = ("desk", "dining_table", "coffee_table", "bed")
_REST = ("coffee_table", "sofa", "tv_stand", "nightstand", "bed")
_FLOOR = ("floor",)


@dataclass(frozen=True)
class _Row:
    category: str
    rooms: tuple[str, ...]
    surfaces: tuple[str, ...]
    inside: tuple[str, ...] = ()
    weight: float = 1.0


_ROWS = (
    _Row("egg", _KITCHEN, _EAT, ("fridge",)),
    _Row("tomato", _KITCHEN, _EAT, ("fridge",)),
    _Row("apple", (*_KITCHEN, "living_room"), _EAT, ("fridge",)),
    _Row("lettuce", _KITCHEN, _EAT, ("fridge",)),
    _Row("potato", _KITCHEN, _EAT, ("fridge", "drawer")),
    _Row("banana", (*_KITCHEN, "living_room"), _EAT),
    _Row("bread", _KITCHEN, _EAT, ("cabinet",)),
    _Row("plate", _KITCHEN, _EAT, ("cabinet",)),
    _Row("bowl", (*_KITCHEN, "living_room"), _EAT, ("cabinet",)),
    _Row("mug", (*_KITCHEN, *_LIVING), (*_EAT, "desk", "nightstand", "side_table"), ("cabinet",), 1.3),
    _Row("cup", (*_KITCHEN, *_LIVING), (*_EAT, "desk", "console"), ("cabinet",)),
    _Row("wine_glass", (*_KITCHEN, "living_room"), _EAT, ("cabinet",), 0.6),
    _Row("bottle", (*_KITCHEN, "living_room"), (*_EAT, "side_table"), ("fridge", "cabinet")),
    _Row("kettle", ("kitchen",), ("counter", "stove")),
    _Row("pot", ("kitchen",), ("stove", "counter"), ("cabinet",)),
    _Row("pan", ("kitchen",), ("stove", "counter"), ("cabinet",)),
    _Row("fork", _KITCHEN, _EAT, ("drawer",)),
    _Row("spoon", _KITCHEN, _EAT, ("drawer",)),
    _Row("toaster", ("kitchen",), ("counter",)),
    _Row("cereal_box", _KITCHEN, ("counter", "dining_table"), ("cabinet",)),
    _Row("milk", _KITCHEN, _EAT, ("fridge",)),
    _Row("book", (*_LIVING, "hallway"), (*_DRY, "sofa", "bed"), ("drawer",), 1.4),
    _Row("newspaper", ("living_room", "dining_room", "hallway", "office"), _LOW),
    _Row("laptop", ("living_room", "office", "bedroom", "dining_room"), _WORK, (), 1.2),
    _Row("remote_control", ("living_room", "bedroom"), _REST, ("drawer",)),
    _Row("cell_phone", _LIVING, (*_DRY, "bed", "sofa"), ("drawer",)),
    _Row("pillow", ("living_room", "bedroom"), ("sofa", "bed")),
    _Row("vase", ("living_room", "dining_room", "hallway", "bedroom"), _TOPS),
    _Row("candle", ("living_room", "dining_room", "bedroom", "bathroom"), (*_TOPS, "basin")),
    _Row("desk_lamp", ("office", "bedroom", "living_room"), ("desk", "dresser_top")),
    _Row("table_lamp", ("bedroom", "living_room", "hallway"), ("nightstand", "side_table", "console", "dresser_top")),
    _Row("alarm_clock", ("bedroom", "office"), ("nightstand", "dresser_top", "desk", "shelf"), ("drawer",)),
    _Row("soap_bottle", ("bathroom", "kitchen", "laundry"), ("basin", "counter"), ("cabinet",), 1.5),
    _Row("tissue_box", (*_LIVING, "bathroom"), (*_DRY, "basin", "cistern")),
    _Row("toilet_paper", ("bathroom",), ("basin", "cistern"), ("cabinet",), 1.2),
    _Row("towel", _WET, ("basin", "counter", "bench"), ("cabinet",), 1.2),
    _Row("toy_car", ("bedroom", "living_room"), (*_FLOOR, "shelf", "bed", "coffee_table"), ("drawer",)),
    _Row("teddy_bear", ("bedroom", "living_room"), ("bed", "sofa", "shelf", "floor")),
    _Row("basketball", ("bedroom", "hallway", "living_room", "laundry"), _FLOOR, (), 1.2),
    _Row("hat", ("hallway", "bedroom", "living_room"), ("bench", "bed", "console", "dresser_top", "sofa")),
    _Row("shoe", ("hallway", "bedroom", "laundry"), ("shoe_shelf", "floor"), (), 1.3),
    _Row("backpack", ("hallway", "bedroom", "office"), ("floor", "bench"), (), 1.1),
    _Row("tennis_racket", ("hallway", "bedroom", "laundry"), ("bench", "bed", "floor")),
    _Row("cardboard_box", ("hallway", "office", "laundry", "living_room"), _FLOOR),
    _Row("watering_can", ("living_room", "laundry", "hallway", "dining_room"), ("floor", "console", "counter")),
)  # fmt: skip
_DISTRACTORS = (
    _Row("plant_pot", _ALL, (*_DRY, "basin", "counter", "dining_table"), (), 0.8),
    _Row("picture_frame", _LIVING, ("shelf", "dresser_top", "side_table", "console", "desk"), (), 0.8),
    _Row("waste_bin", ("bathroom", "office", "kitchen", "bedroom"), _FLOOR, (), 0.8),
)


def object_kinds() -> dict[str, ObjectKind]:
    """Every category by name: targets, then distractors."""
    kinds = {}
    for rows, target in ((_ROWS, True), (_DISTRACTORS, False)):
        for row in rows:
            builder: Builder = getattr(kitchenware, row.category, None) or getattr(belongings, row.category)
            kinds[row.category] = ObjectKind(
                row.category, builder, row.rooms, row.surfaces, row.inside, target, row.weight
            )
    return kinds


def target_categories() -> tuple[str, ...]:
    """The categories that an episode may ask for, sorted."""
    return tuple(sorted(kind.category for kind in object_kinds().values() if kind.target))
