"""Intrinsics of RGB-D folders, as the common data sets write them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mnav_bench.foreign.faults import UnreadableFile
from mnav_core.cameras import PinholeCamera

# Files whose integer pixel coordinates mean pixel centres; ours have them at one half.
HALF_PIXEL = 0.5
# The PrimeSense camera's factory values at 640 x 480, for folders that tell none.
DEFAULT = (525.0, 525.0, 319.5, 239.5)
_NAMES = ("camera", "intrinsic", "calib", "cam_params", "k.txt", "config", "info")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Intrinsics:
    """fx, fy, cx, cy in pixels of an image of (width, height); depth units a metre; None where not told."""

    values: tuple[float, float, float, float]
    size: tuple[int, int] | None
    depth_scale: float | None
    warnings: tuple[str, ...]

    def camera(self, width: int, height: int) -> PinholeCamera:
        """The camera of a depth image of this size."""
        fx, fy, cx, cy = self.values
        # Without a size, the principal point tells it: cameras look through their image's middle.
        size = self.size or ((width, height) if abs(cx - width / 2) < width / 4 else (round(2 * cx), round(2 * cy)))
        return PinholeCamera(*size, fx, fy, cx + HALF_PIXEL, cy + HALF_PIXEL).scaled(width, height)


def find_intrinsics(folder: Path) -> Intrinsics:
    """The intrinsics of a folder, or PrimeSense's with a warning where no file tells any. Raises UnreadableFile."""
    for file in sorted(folder.iterdir()) + sorted(folder.glob("intrinsic*/*")):
        name = file.name.lower()
        if not file.is_file() or not any(word in name for word in _NAMES) or "extrinsic" in name:
            continue
        if file.suffix == ".json":
            found = _of_json(file)
        elif file.suffix in (".yaml", ".yml"):
            found = _of_yaml(file)
        elif file.suffix == ".txt" and "color" not in name and "rgb" not in name:
            found = _of_text(file)
        else:
            continue
        if found is not None:
            return found
    return Intrinsics(DEFAULT, (640, 480), None, ("no intrinsics: taken as PrimeSense's 525, 525, 319.5, 239.5",))


def _of_json(file: Path) -> Intrinsics | None:
    try:
        data = json.loads(file.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableFile(file, f"not JSON: {error}") from error
    return _of_mapping(file, data)


def _of_yaml(file: Path) -> Intrinsics | None:
    # OpenCV writes a first line and tags that YAML does not know.
    text = "\n".join(line for line in file.read_text(errors="replace").splitlines() if not line.startswith("%"))
    try:
        data = yaml.safe_load(text.replace("!!opencv-matrix", ""))
    except yaml.YAMLError as error:
        raise UnreadableFile(file, " ".join(str(error).split())) from error
    return _of_mapping(file, data)


def _of_mapping(file: Path, data: Any) -> Intrinsics | None:
    """From a JSON or YAML mapping; one level of nesting is looked into. None when it holds no intrinsics."""
    if not isinstance(data, dict):
        return None
    for part in [data, *(value for value in data.values() if isinstance(value, dict))]:
        values = _values(file, part)
        if values is not None:
            width = _first(part, data, ("width", "w", "image_width"))
            height = _first(part, data, ("height", "h", "image_height"))
            size = (int(width), int(height)) if width and height else None
            scale = _first(part, data, ("depth_scale", "png_depth_scale", "scale"))
            return _checked(file, values, size, scale)
    return None


def _first(part: dict[str, Any], whole: dict[str, Any], keys: Sequence[str]) -> float | None:
    for key in keys:
        for source in (part, whole):
            if isinstance(source.get(key), int | float) and source[key] > 0:
                return float(source[key])
    return None


def _values(file: Path, part: dict[str, Any]) -> tuple[float, float, float, float] | None:
    lower = {str(key).lower(): value for key, value in part.items()}
    if all(key in lower for key in ("fx", "fy", "cx", "cy")):
        return _four(file, [lower[key] for key in ("fx", "fy", "cx", "cy")])
    for key in ("intrinsic_matrix", "camera_matrix", "k", "intrinsics", "intrinsic"):
        value = lower.get(key)
        if isinstance(value, dict):
            value = value.get("data")
        if isinstance(value, list):
            flat = [number for row in value for number in (row if isinstance(row, list) else [row])]
            if len(flat) == 4:
                return _four(file, flat)
            if len(flat) in (9, 16):
                return _of_matrix(file, flat)
    return None


def _of_text(file: Path) -> Intrinsics | None:
    words = _NUMBER.findall(file.read_text(errors="replace"))
    if len(words) in (9, 16):
        return _checked(file, _of_matrix(file, words), None, None)
    return _checked(file, _four(file, words[:4]), None, None) if len(words) == 4 else None


def _of_matrix(file: Path, flat: Sequence[Any]) -> tuple[float, float, float, float]:
    """fx, fy, cx, cy of a 3x3 or 4x4 matrix: row by row, or column by column where the last row holds cx, cy."""
    side = 3 if len(flat) == 9 else 4
    numbers = _floats(file, flat)
    rows = [numbers[side * k : side * k + side] for k in range(side)]
    if rows[0][2] == 0.0 and rows[1][2] == 0.0 and rows[2][0] != 0.0 and rows[2][1] != 0.0:
        rows = [list(column) for column in zip(*rows, strict=True)]
    return (rows[0][0], rows[1][1], rows[0][2], rows[1][2])


def _four(file: Path, values: Sequence[Any]) -> tuple[float, float, float, float]:
    fx, fy, cx, cy = _floats(file, values)
    return (fx, fy, cx, cy)


def _floats(file: Path, values: Sequence[Any]) -> list[float]:
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError) as error:
        raise UnreadableFile(file, f"intrinsics {values!r}, allowed: numbers") from error


def _checked(
    file: Path, values: tuple[float, float, float, float], size: tuple[int, int] | None, scale: float | None
) -> Intrinsics:
    fx, fy, cx, cy = values
    if not all(map(math.isfinite, values)) or fx <= 0.0 or fy <= 0.0 or cx <= 0.0 or cy <= 0.0:
        raise UnreadableFile(file, f"fx, fy, cx, cy = {fx:g}, {fy:g}, {cx:g}, {cy:g}, allowed: finite and above 0")
    return Intrinsics(values, size, scale, ())
