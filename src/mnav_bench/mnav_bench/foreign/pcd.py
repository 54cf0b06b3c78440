"""Point Cloud Data files: ascii, binary and binary_compressed, fields in any order, of any type and count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnav_bench.foreign.clouds import ForeignCloud
from mnav_bench.foreign.faults import UnreadableFile
from mnav_bench.foreign.lzf import expand
from mnav_core.geometry import SE3

MAX_POINTS = 50_000_000
MAX_HEADER = 100_000
_TYPES = {"F": "f", "I": "i", "U": "u"}
_KEYS = ("VERSION", "FIELDS", "SIZE", "TYPE", "COUNT", "WIDTH", "HEIGHT", "VIEWPOINT", "POINTS", "DATA")


@dataclass(frozen=True)
class _Header:
    names: tuple[str, ...]
    formats: tuple[np.dtype[np.generic], ...]
    counts: tuple[int, ...]
    points: int
    viewpoint: tuple[float, ...]
    encoding: str
    body: int

    @property
    def point_bytes(self) -> int:
        return sum(kind.itemsize * count for kind, count in zip(self.formats, self.counts, strict=True))


def read_pcd(file: Path) -> ForeignCloud:
    """Read a cloud. Raises UnreadableFile naming what is wrong and what is allowed."""
    data = file.read_bytes()
    warnings: list[str] = []
    header = _header(file, data, warnings)
    missing = [axis for axis in "xyz" if axis not in header.names]
    if missing:
        raise UnreadableFile(file, f"FIELDS {' '.join(header.names)}: {missing[0]!r} is missing, allowed: x y z")
    body = data[header.body :]
    if header.encoding == "ascii":
        columns = _ascii(file, body, header)
    elif header.encoding == "binary":
        columns = _binary(file, body, header)
    else:
        columns = _compressed(file, body, header)
    points = np.stack([columns[axis].astype(np.float32) for axis in "xyz"], axis=1)
    return ForeignCloud(points, _sensor(file, header, warnings), tuple(warnings))


def _header(file: Path, data: bytes, warnings: list[str]) -> _Header:
    entries: dict[str, list[str]] = {}
    at = 0
    while "DATA" not in entries:
        end = data.find(b"\n", at, at + MAX_HEADER)
        if end < 0 or len(entries) > 2 * len(_KEYS):
            raise UnreadableFile(file, "no DATA line, allowed: a PCD header that ends with DATA")
        words = data[at:end].decode("latin-1").strip().split()
        at = end + 1
        if words and not words[0].startswith("#"):
            key = "FIELDS" if words[0].upper() == "COLUMNS" else words[0].upper()
            if key not in _KEYS:
                raise UnreadableFile(file, f"header line {words[0][:20]!r}, allowed: {', '.join(_KEYS)}")
            entries[key] = words[1:]
    names = tuple(entries.get("FIELDS", []))
    sizes, types = _ints(file, entries, "SIZE"), [t.upper() for t in entries.get("TYPE", [])]
    counts = _ints(file, entries, "COUNT") if "COUNT" in entries else [1] * len(names)
    if not names or not len(names) == len(sizes) == len(types) == len(counts):
        raise UnreadableFile(file, f"FIELDS, SIZE, TYPE, COUNT have {len(names)}, {len(sizes)}, {len(types)},"
                             f" {len(counts)} entries, allowed: as many of each")  # fmt: skip
    width, height = _ints(file, entries, "WIDTH"), _ints(file, entries, "HEIGHT")
    product = (width[0] if width else 0) * (height[0] if height else 1)
    points = (_ints(file, entries, "POINTS") or [product])[0]
    if width and points != product:
        warnings.append(f"POINTS {points} is not WIDTH x HEIGHT {product}: POINTS is taken")
    encoding = (entries["DATA"] or [""])[0].lower()
    if encoding not in ("ascii", "binary", "binary_compressed"):
        raise UnreadableFile(file, f"DATA {encoding!r}, allowed: ascii, binary, binary_compressed")
    if not 0 <= points <= MAX_POINTS:
        raise UnreadableFile(file, f"POINTS {points}, allowed: 0 to {MAX_POINTS}")
    return _Header(
        names,
        tuple(_format(file, name, kind, size) for name, kind, size in zip(names, types, sizes, strict=True)),
        tuple(max(count, 0) for count in counts),
        points,
        tuple(_floats(file, entries, "VIEWPOINT")),
        encoding,
        at,
    )


def _format(file: Path, name: str, kind: str, size: int) -> np.dtype[np.generic]:
    allowed = (4, 8) if kind == "F" else (1, 2, 4, 8)
    if kind not in _TYPES or size not in allowed:
        raise UnreadableFile(file, f"field {name!r} of TYPE {kind} SIZE {size}, allowed: F 4 8, I U 1 2 4 8")
    return np.dtype(f"<{_TYPES[kind]}{size}")


def _ints(file: Path, entries: dict[str, list[str]], key: str) -> list[int]:
    try:
        return [int(word) for word in entries.get(key, [])]
    except ValueError as error:
        raise UnreadableFile(file, f"{key} {' '.join(entries[key])}, allowed: whole numbers") from error


def _floats(file: Path, entries: dict[str, list[str]], key: str) -> list[float]:
    try:
        return [float(word) for word in entries.get(key, [])]
    except ValueError as error:
        raise UnreadableFile(file, f"{key} {' '.join(entries[key])}, allowed: numbers") from error


def _ascii(file: Path, body: bytes, header: _Header) -> dict[str, NDArray[np.float64]]:
    starts = np.cumsum((0, *header.counts))
    wanted = [int(starts[header.names.index(axis)]) for axis in "xyz"]
    lines = [line for line in body.decode("latin-1").splitlines() if line.strip()]
    if len(lines) < header.points:
        raise UnreadableFile(file, f"cut short: {len(lines)} lines, allowed: {header.points}")
    rows = np.empty((header.points, 3))
    for k, line in enumerate(lines[: header.points]):
        words = line.split()
        try:
            rows[k] = [float(words[column]) for column in wanted]
        except (IndexError, ValueError) as error:
            raise UnreadableFile(file, f"point {k}: {line[:60]!r}, allowed: {int(starts[-1])} numbers") from error
    return {axis: rows[:, k] for k, axis in enumerate("xyz")}


def _binary(file: Path, body: bytes, header: _Header) -> dict[str, NDArray[np.float64]]:
    size = header.point_bytes
    if len(body) < size * header.points:
        raise UnreadableFile(file, f"cut short: {len(body) // max(size, 1)} points, allowed: {header.points}")
    rows = np.frombuffer(body, np.uint8, size * header.points).reshape(header.points, size)
    offsets = np.cumsum([0] + [f.itemsize * n for f, n in zip(header.formats, header.counts, strict=True)])
    columns = {}
    for axis in "xyz":
        k = header.names.index(axis)
        start, kind = int(offsets[k]), header.formats[k]
        columns[axis] = rows[:, start : start + kind.itemsize].copy().view(kind)[:, 0].astype(np.float64)
    return columns


def _compressed(file: Path, body: bytes, header: _Header) -> dict[str, NDArray[np.float64]]:
    """Fields one after another, each as long as all points, compressed as one."""
    size = header.point_bytes * header.points
    if len(body) < 8:
        raise UnreadableFile(file, "cut short: no sizes before the compressed data")
    packed, full = (int(n) for n in np.frombuffer(body, "<u4", 2))
    if full != size:
        raise UnreadableFile(file, f"compressed data of {full} bytes, allowed: {size} for {header.points} points")
    if len(body) < 8 + packed:
        raise UnreadableFile(file, f"cut short: {len(body) - 8} compressed bytes, allowed: {packed}")
    try:
        flat = expand(body[8 : 8 + packed], size)
    except ValueError as error:
        raise UnreadableFile(file, str(error)) from error
    columns, at = {}, 0
    for name, kind, count in zip(header.names, header.formats, header.counts, strict=True):
        length = kind.itemsize * count * header.points
        if name in ("x", "y", "z") and name not in columns:
            values = flat[at : at + length].view(kind).reshape(header.points, count)
            columns[name] = values[:, 0].astype(np.float64)
        at += length
    return columns


def _sensor(file: Path, header: _Header, warnings: list[str]) -> SE3:
    """VIEWPOINT: translation, then the quaternion w first."""
    if not header.viewpoint:
        warnings.append("no VIEWPOINT: taken as the origin")
        return SE3.identity()
    if len(header.viewpoint) != 7 or not np.isfinite(header.viewpoint).all():
        raise UnreadableFile(file, f"VIEWPOINT {header.viewpoint}, allowed: tx ty tz qw qx qy qz")
    x, y, z, qw, qx, qy, qz = header.viewpoint
    if qw * qw + qx * qx + qy * qy + qz * qz < 1e-12:
        warnings.append("VIEWPOINT quaternion has no length: taken as no rotation")
        return SE3.from_quaternion((x, y, z), (0.0, 0.0, 0.0, 1.0))
    return SE3.from_quaternion((x, y, z), (qx, qy, qz, qw))
