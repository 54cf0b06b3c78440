"""Camera-to-world poses of RGB-D folders, as the common data sets write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnav_bench.foreign.faults import UnreadableFile
from mnav_core.geometry import SE3

_LISTS = ("poses.txt", "traj.txt", "trajectory.txt", "traj_w_c.txt")
_STAMPED = ("groundtruth.txt", "trajectory.txt", "poses.txt", "camtrajectory.txt", "pose.txt", "keyframetrajectory.txt")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Poses of the optical frame in the world: by position of the frame, by the numbers in its name, or by stamp."""

    by_index: dict[int, SE3] = field(default_factory=dict)
    by_numbers: dict[tuple[int, ...], SE3] = field(default_factory=dict)
    stamped: tuple[tuple[float, SE3], ...] = ()

    def at_stamp(self, stamp: float, within_s: float = 0.1) -> SE3 | None:
        """The pose interpolated at a stamp, None farther than `within_s` from every sample."""
        if not self.stamped:
            return None
        stamps = np.array([s for s, _ in self.stamped])
        k = int(np.searchsorted(stamps, stamp))
        near = min((abs(stamps[i] - stamp) for i in (k - 1, k) if 0 <= i < len(stamps)), default=np.inf)
        if near > within_s:
            return None
        if k == 0 or k == len(stamps):
            return self.stamped[min(k, len(stamps) - 1)][1]
        fraction = (stamp - stamps[k - 1]) / max(stamps[k] - stamps[k - 1], 1e-9)
        return self.stamped[k - 1][1].interpolate(self.stamped[k][1], float(fraction))


def find_trajectory(folder: Path, frames: int) -> Trajectory | None:
    """The poses of a folder of `frames` frames, None where no file tells any. Raises UnreadableFile."""
    files = {file.name.lower(): file for file in sorted(folder.iterdir()) if file.is_file()}
    for name, file in files.items():
        if file.suffix == ".log" and ("traj" in name or "pose" in name):
            return _of_log(file)
    for name, file in files.items():
        if name in _STAMPED or name in _LISTS:
            numbers = _table(file)
            if numbers.shape[1] == 8:
                return _of_stamped(numbers)
            if numbers.shape[1] in (12, 16):
                return Trajectory(_of_rows(numbers))
            if numbers.shape[1] == 4 and len(numbers) % 4 == 0:
                return Trajectory(_of_rows(numbers.reshape(-1, 16)))
    return _of_folder(folder, frames)


def _of_log(file: Path) -> Trajectory:
    """Open3D and Redwood: a line of three indices, then four rows of the matrix."""
    rows = [line.split() for line in file.read_text(errors="replace").splitlines() if line.strip()]
    if len(rows) % 5:
        raise UnreadableFile(file, f"{len(rows)} lines, allowed: five a pose")
    poses: dict[int, SE3] = {}
    for k in range(0, len(rows), 5):
        try:
            index = int(rows[k][0])
            matrix = np.array([[float(word) for word in row] for row in rows[k + 1 : k + 5]])
        except (ValueError, IndexError) as error:
            raise UnreadableFile(file, f"pose at line {k + 1}: {error}") from error
        if matrix.shape != (4, 4):
            raise UnreadableFile(file, f"pose at line {k + 1}: matrix {matrix.shape}, allowed: four rows of four")
        if is_pose(matrix):
            poses[index] = SE3.from_matrix(matrix)
    return Trajectory(poses)


def _table(file: Path) -> NDArray[np.float64]:
    lines = [line.split("#", 1)[0].replace(",", " ").split() for line in file.read_text(errors="replace").splitlines()]
    rows = [line for line in lines if line]
    if not rows or len({len(row) for row in rows}) != 1:
        raise UnreadableFile(file, "rows of different length, allowed: one pose a row")
    try:
        return np.array([[float(word) for word in row] for row in rows])
    except ValueError as error:
        raise UnreadableFile(file, str(error)) from error


def _of_stamped(numbers: NDArray[np.float64]) -> Trajectory:
    """TUM: stamp, translation, quaternion x y z w."""
    poses = [
        (float(row[0]), SE3.from_quaternion(row[1:4], row[4:8]))
        for row in numbers
        if np.isfinite(row).all() and float(np.linalg.norm(row[4:8])) > 1e-6
    ]
    return Trajectory(stamped=tuple(sorted(poses, key=lambda pose: pose[0])))


def _of_rows(numbers: NDArray[np.float64]) -> dict[int, SE3]:
    """One matrix a row, three or four rows of it; rows that are no pose are left out."""
    matrices = [np.vstack([row[:12].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]]) for row in numbers]
    return {k: SE3.from_matrix(m) for k, m in enumerate(matrices) if is_pose(m)}


def _of_folder(folder: Path, frames: int) -> Trajectory | None:
    """ScanNet and 7-Scenes: one matrix a file, in `pose/` or beside the images."""
    for place in (folder / "pose", folder / "poses", folder):
        files = sorted((f for f in place.glob("*.txt") if place != folder or ".pose." in f.name), key=numbers_in)
        if not files or (place == folder and len(files) < min(frames, 2)):
            continue
        poses = {}
        for file in files:
            numbers = _table(file)
            if numbers.shape == (4, 4) and is_pose(numbers):
                poses[numbers_in(file)] = SE3.from_matrix(numbers)
        return Trajectory(by_numbers=poses)
    return None


def is_pose(matrix: NDArray[np.float64]) -> bool:
    """Whether a matrix (4, 4) is finite and its rotation is one."""
    rotation = matrix[:3, :3]
    return bool(
        np.isfinite(matrix).all()
        and np.allclose(rotation @ rotation.T, np.eye(3), atol=2e-2)
        and np.linalg.det(rotation) > 0.0
    )


def numbers_in(file: Path) -> tuple[int, ...]:
    """The whole numbers in a file's name, so that 10 comes after 9 and frames of two folders can be matched."""
    return tuple(int(word) for word in re.findall(r"\d+", file.stem))
