"""Articulated furniture: fridges, cupboards and drawer units, whose contents are held by what moves."""

from __future__ import annotations

from dataclasses import dataclass

from mnav_sim_bridge.house.furniture import ContainerPart, Furniture, Motion, MovingPart, Surface
from mnav_sim_bridge.house.palette import CHROME, STEEL, WHITE
from mnav_sim_bridge.house.rectangles import Rect
from mnav_sim_bridge.house.shapes import Finish, Shape, Vector, box, standing_box

BOARD = 0.02
LEAF = 0.022
GAP = 0.003
# A leaf hung beside a wall stops when its handle meets the wall: this much room lets it reach a right angle.
LEAF_GAP = 0.05
LEAF_TRAVEL = 1.65


@dataclass(frozen=True)
class Carcass:
    """An open-fronted case: full extents (front along +x), height of its floor, finish."""

    size: Vector
    z0: float
    finish: Finish
    top: bool = True

    @property
    def back(self) -> float:
        """x of the rear plane."""
        return -self.size[0] / 2

    @property
    def front(self) -> float:
        """x of the open front."""
        return self.size[0] / 2

    def shapes(self) -> list[Shape]:
        """Back, sides, bottom and top boards, and a plinth when raised."""
        d, w, h = self.size
        z = self.z0
        made = [
            standing_box((BOARD, w, h), self.back + BOARD / 2, 0, z, self.finish),
            standing_box((d, BOARD, h), 0, w / 2 - BOARD / 2, z, self.finish),
            standing_box((d, BOARD, h), 0, -w / 2 + BOARD / 2, z, self.finish),
            standing_box((d, w, BOARD), 0, 0, z, self.finish),
        ]
        if self.top:
            made.append(standing_box((d, w, BOARD), 0, 0, z + h - BOARD, self.finish))
        if z > 0.01:
            made.append(standing_box((d - 0.06, w, z), -0.03, 0, 0, self.finish))
        return made

    def inside(self, z0: float, z1: float, y0: float, y1: float) -> tuple[Vector, Vector]:
        """The interior volume between two heights and two sides."""
        return (self.back + BOARD, y0, z0), (self.front, y1, z1)


def hinged_leaf(
    name: str, front: float, y0: float, y1: float, z0: float, z1: float, right_hung: bool, finish: Finish,
    mass: float = 3.0, handle_z: float | None = None,
) -> MovingPart:  # fmt: skip
    """A leaf before y0..y1 and z0..z1, hung on its right (-y) or left (+y) edge, opening forwards."""
    w, h = y1 - y0 - 2 * GAP, z1 - z0 - 2 * GAP
    side = 1.0 if right_hung else -1.0
    hinge_y = y0 if right_hung else y1
    middle = (z0 + z1) / 2
    hz = (middle if handle_z is None else handle_z) - middle
    # The hinge line runs along the outer edge, so that no corner of the leaf turns into what stands beside it.
    handle = (0.03, side * (w - 0.035), hz)
    shapes = (
        box((LEAF, w, h), (-LEAF / 2, side * (w / 2 + GAP), 0), finish),
        box((0.012, 0.014, min(0.32, h * 0.4)), handle, CHROME),
        box((0.03, 0.012, 0.012), (0.015, handle[1], hz + min(0.12, h * 0.15)), CHROME, solid=False),
        box((0.03, 0.012, 0.012), (0.015, handle[1], hz - min(0.12, h * 0.15)), CHROME, solid=False),
    )
    # Hung on the right, the free edge is at +y and swings towards +x by a negative turn about z.
    pos = (front + LEAF + 0.002, hinge_y, middle)
    return MovingPart(name, Motion.HINGE, pos, (0, 0, -side), LEAF_TRAVEL, shapes, handle, mass)


