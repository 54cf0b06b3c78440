"""Figures of inserting scans: time beside OctoMap, what stands stays, what is taken away goes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mnav_bench.figures.peers import Peers
from mnav_bench.figures.rows import FigureRow, at_least, skipped
from mnav_bench.figures.scan_scene import furnished_hall, round_trip, scan
from mnav_bench.figures.timing import WARM_RUNS, Timing, time_calls
from mnav_core.geometry import SE3
from mnav_perception.mapping.insertion import MarkingLimits, insert_scan
from mnav_perception.mapping.voxels import VoxelMap, VoxelSettings

POINTS = 20_000
SEED = 1
SPEED_UP, KEPT_PERCENT = 20.0, 99.0
SCANS_TO_CLEAR = 3
# A voxel is surface when so many scans hit it; one hit alone may be the edge of something.
SURFACE_SCANS = 3
AFTER_SCANS = 8

Keys = NDArray[np.int64]


def insertion_figures(peers: Peers | None) -> list[FigureRow]:
    """Rows over one drive round a hall: 20k points a scan, 5 cm, clearing on, one thread."""
    scene = furnished_hall(SEED)
    poses = round_trip(scene, WARM_RUNS + 1)
    scans = [scan(scene, pose, POINTS, turn) for turn, pose in enumerate(poses)]
    settings, limits = VoxelSettings(), MarkingLimits()
    # The very first call may compile; it is no scan of the drive.
    insert_scan(VoxelMap(settings), scans[0], poses[0], limits, None)
    voxels = VoxelMap(settings)
    ours = time_calls([partial(insert_scan, voxels, s, p, limits, None) for s, p in zip(scans, poses, strict=True)])
    rows = [_beside_octomap(ours, scans, poses, limits, settings, peers)]
    surface = surface_voxels(scans, poses, limits.max_range_m, settings.z_max, SURFACE_SCANS)
    kept = 100.0 * float(np.mean(occupied(voxels, surface)))
    rows.append(
        at_least("insertion: static surface voxels kept", kept, KEPT_PERCENT, "%",
                 f"{len(surface)} voxels hit by {SURFACE_SCANS} scans or more")
    )  # fmt: skip
    emptied = scene.without(0)
    box = [v for v in surface if inside(v, scene.boxes[0], settings.resolution)]
    after = [(scan(emptied, pose, POINTS, len(poses) + k), pose) for k, pose in enumerate(poses[:AFTER_SCANS])]
    rows.append(_removed(voxels, np.array(box), after, limits, settings))
    return rows


def _beside_octomap(
    ours: Timing,
    scans: Sequence[NDArray[np.float32]],
    poses: Sequence[SE3],
    limits: MarkingLimits,
    settings: VoxelSettings,
    peers: Peers | None,
) -> FigureRow:
    name = "insertion: times faster than pyoctomap, 20k points, 5 cm"
    if peers is None:
        return skipped(name, f"needs --peers; ours {ours}")
    theirs = peers.run(
        "octomap",
        {
            "scans": np.stack([pose.apply(points) for points, pose in zip(scans, poses, strict=True)]),
            "origins": np.stack([pose.translation for pose in poses]),
            "max_range": limits.max_range_m,
            "resolution": settings.resolution,
        },
    )
    peer = Timing(float(theirs["ms"][0]), tuple(float(t) for t in theirs["ms"][1:]))
    detail = f"ours {ours}; pyoctomap ({theirs['setting']}) {peer}"
    return at_least(name, peer.median_ms / ours.median_ms, SPEED_UP, "x", detail)


def _removed(
    voxels: VoxelMap,
    box: Keys,
    after: Sequence[tuple[NDArray[np.float32], SE3]],
    limits: MarkingLimits,
    settings: VoxelSettings,
) -> FigureRow:
    """Of the box's occupied voxels that three later scans look through, those that are free after the third."""
    box = box[occupied(voxels, box)]
    seen = np.zeros(len(box), int)
    gone = np.zeros(len(box), bool)
    for points, pose in after:
        ends = pose.apply(points)
        seen += crossed(box, pose.translation, ends, settings.resolution)
        insert_scan(voxels, points, pose, limits, None)
        gone |= (seen <= SCANS_TO_CLEAR) & ~occupied(voxels, box)
    judged = seen >= SCANS_TO_CLEAR
    share = 100.0 * float(np.mean(gone[judged])) if judged.any() else float("nan")
    detail = f"{int(judged.sum())} voxels that {SCANS_TO_CLEAR} scans or more looked through, of {len(box)}"
    name = f"insertion: removed obstacle gone within {SCANS_TO_CLEAR} scans that see it"
    return at_least(name, share, 100.0, "%", detail)


def surface_voxels(
    scans: Sequence[NDArray[np.float32]], poses: Sequence[SE3], max_range_m: float, z_max: float, least: int
) -> Keys:
    """Keys (N, 3) of the voxels that the points of at least `least` scans lie in, from the points alone."""
    hit = []
    for points, pose in zip(scans, poses, strict=True):
        near = pose.apply(points[np.linalg.norm(points, axis=1) < max_range_m])
        hit.append(np.unique(np.floor(near[near[:, 2] < z_max] / 0.05).astype(np.int64), axis=0))
    keys, counts = np.unique(np.concatenate(hit), axis=0, return_counts=True)
    return np.asarray(keys[counts >= least])


def occupied(voxels: VoxelMap, keys: Keys) -> NDArray[np.bool_]:
    """Which of the keys (N, 3) the map holds occupied."""
    least = voxels.settings.occupied_from
    return np.array([voxels.voxel((int(x), int(y), int(z))) >= least for x, y, z in keys], bool)


def inside(key: Keys, box: NDArray[np.float64], resolution: float) -> bool:
    """Whether a voxel's middle lies in a box grown by half a voxel, above the floor's own layer."""
    middle = (key + 0.5) * resolution
    return bool(((middle > box[0] - resolution / 2) & (middle < box[1] + resolution / 2)).all() and key[2] >= 0)


def crossed(keys: Keys, origin: NDArray[np.float64], ends: NDArray[np.float64], resolution: float) -> NDArray[np.bool_]:
    """Which voxels (N, 3) some ray from `origin` to an end (M, 3) runs right through, by the slab test."""
    direction = ends - origin
    direction = np.where(np.abs(direction) < 1e-12, 1e-12, direction)
    out = np.zeros(len(keys), bool)
    for n, key in enumerate(keys):
        a = (key * resolution - origin) / direction
        b = ((key + 1) * resolution - origin) / direction
        enter, leave = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
        out[n] = bool(((enter < leave) & (enter > 0.0) & (leave < 1.0)).any())
    return out
