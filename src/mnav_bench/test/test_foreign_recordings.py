"""RGB-D folders of the common layouts, rendered from a known room; what the map keeps of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from mnav_bench.figures.rows import RowOutcome
from mnav_bench.foreign.faults import UnreadableFile
from mnav_bench.foreign.fusion import View, fuse, upright
from mnav_bench.foreign.intrinsics import find_intrinsics
from mnav_bench.foreign.recording_checks import check_recording
from mnav_bench.foreign.rgbd import BrokenFrame, frames, open_rgbd
from mnav_core.geometry import SE3
from mnav_core.sensing import RgbdImage

WIDTH, HEIGHT, FOCAL, CX, CY = 80, 60, 70.0, 39.5, 29.5
# Three places from which the camera (x right, y down, z forward) looks at the corner of a room 2 m away, y down.
POSES = [SE3(np.eye(3), np.array([0.1 * k, 0.0, 0.02 * k])) for k in range(3)]


def depth_of(pose: SE3) -> NDArray[np.float32]:
    """Depth of a wall at z = 2.53 and a floor at y = 0.88 of the world, by hand: integer pixels are centres."""
    v, _ = np.mgrid[0:HEIGHT, 0:WIDTH]
    down = (v - CY) / FOCAL
    wall = np.full((HEIGHT, WIDTH), 2.53 - pose.translation[2])
    floor = np.where(down > 1e-9, 0.88 / np.maximum(down, 1e-9), np.inf)
    return np.minimum(wall, floor).astype(np.float32)


def write_images(folder: Path, units: float = 1000.0, names: Sequence[str] = ("0", "1", "2")) -> None:
    for part in ("depth", "color"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for name, pose in zip(names, POSES, strict=True):
        raw = np.round(depth_of(pose) * units).astype(np.uint16)
        raw[0, 0] = 0
        raw[0, 1] = 65535
        cv2.imwrite(str(folder / "depth" / f"{name}.png"), raw)
        rgb = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        rgb[..., 2] = 200  # red, as OpenCV writes it
        cv2.imwrite(str(folder / "color" / f"{name}.png"), rgb)


def write_camera(folder: Path) -> None:
    matrix = [FOCAL, 0, 0, 0, FOCAL, 0, CX, CY, 1]
    (folder / "camera.json").write_text(json.dumps({"width": WIDTH, "height": HEIGHT, "intrinsic_matrix": matrix}))


def log_of(poses: Sequence[SE3]) -> str:
    return "".join(
        f"{k} {k} {k + 1}\n" + "\n".join(" ".join(map(str, row)) for row in pose.matrix()) + "\n"
        for k, pose in enumerate(poses)
    )


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    write_images(tmp_path)
    write_camera(tmp_path)
    (tmp_path / "trajectory.log").write_text(log_of(POSES))
    return tmp_path


def read(folder: Path) -> list[RgbdImage]:
    found = list(frames(open_rgbd(folder)))
    assert all(isinstance(frame, RgbdImage) for frame in found)
    return [frame for frame in found if isinstance(frame, RgbdImage)]


def wall_error(frame: RgbdImage) -> float:
    """Largest distance of the upper half's points from the wall."""
    points = frame.camera_in_map.apply(frame.camera.depth_to_points(frame.depth[: HEIGHT // 2]))
    return float(np.abs(points[:, 2] - 2.53).max())


def test_open3d_layout_with_its_column_major_matrix(recording: Path) -> None:
    found = read(recording)
    assert len(found) == 3
    assert found[0].depth[0, 0] == 0.0 and found[0].depth[0, 1] == 0.0
    assert found[0].rgb[5, 5].tolist() == [200, 0, 0]
    # Their pixel centres lie on whole numbers, ours half a pixel further.
    assert (found[0].camera.cx, found[0].camera.cy) == (40.0, 30.0)
    assert max(map(wall_error, found)) < 1e-3


def test_it_is_fused_and_kept(recording: Path) -> None:
    rows = check_recording("made", open_rgbd(recording))
    assert [row.outcome for row in rows] == [RowOutcome.PASS, RowOutcome.PASS]


def test_tum_layout_with_stamps_and_its_own_unit(tmp_path: Path) -> None:
    write_images(tmp_path, 5000.0, ("100.05", "100.15", "100.25"))
    (tmp_path / "depth.txt").write_text("# depth maps\n")
    lines = ["# timestamp tx ty tz qx qy qz qw"]
    for k, pose in enumerate(POSES):
        lines.append(f"{100.05 + 0.1 * k:.4f} {pose.translation[0]} 0 {pose.translation[2]} 0 0 0 1")
    (tmp_path / "groundtruth.txt").write_text("\n".join(lines))
    (tmp_path / "intrinsics.txt").write_text(f"{FOCAL} 0 {CX}\n0 {FOCAL} {CY}\n0 0 1\n")
    found = read(tmp_path)
    assert found[2].camera_in_map.translation[0] == pytest.approx(0.2)
    assert max(map(wall_error, found)) < 1e-3


def test_one_pose_a_file_and_a_broken_one_left_out(tmp_path: Path) -> None:
    write_images(tmp_path, names=("8", "9", "10"))
    (tmp_path / "pose").mkdir()
    for name, pose in zip(("8", "9", "10"), POSES, strict=True):
        np.savetxt(tmp_path / "pose" / f"{name}.txt", pose.matrix())
    (tmp_path / "pose" / "9.txt").write_text("-inf -inf -inf -inf\n" * 4)
    (tmp_path / "intrinsic").mkdir()
    matrix = np.diag([FOCAL, FOCAL, 1.0, 1.0])
    matrix[:2, 2] = CX, CY
    np.savetxt(tmp_path / "intrinsic" / "intrinsic_depth.txt", matrix)
    found = list(frames(open_rgbd(tmp_path)))
    assert isinstance(found[1], BrokenFrame) and found[1].reason == "no valid pose"
    # 10 comes after 9, not after 1.
    assert isinstance(found[2], RgbdImage) and found[2].camera_in_map.translation[0] == pytest.approx(0.2)


def test_all_in_one_folder_with_rows_of_poses(tmp_path: Path) -> None:
    for k, pose in enumerate(POSES):
        cv2.imwrite(str(tmp_path / f"frame{k:03d}.depth.png"), np.round(depth_of(pose) * 1000).astype(np.uint16))
        cv2.imwrite(str(tmp_path / f"frame{k:03d}.color.jpg"), np.zeros((HEIGHT * 2, WIDTH * 2, 3), np.uint8))
    (tmp_path / "traj.txt").write_text("\n".join(" ".join(map(str, p.matrix().ravel())) for p in POSES))
    (tmp_path / "cam_params.yaml").write_text(f"%YAML:1.0\ncamera: {{fx: {FOCAL}, fy: {FOCAL}, cx: {CX}, cy: {CY}}}\n")
    found = read(tmp_path)
    assert found[0].rgb.shape == (HEIGHT, WIDTH, 3)
    assert max(map(wall_error, found)) < 1e-3


def test_missing_intrinsics_are_taken_and_said(recording: Path) -> None:
    (recording / "camera.json").unlink()
    opened = open_rgbd(recording)
    assert any("no intrinsics" in w for w in opened.warnings)
    assert opened.intrinsics.camera(320, 240).fx == pytest.approx(262.5)


def test_intrinsics_of_a_larger_image_are_scaled(tmp_path: Path) -> None:
    (tmp_path / "camera.json").write_text(
        json.dumps({"fx": 140, "fy": 140, "cx": 79.5, "cy": 59.5, "width": 160, "height": 120})
    )
    camera = find_intrinsics(tmp_path).camera(WIDTH, HEIGHT)
    assert (camera.fx, camera.cx, camera.cy) == (70.0, 40.0, 30.0)


def test_missing_poses_fuse_each_frame_alone(recording: Path) -> None:
    (recording / "trajectory.log").unlink()
    opened = open_rgbd(recording)
    assert any("no poses" in w for w in opened.warnings)
    rows = check_recording("alone", opened)
    assert [row.outcome for row in rows] == [RowOutcome.PASS, RowOutcome.PASS]


def test_a_frame_that_cannot_be_read_is_left_out_and_said(recording: Path) -> None:
    (recording / "depth" / "1.png").write_bytes(b"no image")
    rows = check_recording("made", open_rgbd(recording))
    assert rows[0].outcome is RowOutcome.PASS and "1 frames left out, first 1.png" in rows[0].detail


def test_without_a_usable_frame_there_is_one_unreadable_row(recording: Path) -> None:
    for file in (recording / "depth").iterdir():
        file.write_bytes(b"")
    (row,) = check_recording("made", open_rgbd(recording))
    assert row.outcome is RowOutcome.UNREADABLE and "no usable frame" in row.detail


def test_depth_in_floating_metres_with_nans(tmp_path: Path) -> None:
    (tmp_path / "depth").mkdir()
    depth = depth_of(POSES[0])
    depth[3, 3] = np.nan
    np.save(tmp_path / "depth" / "0.npy", depth)
    write_camera(tmp_path)
    (frame,) = read(tmp_path)
    assert frame.depth[3, 3] == 0.0 and wall_error(frame) < 1e-5


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("trajectory.log", "0 0 1\n1 0 0 0\n", "2 lines, allowed: five a pose"),
        ("trajectory.log", "0 0 1\n" + "1 0 x 0\n" * 4, "pose at line 1"),
        ("camera.json", "{", "not JSON"),
        ("camera.json", '{"fx": 0, "fy": 1, "cx": 1, "cy": 1}', "allowed: finite and above 0"),
        ("camera.json", '{"K": ["a", 0, 0, 0, 0, 0, 0, 0, 0]}', "allowed: numbers"),
    ],
)
def test_broken_side_files_are_named(recording: Path, name: str, text: str, said: str) -> None:
    (recording / name).write_text(text)
    with pytest.raises(UnreadableFile, match=f"{name}: .*{said}"):
        open_rgbd(recording)


def test_a_world_on_its_side_is_set_upright() -> None:
    """The recording's y axis points down; the map's z axis points up."""
    views = upright([View(np.zeros((1, 3), np.float32), pose) for pose in POSES])
    assert views[0].sensor.rotation @ np.array([0.0, -1.0, 0.0]) == pytest.approx([0.0, 0.0, 1.0])


def test_the_bounds_can_fail() -> None:
    """A wall that later frames look through is not kept."""
    rng = np.random.default_rng(0)
    near = np.column_stack([rng.uniform(-0.4, 0.4, 4000), rng.uniform(-0.4, 0.4, 4000), np.full(4000, 1.03)])
    far = near * 3.0
    views = [View(near.astype(np.float32), POSES[0])] + [View(far.astype(np.float32), POSES[0])] * 4
    kept = fuse(upright(views), 5.0, 0.3, 4.0)
    assert kept.near_percent < 98.0 and kept.kept_percent < 99.0
