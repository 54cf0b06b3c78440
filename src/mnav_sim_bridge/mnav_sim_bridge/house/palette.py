"""The colours and materials one house is decorated with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mnav_sim_bridge.house.shapes import Finish, Vector


def paint(r: int, g: int, b: int, shine: float = 0.1) -> Finish:
    """A plain colour from 0..255 components."""
    return Finish((r / 255, g / 255, b / 255), shine=shine)


def textured(texture: str, r: int, g: int, b: int, repeat: float = 1.0, shine: float = 0.1) -> Finish:
    """A texture tinted by 0..255 components; `repeat` is per metre for flat textures."""
    return Finish((r / 255, g / 255, b / 255), texture, repeat, shine)


WHITE = paint(240, 240, 238)
BLACK = paint(32, 32, 34, 0.3)
STEEL = textured("steel", 205, 208, 212, 1.0, 0.5)
CHROME = paint(205, 208, 214, 0.7)
PORCELAIN = paint(248, 248, 246, 0.6)
CERAMIC_DARK = paint(70, 72, 78, 0.4)
GLASS = Finish((0.75, 0.86, 0.9), shine=0.7, alpha=0.35)
SCREEN = textured("screen", 255, 255, 255, 1.0, 0.5)
SOIL = paint(72, 52, 38)
GREEN_LEAF = paint(70, 125, 62)

_WOODS = ((196, 152, 102), (150, 104, 66), (214, 182, 140), (118, 78, 50), (228, 214, 192))
_FLOORS = ((190, 146, 98), (160, 116, 76), (214, 184, 146), (140, 100, 70))
_WALLS = ((240, 234, 222), (226, 230, 226), (222, 230, 236), (238, 226, 208), (230, 224, 232), (214, 222, 210))
_ACCENTS = ((206, 196, 178), (142, 168, 176), (196, 158, 128), (160, 176, 148), (178, 168, 190), (214, 196, 150))
_FABRICS = (
    (96, 112, 134),
    (142, 118, 98),
    (120, 136, 110),
    (176, 92, 72),
    (92, 92, 98),
    (190, 170, 140),
    (66, 98, 110),
)
_TILES = ((236, 238, 238), (206, 222, 226), (226, 218, 204), (212, 226, 214))
_RUGS = ((184, 120, 96), (110, 130, 160), (190, 178, 156), (150, 100, 110), (120, 140, 116))


@dataclass(frozen=True)
class Palette:
    """One house's decoration: every field a finish, walls per room drawn from `walls`."""

    wood: Finish
    wood_dark: Finish
    floor: Finish
    wet_floor: Finish
    walls: tuple[Finish, ...]
    wall_tiles: Finish
    trim: Finish
    leaf: Finish
    fabric: Finish
    fabric_2: Finish
    bedding: Finish
    rug: Finish
    cabinet: Finish
    counter_top: Finish
    fridge: Finish


def draw_palette(rng: np.random.Generator) -> Palette:
    """A palette drawn from `rng`."""

    def pick(colours: tuple[tuple[int, int, int], ...]) -> tuple[int, int, int]:
        return colours[int(rng.integers(len(colours)))]

    wood = pick(_WOODS[:4])
    cabinets = ((238, 236, 230), wood, (176, 192, 186), (120, 134, 146), (226, 214, 190))
    dark = (max(30, int(wood[0] * 0.7)), max(30, int(wood[1] * 0.7)), max(30, int(wood[2] * 0.7)))
    wall_order = rng.permutation(len(_WALLS))
    accent = textured("plaster", *pick(_ACCENTS))
    return Palette(
        wood=textured("wood", *wood, shine=0.15),
        wood_dark=textured("wood", *dark, shine=0.15),
        floor=textured("planks", *pick(_FLOORS), repeat=0.9, shine=0.15),
        wet_floor=textured(
            ("tiles", "checker")[int(rng.integers(2))],
            *((196, 196, 190), (178, 186, 190), (206, 194, 176))[int(rng.integers(3))],
            repeat=0.8,
            shine=0.3,
        ),
        walls=(*(textured("plaster", *_WALLS[i]) for i in wall_order[:4]), accent),
        wall_tiles=textured("tiles", *_TILES[int(rng.integers(len(_TILES)))], repeat=1.6, shine=0.3),
        trim=paint(244, 243, 238),
        leaf=textured("wood", *((236, 232, 224), pick(_WOODS[:3]))[int(rng.integers(2))], shine=0.15),
        fabric=textured("fabric", *pick(_FABRICS), repeat=2),
        fabric_2=textured("fabric", *pick(_FABRICS), repeat=2),
        bedding=textured(
            "fabric", *((226, 224, 218), (170, 186, 204), (206, 190, 176))[int(rng.integers(3))], repeat=2
        ),
        rug=textured("rug", *pick(_RUGS), repeat=1),
        cabinet=textured("wood", *cabinets[int(rng.integers(len(cabinets)))], shine=0.15),
        counter_top=textured(
            "stone", *((214, 210, 204), (92, 94, 98), (190, 176, 158))[int(rng.integers(3))], shine=0.35
        ),
        fridge=(textured("steel", 210, 214, 218, shine=0.4), paint(238, 240, 240, 0.35), paint(150, 190, 188, 0.35))[
            int(rng.integers(3))
        ],
    )


def jittered(rgb: Vector, rng: np.random.Generator, amount: float = 0.08) -> Vector:
    """`rgb` (0..1) with every channel moved by up to `amount`."""
    r, g, b = np.clip(np.array(rgb) + rng.uniform(-amount, amount, 3), 0.02, 0.98)
    return float(r), float(g), float(b)
