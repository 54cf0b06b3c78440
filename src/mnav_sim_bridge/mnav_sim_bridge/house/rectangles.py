"""Axis-aligned rectangles in the map plane, in metres."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rect:
    """The rectangle [x0, x1] x [y0, y1] in the map frame, metres."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Extent along x."""
        return self.x1 - self.x0

    @property
    def depth(self) -> float:
        """Extent along y."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Square metres."""
        return self.width * self.depth

    @property
    def short_side(self) -> float:
        """The smaller of width and depth."""
        return min(self.width, self.depth)

    @property
    def centre(self) -> tuple[float, float]:
        """The middle point."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def grown(self, margin: float) -> Rect:
        """The rectangle with every side moved outwards by `margin` (inwards when negative)."""
        return Rect(self.x0 - margin, self.y0 - margin, self.x1 + margin, self.y1 + margin)

    def overlaps(self, other: Rect, gap: float = 0.0) -> bool:
        """True when the two come closer than `gap` (touching edges do not overlap at gap 0)."""
        return (
            self.x0 < other.x1 + gap - 1e-9
            and other.x0 < self.x1 + gap - 1e-9
            and self.y0 < other.y1 + gap - 1e-9
            and other.y0 < self.y1 + gap - 1e-9
        )

    def holds(self, other: Rect) -> bool:
        """True when `other` lies inside."""
        return (
            other.x0 >= self.x0 - 1e-9
            and other.y0 >= self.y0 - 1e-9
            and other.x1 <= self.x1 + 1e-9
            and other.y1 <= self.y1 + 1e-9
        )

    def contains(self, x: float, y: float) -> bool:
        """True when the point lies inside or on the border."""
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


def placed_rect(x: float, y: float, quarter: int, local: Rect) -> Rect:
    """`local` (x forward, y left) turned by `quarter` * 90 degrees about its origin and moved to (x, y)."""
    corners = [turned(local.x0, local.y0, quarter), turned(local.x1, local.y1, quarter)]
    xs, ys = [c[0] for c in corners], [c[1] for c in corners]
    return Rect(x + min(xs), y + min(ys), x + max(xs), y + max(ys))


def turned(x: float, y: float, quarter: int) -> tuple[float, float]:
    """The vector (x, y) turned counter-clockwise by `quarter` * 90 degrees, exactly."""
    for _ in range(quarter % 4):
        x, y = -y, x
    return x, y
