"""Polygon files, read by trimesh: the vertices are the cloud."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

from mnav_bench.foreign.clouds import ForeignCloud
from mnav_bench.foreign.faults import UnreadableFile
from mnav_core.geometry import SE3


def read_ply(file: Path) -> ForeignCloud:
    """Read the vertices of a PLY, ascii or binary of either byte order. Raises UnreadableFile."""
    with file.open("rb") as stream:
        if stream.read(3) != b"ply":
            raise UnreadableFile(file, "does not start with 'ply', allowed: a PLY file")
    try:
        loaded = trimesh.load(file, file_type="ply", process=False)
    # trimesh lets whatever its parser meets through.
    except (ValueError, KeyError, IndexError, TypeError, OSError, AttributeError, EOFError) as error:
        raise UnreadableFile(file, f"not a readable PLY: {type(error).__name__}: {error}") from error
    vertices = getattr(loaded, "vertices", None)
    if vertices is None:
        raise UnreadableFile(file, "no vertices, allowed: element vertex with x, y, z")
    points = np.asarray(vertices, np.float32).reshape(-1, 3)
    faces = getattr(loaded, "faces", None)
    warnings = () if faces is None or not len(faces) else (f"{len(faces)} faces left out: only vertices are read",)
    return ForeignCloud(points, SE3.identity(), warnings)
