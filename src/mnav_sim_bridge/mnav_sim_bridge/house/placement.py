"""Putting furniture into one room without blocking doors, leaves, drawers or the way through."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import ndimage

from mnav_sim_bridge.house.floorplan import PlannedRoom
from mnav_sim_bridge.house.furniture import Furniture
from mnav_sim_bridge.house.openings import WALL, Passage, Window
from mnav_sim_bridge.house.rectangles import Rect, placed_rect, turned

Rng = np.random.Generator
WALL_GAP = 0.02
ROW_GAP = 0.06
# Half-width that every way through a room must have, so that a 0.70 m x 0.50 m base can drive and turn there.
WAY_RADIUS = 0.38
GRID = 0.1
# Which way a piece faces when its back is to a wall, in quarter turns.
FACING = {"south": 1, "east": 2, "north": 3, "west": 0}


@dataclass(frozen=True)
class Placed:
    """A piece of furniture standing at (x, y), turned by `quarter` * 90 degrees."""

    furniture: Furniture
    x: float
    y: float
    quarter: int
    wall: str | None = None

    def rect(self, local: Rect) -> Rect:
        """A rectangle of the furniture's frame, in the map."""
        return placed_rect(self.x, self.y, self.quarter, local)

    @property
    def footprint(self) -> Rect:
        """The floor below the piece."""
        return self.rect(self.furniture.footprint)

    @property
    def yaw(self) -> float:
        """Heading of the front, radians."""
        return self.quarter * math.pi / 2

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the furniture's frame, in the map."""
        dx, dy = turned(x, y, self.quarter)
        return self.x + dx, self.y + dy


