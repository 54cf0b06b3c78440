"""Which furniture a room of each kind gets, and how the pieces stand to each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mnav_sim_bridge.house import containers, fittings, seating
from mnav_sim_bridge.house.furniture import Furniture
from mnav_sim_bridge.house.openings import WALL
from mnav_sim_bridge.house.palette import BLACK, Palette, paint, textured
from mnav_sim_bridge.house.placement import FACING, Placed, RoomFloor
from mnav_sim_bridge.house.rectangles import Rect

Rng = np.random.Generator
Recipe = Callable[[Rng, Palette, RoomFloor], None]
WICKER = textured("wicker", 190, 150, 105)
MOTIFS = ("landscape", "abstract", "portrait")


def furnish(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    """Furnish one room in place: furniture, then plants and lamps, then what hangs on the walls."""
    _RECIPES[floor.room.kind](rng, palette, floor)
    if floor.room.kind in ("living_room", "office", "dining_room", "bedroom") and rng.random() < 0.6:
        pot = (paint(196, 120, 84), paint(232, 230, 226), paint(92, 98, 106))[int(rng.integers(3))]
        floor.against_wall(rng, fittings.floor_plant(float(rng.uniform(0.9, 1.5)), pot), corner=0.85)
    _hang_pictures(rng, palette, floor)


def _hang_pictures(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    count = {"living_room": 3, "bedroom": 2, "hallway": 2, "dining_room": 2, "office": 2}.get(floor.room.kind, 1)
    for _ in range(count):
        width = float(rng.uniform(0.4, 0.9))
        piece = fittings.picture(
            width,
            float(rng.uniform(0.35, 0.6)),
            MOTIFS[int(rng.integers(3))],
            (BLACK, palette.wood, palette.trim)[int(rng.integers(3))],
        )
        spot = floor.free_wall(rng, width + 0.1, tall_only=1.25)
        if spot is not None and not _hits_hung(floor, hung(floor, piece, *spot)):
            floor.lying.append(hung(floor, piece, *spot))


def hung(floor: RoomFloor, piece: Furniture, wall: str, along: float) -> Placed:
    """A flat piece on a wall."""
    r = floor.room.rect.grown(-WALL / 2)
    x, y = {"south": (along, r.y0), "north": (along, r.y1), "west": (r.x0, along), "east": (r.x1, along)}[wall]
    shift = 0.016
    dx, dy = {"south": (0, shift), "north": (0, -shift), "west": (shift, 0), "east": (-shift, 0)}[wall]
    return Placed(piece, x + dx, y + dy, FACING[wall], wall)


def _hits_hung(floor: RoomFloor, item: Placed) -> bool:
    return any(
        o.furniture.category != "rug" and o.rect(o.furniture.footprint).overlaps(item.footprint, 0.15)
        for o in floor.lying
    )


def _kitchen(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    right = bool(rng.random() < 0.5)
    fridge = containers.fridge(palette.fridge, right, bool(rng.random() < 0.7), float(rng.uniform(1.6, 1.8)))
    cab, top = palette.cabinet, palette.counter_top
    stove = (fittings.stove(True), fittings.stove(False))
    sink = (fittings.sink_counter(0.9, cab, top, "counter"),)
    double = (containers.cupboard((0.6, 0.8, 0.9), cab, cab, top, 2, "counter"),)
    single = (containers.cupboard((0.6, 0.5, 0.9), cab, cab, top, 1, "counter"), fittings.counter(0.5, cab, top))
    drawers = (containers.drawer_unit((0.6, 0.6, 0.9), cab, cab, top, 3, 1, "counter", "counter"),)
    middle = [double, sink, drawers, stove]
    order = [middle[int(i)] for i in rng.permutation(4)]
    floor.row(rng, [(fridge,), *order, single])
    # What one wall did not take goes to another, the things that make a kitchen first.
    for category, needed in (("fridge", (fridge,)), ("stove", stove), ("sink", sink)):
        if not any(p.furniture.category == category for p in floor.placed):
            floor.row(rng, [needed, single])
    if not any(p.furniture.parts and p.furniture.category != "fridge" for p in floor.placed):
        floor.row(rng, [drawers, double])
    if not any(r.rooms and _is_dining(floor, i) for r in floor.passages for i in r.rooms):
        _table_with_chairs(rng, palette, floor, seats=int(rng.integers(2, 5)), small=True)


def _is_dining(floor: RoomFloor, index: int) -> bool:
    return floor.rooms[index].kind == "dining_room"


def _table_with_chairs(rng: Rng, palette: Palette, floor: RoomFloor, seats: int, small: bool) -> None:
    """A table and as many chairs as fit around it, pushed halfway under."""
    sizes = ((1.1, 0.75), (1.0, 0.7), (0.8, 0.7)) if small else ((1.8, 0.9), (1.5, 0.85), (1.2, 0.8))
    for length, width in sizes:
        table = seating.table(length, width, 0.75, palette.wood, "dining_table")
        item = floor.free_standing(rng, table, 40, 0.7)
        if item is None and small:
            item = floor.against_wall(rng, table, 20, 0.3)
        if item is None:
            continue
        slots = [
            (s * (width / 2 + 0.1), y, 2 if s > 0 else 0)
            for y in ((-length / 4, length / 4) if length > 1.05 else (0.0,))
            for s in (1, -1)
        ]
        slots += [(0.0, length / 2 + 0.1, 3), (0.0, -length / 2 - 0.1, 1)]
        for x, y, quarter in slots[:seats]:
            _tuck_chair(palette, floor, item, x, y, quarter)
        return


def _tuck_chair(palette: Palette, floor: RoomFloor, table: Placed, x: float, y: float, quarter: int) -> None:
    """A chair facing the table at a slot of the table's frame; its seat may reach under the top."""
    px, py = table.point(x, y)
    chair = Placed(seating.chair(palette.wood, palette.fabric_2), px, py, (table.quarter + quarter) % 4)
    floor.placed.remove(table)
    try:
        if floor.fits(chair):
            floor.placed.append(chair)
    finally:
        floor.placed.append(table)


