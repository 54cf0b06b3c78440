"""Fusing foreign RGB-D recordings and clouds, against the bounds on what the map must keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mnav_bench.figures.rows import FigureRow, at_least, equal, unreadable
from mnav_bench.foreign.clouds import ForeignCloud
from mnav_bench.foreign.fusion import Kept, View, fuse, upright
from mnav_bench.foreign.rgbd import BrokenFrame, RgbdFolder, frames
from mnav_core.sensing import RgbdImage
from mnav_perception.mapping.depth import depth_points

NEAR_PERCENT, KEPT_PERCENT = 98.0, 99.0
NEAR_M, FAR_M, DEPTH_RANGE_M = 0.3, 4.0, 5.0
MAX_FRAMES = 200
CLOUD_NEAR_M, CLOUD_RANGE_M = 0.05, 30.0


def check_recording(name: str, recording: RgbdFolder) -> list[FigureRow]:
    """Rows of one recording: points near an occupied voxel, and crowded voxels that stay occupied."""
    used: list[RgbdImage] = []
    broken: list[BrokenFrame] = []
    step = -(-len(recording.depth) // MAX_FRAMES)
    for position, frame in enumerate(frames(recording)):
        if isinstance(frame, BrokenFrame):
            broken.append(frame)
        elif position % step == 0:
            used.append(frame)
    notes = list(recording.warnings)
    if broken:
        notes.append(f"{len(broken)} frames left out, first {broken[0].file.name}: {broken[0].reason}")
    if not used:
        return [unreadable(name, "; ".join(["no usable frame", *notes]))]
    views = [View(depth_points(f.depth, f.camera), f.camera_in_map) for f in used]
    alone = recording.trajectory is None
    groups = [[view] for view in views] if alone else [views]
    kept = [fuse(upright(group), DEPTH_RANGE_M, NEAR_M, FAR_M) for group in groups]
    return _kept_rows(name, kept, f"{len(used)} frames", notes)


def check_cloud(name: str, cloud: ForeignCloud) -> list[FigureRow]:
    """Rows of one cloud: every point accounted for, points near an occupied voxel, crowded voxels that stay."""
    finite = int(cloud.finite.sum())
    if not finite:
        return [unreadable(name, f"{len(cloud.points)} points, none finite, allowed: at least one")]
    kept = fuse([_lying(View(cloud.points, cloud.sensor))], CLOUD_RANGE_M, CLOUD_NEAR_M, CLOUD_RANGE_M)
    missed = len(cloud.points) - finite - kept.not_finite
    detail = f"{len(cloud.points)} points, {len(cloud.points) - finite} not finite"
    return [
        equal(f"{name}: points that are not finite and were not counted", missed, 0.0, detail=detail),
        *_kept_rows(name, [kept], detail, list(cloud.warnings)),
    ]


def _kept_rows(name: str, kept: Sequence[Kept], detail: str, notes: list[str]) -> list[FigureRow]:
    points, crowded = sum(k.points for k in kept), sum(k.crowded for k in kept)
    near = sum(k.near_percent * k.points for k in kept) / points if points else 100.0
    stays = sum(k.kept_percent * k.crowded for k in kept) / crowded if crowded else 100.0
    return [
        at_least(f"{name}: points within one voxel of an occupied one", near, NEAR_PERCENT, "%",
                 "; ".join([detail, f"{points} points counted", *notes])),
        at_least(f"{name}: voxels of ten points or more that stay occupied", stays, KEPT_PERCENT, "%",
                 f"{crowded} voxels"),
    ]  # fmt: skip


def _lying(view: View) -> View:
    """The view with the axis of least extent up: clouds say nothing of gravity, and buildings are wider than high."""
    world = view.sensor.apply(view.points[np.isfinite(view.points).all(axis=1)].astype(float))
    extent = np.percentile(world, 99.5, axis=0) - np.percentile(world, 0.5, axis=0)
    axis = 2 if extent[2] <= 6.0 else int(np.argmin(extent))
    if axis == 2:
        return view
    up_in_sensor = view.sensor.rotation.T @ np.eye(3)[axis]
    return upright([view], up_in_sensor.tolist())[0]