@dataclass
class RoomFloor:
    """The floor of one room while it is being furnished."""

    index: int
    rooms: tuple[PlannedRoom, ...]
    passages: tuple[Passage, ...]
    windows: tuple[Window, ...]
    placed: list[Placed] = field(default_factory=list)
    lying: list[Placed] = field(default_factory=list)

    @property
    def room(self) -> PlannedRoom:
        """The room."""
        return self.rooms[self.index]

    @property
    def interior(self) -> Rect:
        """The floor between the walls."""
        return self.room.rect.grown(-WALL / 2)

    def zones(self) -> list[Rect]:
        """What must stay free in front of doors and archways."""
        return [p.clear_zone(self.rooms, self.index) for p in self.passages if self.index in p.rooms]

    def fits(self, candidate: Placed) -> bool:
        """True when the piece stands inside, blocks nothing that moves or passes, and leaves the way through."""
        foot, interior = candidate.footprint, self.interior
        if not interior.holds(foot):
            return False
        for zone in self.zones():
            if zone.overlaps(foot):
                return False
        motion = self._zone_of(candidate, candidate.furniture.motion_rect)
        access = self._zone_of(candidate, candidate.furniture.access_rect)
        if motion and (not interior.holds(motion) or any(z.overlaps(motion) for z in self.zones())):
            return False
        if candidate.furniture.side_gap > 0 and self._hugs_side_wall(candidate):
            return False
        if access and not interior.grown(0.05).holds(access):
            return False
        for other in self.placed:
            other_motion = self._zone_of(other, other.furniture.motion_rect)
            other_access = self._zone_of(other, other.furniture.access_rect)
            in_row = candidate.wall is not None and candidate.wall == other.wall
            if foot.overlaps(other.footprint, 0.002 if in_row else 0.015):
                return False
            if motion and (
                motion.overlaps(other.footprint)
                or (other_motion and self._face(candidate, other, motion, other_motion))
            ):
                return False
            if access and access.overlaps(other.footprint):
                return False
            if (other_motion and other_motion.overlaps(foot)) or (other_access and other_access.overlaps(foot)):
                return False
        if candidate.furniture.height > 1.0 and candidate.wall and self._hides_window(candidate):
            return False
        return self.leaves_way(candidate)

    def _hugs_side_wall(self, item: Placed) -> bool:
        """True when a side, not the back, is closer to a wall than its leaves allow."""
        foot, gap = item.footprint, item.furniture.side_gap
        sideways = Rect(foot.x0, foot.y0 - gap, foot.x1, foot.y1 + gap)
        if item.quarter % 2:
            sideways = Rect(foot.x0 - gap, foot.y0, foot.x1 + gap, foot.y1)
        return not self.interior.holds(sideways)

    @staticmethod
    def _zone_of(item: Placed, local: Rect | None) -> Rect | None:
        return item.rect(local) if local is not None else None

    @staticmethod
    def _face(a: Placed, b: Placed, motion: Rect, other: Rect) -> bool:
        """True when the moving parts of two pieces could meet; neighbours in one row move past each other."""
        return a.quarter != b.quarter and motion.overlaps(other)

    def _hides_window(self, item: Placed) -> bool:
        for window in self.windows:
            if window.room != self.index:
                continue
            foot = item.footprint
            across = (foot.y0, foot.y1) if window.edge.axis == "x" else (foot.x0, foot.x1)
            along = (foot.x0, foot.x1) if window.edge.axis == "x" else (foot.y0, foot.y1)
            near = min(abs(v - window.edge.at) for v in across) < 0.5
            if near and along[0] < window.along + window.width / 2 and along[1] > window.along - window.width / 2:
                return True
        return False

    def leaves_way(self, candidate: Placed | None) -> bool:
        """True when all doors and all places from which things are opened stay connected with WAY_RADIUS to spare."""
        r = self.interior
        nx, ny = max(1, round(r.width / GRID)), max(1, round(r.depth / GRID))
        xs = r.x0 + (np.arange(nx) + 0.5) * r.width / nx
        ys = r.y0 + (np.arange(ny) + 0.5) * r.depth / ny
        margin = WAY_RADIUS - 0.06
        free = ((ys > r.y0 + margin) & (ys < r.y1 - margin))[:, None] & ((xs > r.x0 + margin) & (xs < r.x1 - margin))[
            None, :
        ]
        items = self.placed + ([candidate] if candidate else [])
        points: list[tuple[float, float]] = []
        for item in items:
            foot = item.footprint.grown(WAY_RADIUS)
            free &= ~(((ys > foot.y0) & (ys < foot.y1))[:, None] & ((xs > foot.x0) & (xs < foot.x1))[None, :])
            access = self._zone_of(item, item.furniture.access_rect)
            if access is not None and item.furniture.access > 0.75:
                f = item.furniture
                points.append(item.point(f.footprint.x1 + f.access - 0.33, (f.footprint.y0 + f.footprint.y1) / 2))
        for passage in self.passages:
            if self.index in passage.rooms:
                x, y = passage.centre
                step = 0.58 * passage.side(self.rooms, self.index)
                points.append((x, y + step) if passage.edge.axis == "x" else (x + step, y))
        labels, _ = ndimage.label(free)
        seen = {self._label_near(labels, xs, ys, p) for p in points}
        return 0 not in seen and len(seen) <= 1

    @staticmethod
    def _label_near(labels: np.ndarray, xs: np.ndarray, ys: np.ndarray, point: tuple[float, float]) -> int:
        """Label of the free cell nearest to a point, 0 when none lies within 0.2 m."""
        window = labels[np.abs(ys - point[1]) < 0.2][:, np.abs(xs - point[0]) < 0.2]
        found = window[window > 0]
        return int(np.bincount(found).argmax()) if found.size else 0

    def wall_pose(self, furniture: Furniture, wall: str, along: float) -> Placed:
        """The piece with its back to a wall, its middle at coordinate `along` of that wall."""
        r, f, quarter = self.interior, furniture.footprint, FACING[wall]
        back, middle = -f.x0 + WALL_GAP, (f.y0 + f.y1) / 2
        # The piece's own y axis runs against the wall's coordinate on two of the walls.
        return {
            "south": lambda: Placed(furniture, along + middle, r.y0 + back, quarter, wall),
            "north": lambda: Placed(furniture, along - middle, r.y1 - back, quarter, wall),
            "west": lambda: Placed(furniture, r.x0 + back, along - middle, quarter, wall),
            "east": lambda: Placed(furniture, r.x1 - back, along + middle, quarter, wall),
        }[wall]()

    def span(self, wall: str) -> tuple[float, float]:
        """First and last coordinate of a wall."""
        r = self.interior
        return (r.x0, r.x1) if wall in ("south", "north") else (r.y0, r.y1)

    def against_wall(
        self, rng: Rng, furniture: Furniture, tries: int = 30, corner: float = 0.5, walls: tuple[str, ...] = ()
    ) -> Placed | None:
        """Put a piece against a wall, in a corner with probability `corner`; None when it fits nowhere tried."""
        width = furniture.footprint.depth
        sides = walls or tuple(FACING)
        for _ in range(tries):
            wall = sides[int(rng.integers(len(sides)))]
            low, high = self.span(wall)
            gap = WALL_GAP + furniture.side_gap
            low, high = low + width / 2 + gap, high - width / 2 - gap
            if high < low:
                continue
            in_corner = rng.random() < corner
            along = (low if rng.random() < 0.5 else high) if in_corner else float(rng.uniform(low, high))
            item = self.wall_pose(furniture, wall, along)
            if self.fits(item):
                self.placed.append(item)
                return item
        return None

    def free_standing(self, rng: Rng, furniture: Furniture, tries: int = 40, margin: float = 0.0) -> Placed | None:
        """Put a piece somewhere in the room, preferring the middle."""
        r = self.interior.grown(-margin)
        for _ in range(tries):
            mid = rng.normal(0.5, 0.16, 2)
            quarter = int(rng.integers(2)) if furniture.footprint.width != furniture.footprint.depth else 0
            item = Placed(furniture, r.x0 + float(mid[0]) * r.width, r.y0 + float(mid[1]) * r.depth, quarter)
            if self.fits(item):
                self.placed.append(item)
                return item
        return None

    def at(self, furniture: Furniture, x: float, y: float, quarter: int) -> Placed | None:
        """Put a piece exactly there if it fits."""
        item = Placed(furniture, x, y, quarter % 4)
        if self.fits(item):
            self.placed.append(item)
            return item
        return None

    def in_front(self, item: Placed, furniture: Furniture, distance: float, facing: int = 0) -> Placed | None:
        """Put a piece centred in front of another at `distance` from its front, turned relative to it."""
        f = item.furniture.footprint
        half = furniture.footprint.width / 2 if facing % 2 == 0 else furniture.footprint.depth / 2
        x, y = item.point(f.x1 + distance + half, (f.y0 + f.y1) / 2)
        return self.at(furniture, x, y, item.quarter + facing)

    def beside(self, item: Placed, furniture: Furniture, left: bool, gap: float = 0.06) -> Placed | None:
        """Put a piece beside another against the same wall."""
        if item.wall is None:
            return None
        f, g = item.furniture.footprint, furniture.footprint
        y = f.y1 + gap - g.y0 if left else f.y0 - gap - g.y1
        x = f.x0 - g.x0
        px, py = item.point(x, y)
        placed = Placed(furniture, px, py, item.quarter, item.wall)
        if self.fits(placed):
            self.placed.append(placed)
            return placed
        return None

    def row(self, rng: Rng, pieces: list[tuple[Furniture, ...]], tries: int = 16) -> list[Placed]:
        """Put as many pieces as fit side by side against one wall; of each the first alternative that fits.

        The longest row of the tries stays.
        """
        best: list[Placed] = []
        for _ in range(tries):
            wall = tuple(FACING)[int(rng.integers(4))]
            low, high = self.span(wall)
            upward = rng.random() < 0.5
            cursor = low + ROW_GAP if upward else high - ROW_GAP
            made: list[Placed] = []
            for alternatives in pieces:
                for piece in alternatives:
                    width = piece.footprint.depth
                    along = cursor + width / 2 if upward else cursor - width / 2
                    if not low <= along - width / 2 <= along + width / 2 <= high:
                        continue
                    item = self.wall_pose(piece, wall, along)
                    if self.fits(item):
                        self.placed.append(item)
                        made.append(item)
                        cursor += (width + 0.004) if upward else -(width + 0.004)
                        break
            for item in made:
                self.placed.remove(item)
            if len(made) > len(best):
                best = made
            if len(best) == len(pieces):
                break
        self.placed.extend(best)
        return best

    def free_wall(self, rng: Rng, width: float, tall_only: float = 1.1, tries: int = 20) -> tuple[str, float] | None:
        """A stretch of wall of `width` without door, window or anything higher than `tall_only` before it."""
        for _ in range(tries):
            wall = tuple(FACING)[int(rng.integers(4))]
            low, high = self.span(wall)
            if high - low < width + 0.2:
                continue
            along = float(rng.uniform(low + width / 2 + 0.1, high - width / 2 - 0.1))
            if self._wall_is_free(wall, along - width / 2, along + width / 2, tall_only):
                return wall, along
        return None

    def _wall_is_free(self, wall: str, start: float, end: float, tall_only: float) -> bool:
        r = self.room.rect
        axis = "x" if wall in ("south", "north") else "y"
        at = {"south": r.y0, "north": r.y1, "west": r.x0, "east": r.x1}[wall]
        holes = [(p.edge, p.along, p.width) for p in self.passages if self.index in p.rooms]
        holes += [(w.edge, w.along, w.width) for w in self.windows if w.room == self.index]
        for edge, along, width in holes:
            if (
                edge.axis == axis
                and abs(edge.at - at) < 1e-6
                and start < along + width / 2 + 0.12
                and end > along - width / 2 - 0.12
            ):
                return False
        for item in self.placed:
            foot = item.footprint
            span = (foot.x0, foot.x1) if axis == "x" else (foot.y0, foot.y1)
            across = (foot.y0, foot.y1) if axis == "x" else (foot.x0, foot.x1)
            near = min(abs(v - at) for v in across) < 0.45
            if near and item.furniture.height > tall_only and span[0] < end and span[1] > start:
                return False
        # An open leaf rests along the wall beside its hinge.
        for passage in self.passages:
            if passage.leaf and passage.into == self.index:
                zone = passage.clear_zone(self.rooms, self.index)
                span = (zone.x0, zone.x1) if axis == "x" else (zone.y0, zone.y1)
                across = (zone.y0, zone.y1) if axis == "x" else (zone.x0, zone.x1)
                if min(abs(v - at) for v in across) < 0.3 and span[0] < end and span[1] > start:
                    return False
        return True
