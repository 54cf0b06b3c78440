"""What a piece of furniture is: shapes, parts that move, surfaces that carry things, and the room it needs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mnav_sim_bridge.house.rectangles import Rect
from mnav_sim_bridge.house.shapes import Shape, Vector, bounds


class Motion(Enum):
    """How a part moves."""

    HINGE = "hinge"
    SLIDE = "slide"


@dataclass(frozen=True)
class Surface:
    """A level place that carries objects: `rect`, height `z` and `headroom` in the furniture's frame, metres."""

    tag: str
    rect: Rect
    z: float
    headroom: float = 0.6


@dataclass(frozen=True)
class MovingPart:
    """A leaf or drawer: shapes in its own frame at `pos`, moving about or along `axis` from 0 (closed) to `travel`.

    `travel` is in radians or metres. `surface` (own frame) moves with the part.
    """

    name: str
    motion: Motion
    pos: Vector
    axis: Vector
    travel: float
    shapes: tuple[Shape, ...]
    handle: Vector
    mass: float
    surface: Surface | None = None


@dataclass(frozen=True)
class ContainerPart:
    """A container of a piece of furniture: the parts that open it and its interior volume (low, high corners)."""

    category: str
    parts: tuple[str, ...]
    interior: tuple[Vector, Vector]
    surfaces: tuple[Surface, ...] = ()


@dataclass(frozen=True)
class Furniture:
    """A piece in its own frame: front along +x, back plane at the rear, origin on the floor under the middle.

    `access` is how far in front a robot must be able to stand; `motion` how far its moving parts reach forward;
    `side_gap` how far from a side wall leaves must stand to open; `wall` pieces stand with their back to a wall.
    """

    category: str
    shapes: tuple[Shape, ...]
    surfaces: tuple[Surface, ...] = ()
    parts: tuple[MovingPart, ...] = ()
    containers: tuple[ContainerPart, ...] = ()
    access: float = 0.0
    motion: float = 0.0
    side_gap: float = 0.0
    wall: bool = True
    target: bool = True

    @property
    def footprint(self) -> Rect:
        """The floor rectangle below everything solid, in the furniture's frame."""
        low, high = bounds([s for s in self.shapes if s.solid] or list(self.shapes))
        return Rect(low[0], low[1], high[0], high[1])

    @property
    def height(self) -> float:
        """Height of the highest shape, metres."""
        return bounds(self.shapes)[1][2]

    @property
    def motion_rect(self) -> Rect | None:
        """Floor rectangle swept in front by the moving parts, or None."""
        if self.motion <= 0:
            return None
        f = self.footprint
        return Rect(f.x1, f.y0, f.x1 + self.motion, f.y1)

    @property
    def access_rect(self) -> Rect | None:
        """Floor rectangle in front that must stay free of furniture, or None."""
        if self.access <= 0:
            return None
        f = self.footprint
        return Rect(f.x1, f.y0, f.x1 + self.access, f.y1)