def drawer(
    name: str, carcass: Carcass, y0: float, y1: float, z0: float, z1: float, finish: Finish, travel_share: float = 0.8
) -> MovingPart:
    """A drawer with a front panel and an open tray; its frame sits at the front plane in the middle of the panel."""
    depth = carcass.size[0] - BOARD - 0.03
    w, h = y1 - y0, z1 - z0
    tray_w, wall = w - 0.05, min(0.14, h - 0.05)
    floor_z = -h / 2 + 0.02
    middle = -depth / 2 - 0.005
    shapes = (
        box((LEAF, w - 2 * GAP, h - 2 * GAP), (LEAF / 2 + 0.002, 0, 0), finish),
        box((0.012, min(0.24, w * 0.4), 0.014), (LEAF + 0.03, 0, 0), CHROME),
        box((0.03, 0.012, 0.012), (LEAF + 0.015, min(0.1, w * 0.15), 0), CHROME, solid=False),
        box((0.03, 0.012, 0.012), (LEAF + 0.015, -min(0.1, w * 0.15), 0), CHROME, solid=False),
        box((depth, tray_w, 0.01), (middle, 0, floor_z), WHITE),
        box((depth, 0.01, wall), (middle, tray_w / 2, floor_z + wall / 2), WHITE),
        box((depth, 0.01, wall), (middle, -tray_w / 2, floor_z + wall / 2), WHITE),
        box((0.01, tray_w, wall), (-depth, 0, floor_z + wall / 2), WHITE),
    )
    travel = depth * travel_share
    # Things lie in the front part of the tray, which is what comes out from under the top.
    bed = Rect(-depth * travel_share + 0.05, -tray_w / 2 + 0.015, -0.03, tray_w / 2 - 0.015)
    surface = Surface("drawer", bed, floor_z + 0.005, h - 0.06)
    pos = (carcass.front, (y0 + y1) / 2, (z0 + z1) / 2)
    return MovingPart(name, Motion.SLIDE, pos, (1, 0, 0), travel, shapes, (LEAF + 0.03, 0, 0), 2.5, surface)


def drawer_interior(part: MovingPart) -> tuple[Vector, Vector]:
    """The volume above a drawer's tray, up to what the case leaves free, in the drawer's own frame."""
    tray = part.shapes[4]
    headroom = part.surface.headroom if part.surface is not None else 0.1
    low = (tray.pos[0] - tray.half[0], -tray.half[1], tray.pos[2])
    return low, (tray.pos[0] + tray.half[0], tray.half[1], tray.pos[2] + tray.half[2] + headroom)


def fridge(finish: Finish, right_hung: bool, double: bool, height: float = 1.75, width: float = 0.68) -> Furniture:
    """A fridge with three shelves behind one tall door, above a freezer compartment with its own leaf when `double`."""
    depth = 0.64
    case = Carcass((depth, width, height - 0.05), 0.05, finish)
    split = 0.62 if double else 0.05
    shapes = case.shapes()
    shapes.append(standing_box((depth, width, BOARD), 0, 0, split - BOARD / 2, finish))
    shapes.append(
        box(
            (0.004, width - 0.06, height - split - 0.08),
            (case.back + BOARD + 0.004, 0, (split + height) / 2),
            WHITE,
            solid=False,
        )
    )
    levels = [split + 0.012] + [split + (height - split) * k / 3.4 for k in (1, 2)]
    inner = Rect(case.back + 0.06, -width / 2 + 0.05, case.front - 0.06, width / 2 - 0.05)
    shelf_depth = depth - 0.08
    for z in levels[1:]:
        shapes.append(standing_box((shelf_depth, width - 0.05, 0.01), -0.02, 0, z, WHITE))
    head = (height - split) / 3.4 - 0.05
    surfaces = tuple(Surface("fridge", inner, z + 0.011, head) for z in levels)
    main = hinged_leaf("door", case.front, -width / 2, width / 2, split, height, right_hung, finish, 8.0, split + 0.45)
    parts, containers = [main], []
    main_in = case.inside(split, height - BOARD, -width / 2 + BOARD, width / 2 - BOARD)
    if double:
        lower = hinged_leaf("freezer", case.front, -width / 2, width / 2, 0.05, split, right_hung, finish, 5.0)
        parts.append(lower)
    containers.append(ContainerPart("fridge", tuple(p.name for p in parts), main_in, surfaces))
    shapes.append(box((0.02, width * 0.3, 0.03), (case.front - 0.01, 0, 0.025), STEEL, solid=False))
    top = Surface("high", Rect(case.back + 0.05, -width / 2 + 0.05, case.front - 0.05, width / 2 - 0.05), height, 0.5)
    return Furniture(
        "fridge", tuple(shapes), (top,), tuple(parts), tuple(containers), 1.1, width * 0.98, LEAF_GAP, target=False
    )