def _living_room(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    long_side = max(floor.interior.width, floor.interior.depth)
    sofa = None
    for seats in (3, 2) if long_side > 4.2 else (2,):
        sofa = floor.against_wall(rng, seating.sofa(seats, palette.fabric, palette.fabric_2), 30, 0.15)
        if sofa is not None:
            break
    if sofa is not None:
        table = seating.table(1.0, 0.55, 0.42, palette.wood_dark, "coffee_table", "coffee_table")
        placed = _coffee_table(floor, sofa, table)
        rug_at = placed or sofa
        _lay_rug(floor, palette, rug_at, 2.2, 1.6)
        opposite = {"south": "north", "north": "south", "east": "west", "west": "east"}[sofa.wall or "south"]
        stand = fittings.tv_stand(float(rng.uniform(1.3, 1.7)), palette.wood)
        if floor.against_wall(rng, stand, 30, 0.1, (opposite,)) is None:
            floor.against_wall(rng, stand, 20, 0.3)
        side = seating.round_table(0.22, 0.5, palette.wood, "side_table", "side_table")
        floor.beside(sofa, side, bool(rng.random() < 0.5))
    else:
        floor.against_wall(rng, fittings.tv_stand(1.3, palette.wood), 20, 0.3)
    floor.against_wall(rng, seating.armchair(palette.fabric_2, palette.wood_dark), 20, 0.7)
    _bookshelf(rng, palette, floor)
    if rng.random() < 0.5:
        floor.against_wall(
            rng,
            containers.drawer_unit(
                (0.42, 1.0, 0.78), palette.wood, palette.wood, palette.wood_dark, 2, 2, "console", "sideboard"
            ),
            20,
            0.4,
        )
    if not any(r.kind == "dining_room" for r in floor.rooms) and floor.room.rect.area > 17:
        _table_with_chairs(rng, palette, floor, 4, small=False)
    if rng.random() < 0.7:
        floor.against_wall(rng, fittings.floor_lamp(paint(240, 228, 200)), 15, 0.9)


def _coffee_table(floor: RoomFloor, sofa: Placed, table: Furniture) -> Placed | None:
    """A low table before the sofa; it may stand in the sofa's access zone."""
    floor.placed.remove(sofa)
    try:
        f = sofa.furniture.footprint
        x, y = sofa.point(f.x1 + 0.36 + table.footprint.width / 2, 0.0)
        return floor.at(table, x, y, sofa.quarter)
    finally:
        floor.placed.append(sofa)


def _lay_rug(floor: RoomFloor, palette: Palette, near: Placed, length: float, width: float) -> None:
    rug = Placed(fittings.rug(length, width, palette.rug), near.x, near.y, near.quarter)
    if near.wall is not None:
        rug = Placed(rug.furniture, *near.point(near.furniture.footprint.x1 + width / 2 - 0.2, 0.0), near.quarter)
    swings = [
        z for p, z in zip((p for p in floor.passages if floor.index in p.rooms), floor.zones(), strict=True) if p.leaf
    ]
    inside = floor.interior.grown(-0.05)
    foot = rug.rect(Rect(-width / 2, -length / 2, width / 2, length / 2))
    if inside.holds(foot) and not any(z.overlaps(foot) for z in swings):
        floor.lying.append(rug)


def _bookshelf(rng: Rng, palette: Palette, floor: RoomFloor, tries: int = 24) -> Placed | None:
    levels = int(rng.integers(4, 6))
    books = tuple(bool(rng.random() < 0.55) for _ in range(levels))
    piece = fittings.bookshelf(float(rng.uniform(0.8, 1.1)), float(rng.uniform(1.5, 1.9)), palette.wood, books)
    return floor.against_wall(rng, piece, tries, 0.5)


def _dining_room(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    _table_with_chairs(rng, palette, floor, 6, small=False)
    sideboard = containers.cupboard(
        (0.42, 1.1, 0.84), palette.wood, palette.wood, palette.wood_dark, 2, "console", 1, "sideboard"
    )
    floor.against_wall(rng, sideboard, 30, 0.3)
    if rng.random() < 0.5:
        _bookshelf(rng, palette, floor, 12)


def _bedroom(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    bed = None
    for width in (1.6, 1.4, 0.95) if floor.room.rect.area > 11 else (1.4, 0.95):
        piece = seating.bed(width, palette.wood_dark, palette.bedding, palette.fabric, paint(244, 242, 238))
        bed = floor.against_wall(rng, piece, 40, 0.25)
        if bed is not None:
            break
    if bed is not None:
        for left in (True, False):
            stand = containers.drawer_unit(
                (0.4, 0.46, 0.55), palette.wood, palette.wood, palette.wood_dark, 2, 1, "nightstand", "nightstand"
            )
            floor.beside(bed, stand, left)
    wardrobe = containers.cupboard(
        (0.58, 1.0, 1.95), palette.wood, palette.wood, palette.wood, 2, "high", 2, "wardrobe", 0.08, "high"
    )
    floor.against_wall(rng, wardrobe, 40, 0.7)
    if rng.random() < 0.75:
        dresser = containers.drawer_unit(
            (0.46, 0.9, 0.84), palette.wood, palette.wood, palette.wood_dark, 3, 2, "dresser_top"
        )
        floor.against_wall(rng, dresser, 25, 0.4)
    if rng.random() < 0.5:
        _desk(rng, palette, floor)
    if bed is not None and rng.random() < 0.6:
        _lay_rug(floor, palette, bed, 1.6, 1.1)


def _desk(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    desk = floor.against_wall(rng, seating.desk(float(rng.uniform(1.1, 1.4)), palette.wood, BLACK), 30, 0.4)
    if desk is not None:
        x, y = desk.point(desk.furniture.footprint.x1 + 0.12, 0.0)
        chair = Placed(seating.office_chair(palette.fabric_2), x, y, (desk.quarter + 2) % 4)
        floor.placed.remove(desk)
        try:
            if floor.fits(chair):
                floor.placed.append(chair)
        finally:
            floor.placed.append(desk)


def _bathroom(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    floor.against_wall(rng, fittings.bathtub(1.6 if floor.interior.short_side < 2.8 else 1.7), 60, 0.9)
    basin = fittings.sink_counter(0.9, palette.cabinet, palette.counter_top, "basin", depth=0.5)
    item = floor.against_wall(rng, basin, 40, 0.4)
    floor.against_wall(rng, fittings.toilet(), 40, 0.5)
    if item is not None and item.wall is not None:
        along = item.x if item.wall in ("south", "north") else item.y
        mirror = hung(floor, fittings.mirror(), item.wall, along)
        if floor._wall_is_free(item.wall, along - 0.33, along + 0.33, 1.3):
            floor.lying.append(mirror)
    if rng.random() < 0.7:
        cabinet = containers.cupboard(
            (0.36, 0.5, 0.85), palette.cabinet, palette.cabinet, palette.counter_top, 1, "basin", 1
        )
        floor.against_wall(rng, cabinet, 25, 0.6)
    if rng.random() < 0.4:
        floor.against_wall(rng, fittings.laundry_basket(WICKER), 12, 0.9)
    _mat(rng, palette, floor)


def _mat(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    tubs = [p for p in floor.placed if p.furniture.category in ("bathtub", "sink")]
    if tubs:
        item = tubs[0]
        x, y = item.point(item.furniture.footprint.x1 + 0.32, 0.0)
        floor.lying.append(Placed(fittings.rug(0.8, 0.5, palette.fabric_2), x, y, item.quarter))


def _office(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    _desk(rng, palette, floor)
    _bookshelf(rng, palette, floor)
    unit = containers.drawer_unit(
        (0.5, 0.45, 0.62), palette.wood, palette.wood, palette.wood_dark, 3, 1, "side_table", "filing_cabinet"
    )
    floor.against_wall(rng, unit, 25, 0.5)
    if rng.random() < 0.5:
        floor.against_wall(rng, seating.armchair(palette.fabric, palette.wood_dark), 20, 0.7)


def _laundry(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    cab, top = palette.cabinet, palette.counter_top
    cupboard = containers.cupboard((0.58, 0.7, 0.9), cab, cab, top, 2, "counter")
    floor.row(rng, [(fittings.washing_machine(),), (fittings.counter(0.7, cab, top),), (cupboard,)])
    floor.against_wall(rng, fittings.laundry_basket(WICKER), 20, 0.9)
    if rng.random() < 0.6:
        floor.against_wall(rng, fittings.shoe_bench(palette.wood, palette.fabric), 15, 0.5)


def _hallway(rng: Rng, palette: Palette, floor: RoomFloor) -> None:
    floor.against_wall(rng, fittings.shoe_bench(palette.wood, palette.fabric), 30, 0.6)
    if rng.random() < 0.6:
        console = seating.table(0.9, 0.32, 0.8, palette.wood, "console", "console_table")
        floor.against_wall(rng, console, 30, 0.4)
    spot = floor.free_wall(rng, 0.9, 1.2)
    if spot is not None and rng.random() < 0.6:
        floor.lying.append(hung(floor, fittings.coat_rack(palette.wood, palette.fabric_2), *spot))


_RECIPES: dict[str, Recipe] = {
    "kitchen": _kitchen,
    "living_room": _living_room,
    "dining_room": _dining_room,
    "bedroom": _bedroom,
    "bathroom": _bathroom,
    "office": _office,
    "laundry": _laundry,
    "hallway": _hallway,
}
