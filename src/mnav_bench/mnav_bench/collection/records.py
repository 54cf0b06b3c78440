"""What is recorded of an episode, on one clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import Array

FPS = 5
WIDTH, HEIGHT = 320, 240


class ActionKind(Enum):
    """What the robot is doing until the next frame."""

    BASE = 0
    INTERACT = 1
    STOP = 2


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment: images (H, W, 3) uint8, depth (H, W) float32 m, camera pose (4, 4) in `map`, base pose x, y, yaw in
    `map` and velocity in the base frame, head pitch, open fraction of every joint (J,), and the 6-D target of the end
    effector at the handle: x, y, z, qx, qy, qz, qw in `map`, None while nothing is worked on.
    """

    time_s: float
    head: NDArray[np.uint8]
    external: NDArray[np.uint8]
    depth: NDArray[np.float32]
    head_in_map: Array
    base: tuple[float, float, float]
    velocity: tuple[float, float, float]
    pitch: float
    fractions: Array
    target: tuple[float, ...] | None
    attempt: int
    kind: ActionKind


@dataclass
class Trajectory:
    """The frames of one episode, what it was, and its row of the suite."""

    episode_id: str
    task: str
    joints: tuple[str, ...]
    intrinsics: tuple[float, float, float, float]
    episode: Mapping[str, Any]
    frames: list[Frame] = field(default_factory=list)
    row: dict[str, Any] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        """Whether the run satisfied the terminal rule."""
        return bool(self.row.get("success"))

    def base_actions(self) -> Array:
        """(T, 3) absolute base pose of the next frame, the last one's own: what the base was made to do."""
        poses = np.array([frame.base for frame in self.frames], float)
        return np.concatenate([poses[1:], poses[-1:]])

    def targets(self) -> tuple[Array, NDArray[np.bool_]]:
        """(T, 7) end-effector targets, NaN where there is none, and (T,) where there is one."""
        none = (float("nan"),) * 7
        values = np.array([frame.target or none for frame in self.frames], float)
        return values, np.array([frame.target is not None for frame in self.frames])
