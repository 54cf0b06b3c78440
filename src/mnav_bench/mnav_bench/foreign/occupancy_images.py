"""Maps as an image and a YAML file, with the meaning that Nav2's map server gives them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from mnav_bench.foreign.faults import UnreadableFile
from mnav_core.maps import FREE, LETHAL, UNKNOWN, GridMap

MAX_PIXELS = 100_000_000
KEYS = frozenset({"image", "mode", "resolution", "origin", "negate", "occupied_thresh", "free_thresh"})


class MapMode(Enum):
    """How brightness becomes occupancy."""

    TRINARY = "trinary"
    SCALE = "scale"
    RAW = "raw"


@dataclass(frozen=True, eq=False)
class ForeignMap:
    """A map in its image's own axes: `grid` has its corner at (0, 0); `origin` and `yaw` place that corner in `map`.

    Values as in an OccupancyGrid: -1 unknown, 0 free, 1..99 partly (scale and raw modes), 100 occupied.
    """

    grid: GridMap
    origin: tuple[float, float]
    yaw: float
    mode: MapMode
    warnings: tuple[str, ...]

    def in_map_axes(self) -> GridMap:
        """The grid along the axes of `map`; a turned map is resampled to the nearest cell, unknown outside it."""
        resolution, data = self.grid.resolution, self.grid.data
        if self.yaw == 0.0:
            return GridMap(0.0, resolution, self.origin, data)
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        height, width = data.shape
        corners = np.array([(0, 0), (width, 0), (0, height), (width, height)]) * resolution
        turned = corners @ np.array([[c, s], [-s, c]]) + self.origin
        low, high = turned.min(axis=0), turned.max(axis=0)
        columns, rows = (int(n) for n in np.ceil((high - low) / resolution - 1e-9))
        x = low[0] + (np.arange(columns) + 0.5) * resolution - self.origin[0]
        y = (low[1] + (np.arange(rows) + 0.5) * resolution - self.origin[1])[:, None]
        column = np.floor((c * x + s * y) / resolution).astype(int)
        row = np.floor((-s * x + c * y) / resolution).astype(int)
        inside = (column >= 0) & (row >= 0) & (column < width) & (row < height)
        out = np.where(inside, data[np.where(inside, row, 0), np.where(inside, column, 0)], UNKNOWN)
        return GridMap(0.0, resolution, (float(low[0]), float(low[1])), out.astype(np.int8))


def describes_map(file: Path) -> bool:
    """Whether a YAML file is one of a map: it names an image, and a resolution or an origin or thresholds."""
    try:
        data = yaml.safe_load(file.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return False
    return isinstance(data, dict) and "image" in data and bool(KEYS & data.keys() - {"image"})


def read_map(file: Path) -> ForeignMap:
    """Read a map by its YAML file. Raises UnreadableFile naming the key, its value and what is allowed."""
    try:
        data = yaml.safe_load(file.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UnreadableFile(file, " ".join(str(error).split())) from error
    if not isinstance(data, dict):
        raise UnreadableFile(file, "no mapping of keys to values")
    warnings = [f"unknown key {key!r}" for key in sorted(map(str, data.keys() - KEYS))]
    resolution = _number(file, data, "resolution")
    if not 0.0 < resolution <= 10.0:
        raise UnreadableFile(file, f"resolution = {resolution:g}, allowed: above 0, at most 10 m")
    origin = _origin(file, data, warnings)
    occupied, free = (
        _threshold(file, data, "occupied_thresh", 0.65, warnings),
        _threshold(file, data, "free_thresh", 0.25, warnings),
    )
    if free > occupied:
        raise UnreadableFile(file, f"free_thresh = {free:g}, allowed: at most occupied_thresh = {occupied:g}")
    mode = _mode(file, data)
    image = _image_file(file, data, warnings)
    shade, opacity = _brightness(file, image)
    occupancy = _occupancy(shade, opacity, mode, _negate(file, data, warnings), occupied, free)
    grid = GridMap(0.0, resolution, (0.0, 0.0), np.ascontiguousarray(occupancy[::-1]))
    return ForeignMap(grid, origin[:2], origin[2], mode, tuple(warnings))


def _number(file: Path, data: dict[str, Any], key: str) -> float:
    value = data.get(key)
    if value is None:
        raise UnreadableFile(file, f"{key} is missing, allowed: a number")
    return _as_number(file, key, value)


def _as_number(file: Path, key: str, value: Any) -> float:
    try:
        number = float(value)  # YAML 1.1 reads 5e-2 as text
    except (TypeError, ValueError) as error:
        raise UnreadableFile(file, f"{key} = {value!r}, allowed: a number") from error
    if not math.isfinite(number):
        raise UnreadableFile(file, f"{key} = {value!r}, allowed: a finite number")
    return number


def _origin(file: Path, data: dict[str, Any], warnings: list[str]) -> tuple[float, float, float]:
    value = data.get("origin")
    if value is None:
        warnings.append("origin is missing: taken as 0, 0, 0")
        return (0.0, 0.0, 0.0)
    if not isinstance(value, list) or len(value) not in (2, 3):
        raise UnreadableFile(file, f"origin = {value!r}, allowed: x, y, yaw")
    numbers = [_as_number(file, "origin", v) for v in value]
    if len(numbers) == 2:
        warnings.append("origin has no yaw: taken as 0")
        numbers.append(0.0)
    return (numbers[0], numbers[1], math.remainder(numbers[2], 2.0 * math.pi))


def _threshold(file: Path, data: dict[str, Any], key: str, default: float, warnings: list[str]) -> float:
    if data.get(key) is None:
        warnings.append(f"{key} is missing: taken as {default:g}")
        return default
    value = _as_number(file, key, data[key])
    if not 0.0 <= value <= 1.0:
        raise UnreadableFile(file, f"{key} = {value:g}, allowed: 0 to 1")
    return value


def _mode(file: Path, data: dict[str, Any]) -> MapMode:
    name = data.get("mode", MapMode.TRINARY.value)
    try:
        return MapMode(str(name).strip().lower())
    except ValueError as error:
        raise UnreadableFile(file, f"mode = {name!r}, allowed: {', '.join(m.value for m in MapMode)}") from error


def _negate(file: Path, data: dict[str, Any], warnings: list[str]) -> bool:
    value = data.get("negate")
    if value is None:
        warnings.append("negate is missing: taken as 0")
        return False
    if isinstance(value, bool) or value in (0, 1):
        return bool(value)
    raise UnreadableFile(file, f"negate = {value!r}, allowed: 0, 1, false, true")


def _image_file(file: Path, data: dict[str, Any], warnings: list[str]) -> Path:
    name = data["image"]
    if not isinstance(name, str) or not name:
        raise UnreadableFile(file, f"image = {name!r}, allowed: the name of a file")
    image = file.parent / name
    if image.is_file():
        return image
    beside = file.parent / Path(name.replace("\\", "/")).name
    if beside.is_file():
        warnings.append(f"image {name!r} is not there: taken from beside the YAML file")
        return beside
    raise UnreadableFile(file, f"image = {name!r}, allowed: an existing file")


def _brightness(file: Path, image: Path) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Brightness (H, W) from 0 black to 1 white, top row first, and opacity 0..1 where the image has any."""
    try:
        with Image.open(image) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise UnreadableFile(file, f"image {opened.width}x{opened.height}, allowed: {MAX_PIXELS} pixels")
            opened.load()
            return _channels(opened)
    except (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise UnreadableFile(file, f"image {image.name!r}: {' '.join(str(error).split())}") from error


def _channels(image: Image.Image) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    if image.mode.startswith("I"):  # 16 or 32 bit grey; the PNG and TIFF of mapping tools have 16
        return np.clip(np.asarray(image, np.float64) / 65535.0, 0.0, 1.0), None
    if image.mode == "F":
        return np.clip(np.asarray(image, np.float64), 0.0, 1.0), None
    has_alpha = image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info
    pixels = np.asarray(image.convert("RGBA" if has_alpha else "RGB"), np.float64) / 255.0
    return pixels[..., :3].mean(axis=2), pixels[..., 3] if has_alpha else None


def _occupancy(
    shade: NDArray[np.float64],
    opacity: NDArray[np.float64] | None,
    mode: MapMode,
    negate: bool,
    occupied: float,
    free: float,
) -> NDArray[np.int8]:
    """Occupancy (H, W), by the rules of Nav2's map server (Jazzy)."""
    if mode is MapMode.RAW:
        value = np.floor(shade * 255.0 + 0.5)
        return np.where(value <= LETHAL, value, UNKNOWN).astype(np.int8)
    if mode is MapMode.TRINARY and opacity is not None:
        shade = (3.0 * shade + opacity) / 4.0
    occ = shade if negate else 1.0 - shade
    if mode is MapMode.TRINARY:
        middle: NDArray[Any] = np.full(occ.shape, UNKNOWN)
    else:
        middle = np.rint((occ - free) / max(occupied - free, 1e-12) * 100.0)
    out = np.where(occ > occupied, LETHAL, np.where(occ < free, FREE, middle))
    if mode is MapMode.SCALE and opacity is not None:
        out = np.where(opacity < 1.0, UNKNOWN, out)
    return np.clip(out, UNKNOWN, LETHAL).astype(np.int8)
