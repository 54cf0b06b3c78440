"""The LeRobot dataset layout, version 2.1: `meta`, one Parquet file and one video a view for each episode."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mnav_bench.collection.extras import extra
from mnav_bench.collection.records import FPS, HEIGHT, WIDTH, ActionKind, Trajectory
from mnav_core.geometry import Array

VERSION = "v2.1"
CHUNK = 1000
DATA_PATH = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
VIDEO_PATH = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
VIEWS = {"observation.images.head": "head", "observation.images.external": "external"}
STATE = ("x", "y", "yaw", "vx", "vy", "wz", "head_pitch")
ACTION = ("x", "y", "yaw", "kind", "hand", "hand_x", "hand_y", "hand_z", "hand_qx", "hand_qy", "hand_qz", "hand_qw")
SCALARS = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
STAT_PIXEL_STEP, STAT_FRAMES = 4, 50


class LeRobotDataset:
    """Adds episodes one after the other; `close` writes what is known only at the end.

    The open fractions differ in number from house to house, so they are in the HDF5 files alone.
    """

    def __init__(self, folder: Path, robot: str) -> None:
        self._folder = folder
        self._robot = robot
        self._tasks: dict[str, int] = {}
        self._episodes: list[dict[str, Any]] = []
        self._stats: list[dict[str, Any]] = []
        self._frames = 0

    def add(self, trajectory: Trajectory) -> int:
        """Write one episode; its index. Raises UsageError where pyarrow is missing, OSError for a video or file."""
        index, length = len(self._episodes), len(trajectory.frames)
        task = self._tasks.setdefault(trajectory.task, len(self._tasks))
        columns: dict[str, Array] = {
            "observation.state": _state(trajectory),
            "action": _action(trajectory),
            "timestamp": np.arange(length) / FPS,
            "frame_index": np.arange(length, dtype=float),
            "episode_index": np.full(length, float(index)),
            "index": np.arange(self._frames, self._frames + length, dtype=float),
            "task_index": np.full(length, float(task)),
        }
        place = {"episode_chunk": index // CHUNK, "episode_index": index}
        _write_parquet(self._folder / DATA_PATH.format(**place), columns)
        stats = {name: _stats(values.reshape(length, -1).astype(float)) for name, values in columns.items()}
        for key, view in VIEWS.items():
            images = [getattr(frame, view) for frame in trajectory.frames]
            _write_video(self._folder / VIDEO_PATH.format(video_key=key, **place), images)
            stats[key] = _image_stats(images)
        self._episodes.append({"episode_index": index, "tasks": [trajectory.task], "length": length})
        self._stats.append({"episode_index": index, "stats": stats})
        self._frames += length
        return index

    def close(self) -> None:
        """Write `meta`."""
        meta = self._folder / "meta"
        meta.mkdir(parents=True, exist_ok=True)
        tasks = [{"task_index": index, "task": task} for task, index in self._tasks.items()]
        for name, lines in (("tasks", tasks), ("episodes", self._episodes), ("episodes_stats", self._stats)):
            (meta / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (meta / "info.json").write_text(json.dumps(self._info(), indent=4) + "\n")

    def _info(self) -> dict[str, Any]:
        count = len(self._episodes)
        return {
            "codebase_version": VERSION,
            "robot_type": self._robot,
            "total_episodes": count,
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "total_videos": count * len(VIEWS),
            "total_chunks": (count + CHUNK - 1) // CHUNK,
            "chunks_size": CHUNK,
            "fps": FPS,
            "splits": {"train": f"0:{count}"},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH,
            "features": _features(),
        }


def _features() -> dict[str, Any]:
    vectors = {"observation.state": STATE, "action": ACTION}
    video = {
        "video.fps": FPS,
        "video.height": HEIGHT,
        "video.width": WIDTH,
        "video.channels": 3,
        "video.codec": "mpeg4",
        "video.pix_fmt": "yuv420p",
        "video.is_depth_map": False,
        "has_audio": False,
    }
    return {
        **{k: {"dtype": "float32", "shape": [len(names)], "names": list(names)} for k, names in vectors.items()},
        **{
            key: {
                "dtype": "video",
                "shape": [HEIGHT, WIDTH, 3],
                "names": ["height", "width", "channels"],
                "info": video,
            }
            for key in VIEWS
        },
        **{name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in SCALARS.items()},
    }


def _state(trajectory: Trajectory) -> Array:
    return np.array([(*f.base, *f.velocity, f.pitch) for f in trajectory.frames], float)


def _action(trajectory: Trajectory) -> Array:
    """Absolute base pose, kind, whether the hand has a target, and the target; zeros and no turn without one."""
    targets, active = trajectory.targets()
    rest = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    hand = np.where(active[:, None], np.nan_to_num(targets), rest)
    kinds = np.array([frame.kind.value for frame in trajectory.frames], float)
    assert max(kind.value for kind in ActionKind) >= kinds.max()
    return np.column_stack([trajectory.base_actions(), kinds, active.astype(float), hand])


def _write_parquet(file: Path, columns: Mapping[str, Array]) -> None:
    pa, parquet = extra("pyarrow"), extra("pyarrow.parquet")
    file.parent.mkdir(parents=True, exist_ok=True)
    arrays = {}
    for name, values in columns.items():
        if values.ndim == 2:
            flat = pa.array(values.astype(np.float32).ravel(), pa.float32())
            arrays[name] = pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
        else:
            arrays[name] = pa.array(values.astype(SCALARS[name]))
    parquet.write_table(pa.table(arrays), file)


def _write_video(file: Path, images: list[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"mp4v"), FPS, (WIDTH, HEIGHT))
    if not writer.isOpened():
        raise OSError(f"{file}: this build of OpenCV writes no MPEG-4")
    for image in images:
        writer.write(np.ascontiguousarray(image[..., ::-1]))
    writer.release()


def _stats(values: Array) -> dict[str, list[Any]]:
    return {
        "min": values.min(0).tolist(),
        "max": values.max(0).tolist(),
        "mean": values.mean(0).tolist(),
        "std": values.std(0).tolist(),
        "count": [len(values)],
    }


def _image_stats(images: list[Any]) -> dict[str, list[Any]]:
    """Of some frames and pixels, as shares of full brightness, a channel each: (3, 1, 1)."""
    chosen = images[:: max(1, len(images) // STAT_FRAMES)]
    step = STAT_PIXEL_STEP
    pixels = np.concatenate([i[::step, ::step].reshape(-1, 3) for i in chosen]).astype(float) / 255.0
    made = {k: [[[v]] for v in getattr(pixels, k)(0).tolist()] for k in ("min", "max", "mean", "std")}
    return {**made, "count": [len(chosen)]}
