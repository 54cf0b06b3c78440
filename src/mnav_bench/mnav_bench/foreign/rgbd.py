"""RGB-D folders: depth and colour images, poses and intrinsics in the layouts of the common data sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_bench.foreign.faults import UnreadableFile
from mnav_bench.foreign.intrinsics import Intrinsics, find_intrinsics
from mnav_bench.foreign.trajectories import Trajectory, find_trajectory, numbers_in
from mnav_core.geometry import SE3
from mnav_core.sensing import RgbdImage

IMAGES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".ppm", ".npy", ".bmp"})
DEPTH_FOLDERS = ("depth", "depths", "depth_images", "depth_raw")
COLOR_FOLDERS = ("color", "colour", "rgb", "image", "images", "rgb_images")
MILLIMETRES, TUM_UNITS = 1000.0, 5000.0
SATURATED = 65535
# A room's depth in the wrong unit lies past this.
IMPLAUSIBLE_M = 20.0


@dataclass(frozen=True, eq=False)
class RgbdFolder:
    """What a folder holds: depth files in order, colour files beside them (or none), poses (or none), intrinsics."""

    path: Path
    depth: tuple[Path, ...]
    color: tuple[Path | None, ...]
    trajectory: Trajectory | None
    intrinsics: Intrinsics
    units_per_metre: float
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class BrokenFrame:
    """A frame that cannot be used, and why."""

    file: Path
    reason: str


def holds_rgbd(folder: Path) -> bool:
    """Whether a folder looks like an RGB-D recording."""
    return bool(_depth_files(folder))


def open_rgbd(folder: Path) -> RgbdFolder:
    """List a recording. Raises UnreadableFile for poses or intrinsics that cannot be understood."""
    depth = _depth_files(folder)
    if not depth:
        raise UnreadableFile(folder, f"no depth images, allowed: a folder {', '.join(DEPTH_FOLDERS)}, or *depth*.png")
    warnings: list[str] = []
    color = _matching_color(folder, depth, warnings)
    intrinsics = find_intrinsics(folder)
    warnings += intrinsics.warnings
    trajectory = find_trajectory(folder, len(depth))
    if trajectory is None:
        warnings.append("no poses: each frame is fused alone")
    units = intrinsics.depth_scale or (TUM_UNITS if (folder / "depth.txt").is_file() else MILLIMETRES)
    return RgbdFolder(folder, depth, color, trajectory, intrinsics, _plausible(depth, units, warnings), tuple(warnings))


def frames(recording: RgbdFolder) -> Iterator[RgbdImage | BrokenFrame]:
    """The frames in order; where the folder tells poses, `camera_in_map` is the file's world."""
    for position, (file, color) in enumerate(zip(recording.depth, recording.color, strict=True)):
        raw = _read(file)
        if raw is None or raw.ndim != 2:
            yield BrokenFrame(file, "not a readable image" if raw is None else f"depth image of shape {raw.shape}")
            continue
        pose = SE3.identity() if recording.trajectory is None else _pose(recording.trajectory, position, file)
        if pose is None:
            yield BrokenFrame(file, "no valid pose")
            continue
        depth = _metres(raw, recording.units_per_metre)
        camera = recording.intrinsics.camera(depth.shape[1], depth.shape[0])
        yield RgbdImage("front", float(position), camera, pose, _rgb(color, depth.shape), depth)


def _depth_files(folder: Path) -> tuple[Path, ...]:
    for name in DEPTH_FOLDERS:
        found = _images(folder / name)
        if found:
            return found
    return tuple(file for file in _images(folder) if "depth" in file.stem.lower() and "color" not in file.stem.lower())


def _images(folder: Path) -> tuple[Path, ...]:
    if not folder.is_dir():
        return ()
    found = [file for file in folder.iterdir() if file.is_file() and file.suffix.lower() in IMAGES]
    return tuple(sorted(found, key=lambda file: (numbers_in(file), file.name)))


def _matching_color(folder: Path, depth: tuple[Path, ...], warnings: list[str]) -> tuple[Path | None, ...]:
    color: tuple[Path, ...] = ()
    for name in COLOR_FOLDERS:
        color = color or _images(folder / name)
    color = color or tuple(file for file in _images(folder) if any(w in file.stem.lower() for w in ("color", "rgb")))
    if len(color) == len(depth):
        return color
    warnings.append(f"{len(color)} colour for {len(depth)} depth images: matched by the numbers in their names")
    by_numbers = {numbers_in(file): file for file in color}
    return tuple(by_numbers.get(numbers_in(file)) for file in depth)


def _read(file: Path) -> NDArray[np.generic] | None:
    if file.suffix.lower() == ".npy":
        try:
            return np.asarray(np.load(file, allow_pickle=False))
        except (OSError, ValueError, EOFError):
            return None
    try:
        image = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        return None
    return None if image is None else np.asarray(image)


def _metres(raw: NDArray[np.generic], units: float) -> NDArray[np.float32]:
    """Depth in metres, 0 where there is none: holes, saturated, not finite."""
    if raw.dtype.kind == "f":
        depth = raw.astype(np.float32)
        # Floating-point depth is in metres unless nothing in a building could be so far.
        valid = depth[np.isfinite(depth) & (depth > 0)]
        if valid.size and float(np.median(valid)) > 100.0:
            depth = depth / np.float32(MILLIMETRES)
        return np.where(np.isfinite(depth) & (depth > 0), depth, np.float32(0.0))
    depth = raw.astype(np.float32) / np.float32(units)
    return np.where(raw.astype(np.int64) >= SATURATED, np.float32(0.0), depth)


def _plausible(depth: tuple[Path, ...], units: float, warnings: list[str]) -> float:
    """The unit, corrected where the first readable image would show a building of impossible size."""
    for file in depth[:3]:
        raw = _read(file)
        if raw is None or raw.ndim != 2 or raw.dtype.kind not in "ui":
            continue
        values = raw.astype(float)
        valid = values[(values > 0) & (values < SATURATED)]
        middle = float(np.median(valid)) if valid.size else 0.0
        if middle / units > IMPLAUSIBLE_M and units != TUM_UNITS:
            warnings.append(f"median depth {middle / units:.0f} m at {units:g} units a metre: taken as {TUM_UNITS:g}")
            return TUM_UNITS
        break
    return units


def _pose(trajectory: Trajectory, position: int, file: Path) -> SE3 | None:
    numbers = numbers_in(file)
    if trajectory.by_numbers:
        return trajectory.by_numbers.get(numbers)
    if trajectory.stamped:
        try:
            return trajectory.at_stamp(float(file.stem))
        except ValueError:
            return trajectory.stamped[position][1] if position < len(trajectory.stamped) else None
    return trajectory.by_index.get(position)


def _rgb(file: Path | None, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Colour (H, W, 3) at the depth's size, black where there is none."""
    raw = None if file is None else _read(file)
    if raw is None or raw.ndim != 3 or raw.shape[2] < 3 or raw.dtype != np.uint8:
        return np.zeros((*shape, 3), np.uint8)
    rgb = np.ascontiguousarray(raw[..., 2::-1].astype(np.uint8))
    return rgb if rgb.shape[:2] == shape else np.asarray(cv2.resize(rgb, (shape[1], shape[0])), np.uint8)