def cupboard(
    size: Vector, finish: Finish, leaf_finish: Finish, top_finish: Finish, leaves: int, tag: str, shelves: int = 1,
    category: str = "cabinet", z0: float = 0.08, top_tag: str | None = None,
) -> Furniture:  # fmt: skip
    """A cabinet with one or two hinged leaves, `shelves` inner shelves and a top that carries things."""
    depth, width, height = size
    case = Carcass((depth, width, height - z0 - 0.02), z0, finish)
    shapes = case.shapes()
    shapes.append(standing_box((depth + 0.02, width, 0.02), 0.01, 0, height - 0.02, top_finish))
    step = (height - z0 - 0.04) / (shelves + 1)
    levels = [z0 + BOARD + 0.001] + [z0 + step * (k + 1) for k in range(shelves)]
    for z in levels[1:]:
        shapes.append(standing_box((depth - 0.06, width - 0.045, 0.015), -0.02, 0, z - 0.015, finish))
    inner = Rect(case.back + 0.05, -width / 2 + 0.05, case.front - 0.06, width / 2 - 0.05)
    surfaces = tuple(Surface("cabinet", inner, z + 0.001, step - 0.06) for z in levels)
    z1 = height - 0.02
    if leaves == 2:
        parts: tuple[MovingPart, ...] = (
            hinged_leaf("leaf_r", case.front, -width / 2, 0, z0, z1, True, leaf_finish),
            hinged_leaf("leaf_l", case.front, 0, width / 2, z0, z1, False, leaf_finish),
        )
        reach = width / 2
    else:
        parts = (hinged_leaf("leaf", case.front, -width / 2, width / 2, z0, z1, True, leaf_finish),)
        reach = width
    interior = case.inside(z0 + BOARD, z1, -width / 2 + BOARD, width / 2 - BOARD)
    container = ContainerPart("cabinet", tuple(p.name for p in parts), interior, surfaces)
    top = Surface(
        top_tag or tag, Rect(case.back + 0.04, -width / 2 + 0.04, case.front - 0.02, width / 2 - 0.04), height, 0.5
    )
    return Furniture(category, tuple(shapes), (top,), parts, (container,), 1.0, reach + 0.04, LEAF_GAP, target=False)


def drawer_unit(
    size: Vector, finish: Finish, front: Finish, top_finish: Finish, rows: int, columns: int, tag: str,
    category: str = "dresser", z0: float = 0.08,
) -> Furniture:  # fmt: skip
    """A unit of `rows` x `columns` drawers under a top that carries things."""
    depth, width, height = size
    case = Carcass((depth, width, height - z0 - 0.02), z0, finish, top=False)
    shapes = case.shapes()
    shapes.append(standing_box((depth + 0.02, width, 0.02), 0.01, 0, height - 0.02, top_finish))
    parts, containers = [], []
    z1 = height - 0.025
    inner_z0 = z0 + BOARD
    for column in range(columns):
        y0 = -width / 2 + width * column / columns
        y1 = y0 + width / columns
        if column:
            shapes.append(standing_box((depth - 0.01, BOARD / 2, z1 - z0), -0.005, y0, z0, finish))
        for row in range(rows):
            low = inner_z0 + (z1 - inner_z0) * row / rows
            high = inner_z0 + (z1 - inner_z0) * (row + 1) / rows
            part = drawer(f"drawer_{column}{row}", case, y0 + 0.006, y1 - 0.006, low, high, front)
            parts.append(part)
            containers.append(ContainerPart("drawer", (part.name,), drawer_interior(part)))
    top = Surface(tag, Rect(case.back + 0.04, -width / 2 + 0.04, case.front - 0.02, width / 2 - 0.04), height, 0.6)
    reach = max(p.travel for p in parts) + 0.06
    return Furniture(
        category, tuple(shapes), (top,), tuple(parts), tuple(containers), reach + 0.75, reach, 0.0, target=False
    )
