"""Small procedural textures, encoded as PNG once per process."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.float64]
SIZE = 128
# Seen on all six faces of a box; the others lie flat on the thin axis of their box.
CUBE_TEXTURES = frozenset({"fabric", "wood", "stone", "wicker", "grain"})


@lru_cache(maxsize=64)
def texture_png(name: str) -> bytes:
    """The PNG file of texture `name`, the same bytes in every process."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    image = np.clip(_PAINTERS[name](rng), 0, 255).astype(np.uint8)
    done, data = cv2.imencode(".png", image[:, :, ::-1])
    if not done:
        raise RuntimeError(f"texture {name} could not be encoded as PNG")
    return bytes(data.tobytes())


def _noise(rng: np.random.Generator, blur_x: float, blur_y: float, n: int = SIZE) -> Image:
    """Unit-variance noise that tiles, blurred by the given sigmas in pixels."""
    field = rng.normal(size=(n, n))
    fx, fy = np.fft.fftfreq(n)[None, :], np.fft.fftfreq(n)[:, None]
    kernel = np.exp(-2 * np.pi**2 * ((fx * blur_x) ** 2 + (fy * blur_y) ** 2))
    smooth = np.fft.ifft2(np.fft.fft2(field) * kernel).real
    return np.asarray((smooth - smooth.mean()) / (smooth.std() + 1e-9))


def _shade(base: tuple[float, float, float], field: Image) -> Image:
    return np.array(base)[None, None, :] * (1 + field[:, :, None])


def _plaster(rng: np.random.Generator) -> Image:
    return _shade((246, 246, 246), 0.008 * _noise(rng, 0.6, 0.6) + 0.006 * _noise(rng, 8, 8))


def _grain(rng: np.random.Generator) -> Image:
    rings = np.sin(5 * _noise(rng, 30, 4) + 1.5 * _noise(rng, 20, 1.5))
    return _shade((225, 222, 218), 0.05 * rings + 0.03 * _noise(rng, 12, 0.5))


def _planks(rng: np.random.Generator) -> Image:
    image = _grain(rng)
    rows = 8
    for row in range(rows):
        top, bottom = row * SIZE // rows, (row + 1) * SIZE // rows
        image[top:bottom] = np.roll(image[top:bottom], int(rng.integers(SIZE)), axis=1)
        joint = int(rng.integers(SIZE))
        split = [(0, joint), (joint, SIZE)]
        for left, right in split:
            image[top:bottom, left:right] *= rng.uniform(0.84, 1.08)
        image[top : top + 1] *= 0.6
        image[top:bottom, joint : joint + 1] *= 0.65
    return image


