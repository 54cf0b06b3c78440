"""One HDF5 file an episode: everything that was recorded, nothing resampled."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mnav_bench.collection.extras import extra
from mnav_bench.collection.records import FPS, ActionKind, Trajectory

FORMAT = "mnav_trajectory_v1"
MILLIMETRES = 1000.0


def write_hdf5(file: Path, trajectory: Trajectory) -> None:
    """Write a trajectory. Datasets have T rows; lengths in metres and radians, poses in `map`, depth in millimetres."""
    h5py = extra("h5py")
    frames = trajectory.frames
    file.parent.mkdir(parents=True, exist_ok=True)
    targets, active = trajectory.targets()
    with h5py.File(file, "w") as out:
        out.attrs.update(
            {
                "format": FORMAT,
                "episode_id": trajectory.episode_id,
                "task": trajectory.task,
                "success": trajectory.success,
                "fps": FPS,
                "episode": json.dumps(trajectory.episode),
                "row": json.dumps(trajectory.row),
            }
        )
        out["timestamp"] = np.array([f.time_s for f in frames])
        for name in ("head", "external"):
            images = np.stack([getattr(f, name) for f in frames])
            out.create_dataset(f"observations/images/{name}", data=images, chunks=(1, *images.shape[1:]),
                               compression="gzip", compression_opts=4)  # fmt: skip
        depth = np.stack([np.clip(np.rint(f.depth * MILLIMETRES), 0, 65535).astype(np.uint16) for f in frames])
        out.create_dataset("observations/depth/head", data=depth, chunks=(1, *depth.shape[1:]), compression="gzip")
        out["observations/camera/head_in_map"] = np.stack([f.head_in_map for f in frames])
        out["observations/camera/head_in_map"].attrs["intrinsics"] = np.array(trajectory.intrinsics)
        out["observations/base/pose"] = np.array([f.base for f in frames])
        out["observations/base/velocity"] = np.array([f.velocity for f in frames])
        out["observations/head_pitch"] = np.array([f.pitch for f in frames])
        out["observations/articulation/open_fraction"] = np.stack([f.fractions for f in frames])
        out["observations/articulation/open_fraction"].attrs["joints"] = list(trajectory.joints)
        out["actions/base"] = trajectory.base_actions()
        out["actions/kind"] = np.array([f.kind.value for f in frames], np.uint8)
        out["actions/kind"].attrs["names"] = [kind.name.lower() for kind in ActionKind]
        out["actions/attempt"] = np.array([f.attempt for f in frames], np.int32)
        out["actions/end_effector/target"] = targets
        out["actions/end_effector/active"] = active