def _tiles(rng: np.random.Generator) -> Image:
    image = _shade((240, 240, 238), 0.012 * _noise(rng, 3, 3))
    for k in range(4):
        a, b = k * SIZE // 4, (k + 1) * SIZE // 4
        for j in range(4):
            image[a:b, j * SIZE // 4 : (j + 1) * SIZE // 4] *= rng.uniform(0.95, 1.03)
        image[a : a + 2] *= 0.82
        image[:, a : a + 2] *= 0.82
    return image


def _checker(rng: np.random.Generator) -> Image:
    image = _shade((240, 240, 236), 0.01 * _noise(rng, 3, 3))
    half = SIZE // 2
    image[:half, :half] *= 0.62
    image[half:, half:] *= 0.62
    return image


def _fabric(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    weave = 0.04 * (((x // 2) + (y // 2)) % 2 - 0.5)
    return _shade((232, 232, 232), weave + 0.03 * _noise(rng, 0.8, 0.8) + 0.02 * _noise(rng, 10, 10))


def _carpet(rng: np.random.Generator) -> Image:
    return _shade((222, 222, 222), 0.07 * _noise(rng, 0.9, 0.9) + 0.02 * _noise(rng, 9, 9))


def _rug(rng: np.random.Generator) -> Image:
    image = _shade((220, 220, 220), 0.05 * _noise(rng, 0.7, 0.7))
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    edge = np.minimum(np.minimum(x, SIZE - 1 - x), np.minimum(y, SIZE - 1 - y))
    image[(edge > 6) & (edge < 12)] *= 0.45
    diamond = (np.abs(x - SIZE / 2) + np.abs(y - SIZE / 2)) % 32
    image[(diamond < 5) & (edge > 14)] *= np.array([0.75, 0.55, 0.5])
    return image


def _stone(rng: np.random.Generator) -> Image:
    veins = np.abs(_noise(rng, 6, 6)) < 0.06
    image = _shade((228, 226, 222), 0.03 * _noise(rng, 1, 1) + 0.04 * _noise(rng, 12, 12))
    image[veins] *= 0.86
    return image


def _steel(rng: np.random.Generator) -> Image:
    return _shade((226, 228, 230), 0.03 * _noise(rng, 24, 0.4))


def _wicker(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    weave = np.where(((x // 8) + (y // 8)) % 2 == 0, np.sin(np.pi * (y % 8) / 8), np.sin(np.pi * (x % 8) / 8))
    return _shade((235, 230, 220), 0.35 * (weave - 0.7) + 0.02 * _noise(rng, 1, 1))


def _newsprint(rng: np.random.Generator) -> Image:
    image = _shade((235, 232, 224), 0.01 * _noise(rng, 2, 2))
    image[8:22, 10:118] = 40
    for column in range(3):
        x0 = 8 + column * 40
        for line in range(30, 122, 5):
            if column == 1 and 40 < line < 84:
                continue
            image[line : line + 2, x0 : x0 + int(rng.integers(22, 34))] = 95
    image[42:84, 48:82] = (110, 120, 135)
    return image


def _cover(rng: np.random.Generator) -> Image:
    image = np.full((SIZE, SIZE, 3), 235.0)
    image[:, :14] *= 0.7
    image[28:44, 30:108] = 250
    image[33:38, 38:100] = 60
    image[70:112, 44:96] = (250, 205, 90)
    return image


def _landscape(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    image = np.stack([150 + 90 * y, 190 + 30 * y, 235 - 40 * y], axis=2)
    for level, colour in ((0.5, (110, 130, 160)), (0.62, (80, 120, 90)), (0.75, (60, 95, 55))):
        ridge = level + 0.06 * np.sin(7 * x + 9 * level) + 0.03 * np.sin(17 * x + 4 * level)
        image[y > ridge] = colour
    image[(x - 0.72) ** 2 + (y - 0.25) ** 2 < 0.006] = (255, 240, 190)
    return image


def _abstract(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    image = np.full((SIZE, SIZE, 3), (236.0, 228.0, 214.0))
    for cx, cy, r, colour in (
        (0.35, 0.4, 0.24, (196, 110, 80)),
        (0.62, 0.55, 0.28, (96, 124, 134)),
        (0.55, 0.3, 0.14, (222, 180, 104)),
        (0.36, 0.72, 0.16, (74, 82, 96)),
    ):
        inside = (x - cx) ** 2 + (y - cy) ** 2 < r * r
        image[inside] = 0.35 * image[inside] + 0.65 * np.array(colour)
    image[np.abs(y - 0.62 - 0.1 * np.sin(6 * x)) < 0.008] = (50, 50, 56)
    return image


def _portrait(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    image = np.full((SIZE, SIZE, 3), (150.0, 165.0, 150.0))
    image[(x - 0.5) ** 2 / 0.1 + (y - 1.0) ** 2 / 0.09 < 1] = (70, 60, 110)
    image[(x - 0.5) ** 2 + (y - 0.38) ** 2 < 0.045] = (70, 45, 30)
    image[(x - 0.5) ** 2 / 0.024 + (y - 0.45) ** 2 / 0.036 < 1] = (225, 180, 150)
    return image


def _screen(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    return np.stack([25 + 30 * x, 32 + 40 * x * (1 - y), 55 + 60 * (1 - y)], axis=2)


def _keyboard(rng: np.random.Generator) -> Image:
    image = np.full((SIZE, SIZE, 3), 170.0)
    for row in range(5):
        for column in range(11):
            image[14 + row * 14 : 24 + row * 14, 6 + column * 11 : 15 + column * 11] = 45
    image[90:120, 44:84] = 140
    return image


def _buttons(rng: np.random.Generator) -> Image:
    image = np.full((SIZE, SIZE, 3), 60.0)
    for row in range(6):
        for column in range(3):
            image[14 + row * 19 : 24 + row * 19, 18 + column * 36 : 40 + column * 36] = (205, 205, 210)
    image[8:24, 96:120] = (220, 40, 40)
    return image


def _clock_face(rng: np.random.Generator) -> Image:
    y, x = np.mgrid[0:SIZE, 0:SIZE] - SIZE / 2
    image = np.full((SIZE, SIZE, 3), 245.0)
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    image[(radius > 44) & (radius < 56) & (np.abs(np.sin(3 * angle)) < 0.2)] = 20
    image[(np.abs(x) < 3) & (y < 4) & (y > -40)] = 20
    image[(np.abs(y) < 3) & (x > -4) & (x < 28)] = 20
    return image


def _stripes(rng: np.random.Generator) -> Image:
    y = np.mgrid[0:SIZE, 0:SIZE][0]
    return _shade((240, 240, 240), np.where((y // 16) % 2 == 0, 0.0, -0.35))


def _grass(rng: np.random.Generator) -> Image:
    return _shade((120, 150, 85), 0.12 * _noise(rng, 1, 1) + 0.08 * _noise(rng, 12, 12))


def _spines(rng: np.random.Generator) -> Image:
    image = np.full((SIZE, SIZE, 3), 60.0)
    x = 0
    while x < SIZE:
        w = int(rng.integers(8, 18))
        top = int(rng.integers(0, 36))
        colour = rng.uniform(60, 230, 3)
        image[top:, x : x + w - 1] = colour
        image[top + 14 : top + 22, x + 2 : x + w - 3] = np.clip(colour * 1.5, 0, 255)
        x += w
    return image


_PAINTERS: dict[str, Callable[[np.random.Generator], Image]] = {
    "plaster": _plaster,
    "grain": _grain,
    "wood": _grain,
    "planks": _planks,
    "tiles": _tiles,
    "checker": _checker,
    "fabric": _fabric,
    "carpet": _carpet,
    "rug": _rug,
    "stone": _stone,
    "steel": _steel,
    "wicker": _wicker,
    "newsprint": _newsprint,
    "cover": _cover,
    "landscape": _landscape,
    "abstract": _abstract,
    "portrait": _portrait,
    "screen": _screen,
    "keyboard": _keyboard,
    "buttons": _buttons,
    "clock_face": _clock_face,
    "stripes": _stripes,
    "grass": _grass,
    "spines": _spines,
}
