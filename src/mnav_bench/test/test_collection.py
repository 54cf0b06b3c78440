"""What is collected of a door that opens, read back from HDF5 and from the LeRobot layout."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from mnav_bench.collection.hdf5_file import write_hdf5
from mnav_bench.collection.lerobot import LeRobotDataset
from mnav_bench.collection.observing import Observer
from mnav_bench.collection.records import FPS, HEIGHT, WIDTH, ActionKind, Trajectory
from mnav_cli.main import main
from mnav_core.geometry import SE2
from mnav_core.interaction import InteractionGoal, Operation
from mnav_core.motion import STOP, RobotCommand, Velocity
from mnav_core.robot import find_robot
from mnav_core.sensing import SensorRequest, ViewRequest
from mnav_sim_bridge.testing.scenes import Leaf, one_room
from mnav_sim_bridge.world import make_world

HINGE = (3.0, 1.58)
ON_LEAF = (2.98, 2.2, 1.0)
NAMES = ["x", "y", "yaw", "kind", "hand", "hand_x", "hand_y", "hand_z", "hand_qx", "hand_qy", "hand_qz", "hand_qw"]


@pytest.fixture(scope="module")
def trajectory() -> Trajectory:
    """A second of driving back, then a door that is opened."""
    leaf = Leaf("door_1", HINGE, yaw=math.pi / 2, travel=1.57)
    world = make_world(one_room(8, 4, leaves=(leaf,)), {"a": (find_robot("cobot_magic"), SE2(1.8, 2.0, 0.0))})
    made = Trajectory("e-1", "find the egg", tuple(world.articulation.joints()), (160.0, 160.0, 160.0, 120.0), {"x": 1})
    observer = Observer(world, "a", made)
    try:
        observer.open()
        first = world.sense("a", SensorRequest(views=(ViewRequest("front", WIDTH, HEIGHT),))).images[0]
        assert np.array_equal(made.frames[0].head, first.rgb) and np.array_equal(made.frames[0].depth, first.depth)
        goal = InteractionGoal(1, Operation.OPEN, ON_LEAF, "front")
        for tick in range(200):
            velocity = Velocity(-0.2, 0.0, 0.0) if tick < 10 else STOP
            world.step({"a": RobotCommand(velocity, 0.2, goal if tick == 20 else None)})
            observer.tick(world.time_s)
            if world.sense("a", SensorRequest()).interactions:
                break
        observer.end()
    finally:
        observer.close()
        world.close()
    made.row = {"success": True}
    return made


@pytest.mark.sim
def test_the_hand_follows_the_handle_while_the_leaf_moves(trajectory: Trajectory) -> None:
    times = [frame.time_s for frame in trajectory.frames]
    assert np.allclose(np.diff(times[:-1]), 1.0 / FPS, atol=0.051) and trajectory.frames[-1].kind is ActionKind.STOP
    targets, active = trajectory.targets()
    kinds = [frame.kind for frame in trajectory.frames]
    assert [k is ActionKind.INTERACT for k in kinds] == active.tolist() and 3 <= active.sum() < len(active)
    fractions = np.array([frame.fractions[0] for frame in trajectory.frames])
    assert fractions[0] == pytest.approx(0.0, abs=0.01) and fractions[-1] > 0.95
    # On a circle about the hinge, turned as far as the leaf: 1.57 rad of travel.
    held = targets[active]
    radius = np.hypot(held[:, 0] - HINGE[0], held[:, 1] - HINGE[1])
    assert np.ptp(radius) < 1e-3 and np.ptp(held[:, 2]) < 1e-6 and radius[0] > 0.5
    yaw = np.unwrap(2.0 * np.arctan2(held[:, 5], held[:, 6]))
    assert abs(yaw[-1] - yaw[0]) == pytest.approx(1.57 * (fractions[active][-1] - fractions[active][0]), abs=0.02)
    assert abs(math.remainder(yaw[0], 2.0 * math.pi)) < 0.1, "towards the leaf, which the robot looks at along x"


@pytest.mark.sim
def test_hdf5_holds_what_was_recorded(trajectory: Trajectory, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    write_hdf5(tmp_path / "e-1.h5", trajectory)
    with h5py.File(tmp_path / "e-1.h5") as file:
        count = len(trajectory.frames)
        assert (file.attrs["episode_id"], bool(file.attrs["success"]), json.loads(file.attrs["episode"])) == (
            "e-1", True, {"x": 1},
        )  # fmt: skip
        for name in ("head", "external"):
            stored = file[f"observations/images/{name}"]
            assert stored.shape == (count, HEIGHT, WIDTH, 3) and stored.dtype == np.uint8
            assert np.array_equal(stored[-1], getattr(trajectory.frames[-1], name))
        depth = file["observations/depth/head"][0] / 1000.0
        assert np.abs(depth - trajectory.frames[0].depth).max() <= 0.00051
        pose, action = file["observations/base/pose"][:], file["actions/base"][:]
        assert np.array_equal(action[:-1], pose[1:]) and pose[0, 0] - pose[-1, 0] > 0.1
        assert np.array_equal(file["actions/end_effector/active"][:], trajectory.targets()[1])
        assert list(file["observations/articulation/open_fraction"].attrs["joints"]) == list(trajectory.joints)
        assert np.isnan(file["actions/end_effector/target"][0]).all()


@pytest.mark.sim
def test_the_lerobot_layout_reads_back(trajectory: Trajectory, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    dataset = LeRobotDataset(tmp_path, "cobot_magic")
    assert [dataset.add(trajectory), dataset.add(trajectory)] == [0, 1]
    dataset.close()
    info = json.loads((tmp_path / "meta" / "info.json").read_text())
    count = len(trajectory.frames)
    totals = {k: info[f"total_{k}"] for k in ("episodes", "frames", "tasks", "videos", "chunks")}
    assert totals == {"episodes": 2, "frames": 2 * count, "tasks": 1, "videos": 4, "chunks": 1}
    assert (info["codebase_version"], info["fps"], info["splits"]) == ("v2.1", FPS, {"train": "0:2"})
    assert info["features"]["action"]["names"] == NAMES
    table = parquet.read_table(tmp_path / info["data_path"].format(episode_chunk=0, episode_index=1)).to_pydict()
    assert set(table) == {name for name, f in info["features"].items() if f["dtype"] != "video"}
    assert table["index"] == list(range(count, 2 * count)) and set(table["episode_index"]) == {1}
    assert np.allclose(np.array(table["action"])[:-1, :3], [f.base for f in trajectory.frames[1:]], atol=1e-5)
    assert np.allclose(np.diff(table["timestamp"]), 1.0 / FPS, atol=1e-5)
    lines = [json.loads(line) for line in (tmp_path / "meta" / "episodes_stats.jsonl").read_text().splitlines()]
    stats = lines[1]["stats"]["action"]
    assert stats["count"] == [count] and np.allclose(stats["max"], np.array(table["action"]).max(0), atol=1e-5)
    for key in ("observation.images.head", "observation.images.external"):
        assert np.shape(lines[0]["stats"][key]["mean"]) == (3, 1, 1)
        video = cv2.VideoCapture(
            str(tmp_path / info["video_path"].format(episode_chunk=0, video_key=key, episode_index=0))
        )
        shown = [video.read() for _ in range(count + 1)]
        video.release()
        assert [ok for ok, _ in shown] == [True] * count + [False]
        images = [getattr(f, key.rsplit(".", 1)[1]) for f in trajectory.frames]
        gaps = [np.abs(seen[..., ::-1].astype(int) - image).mean() for (_, seen), image in zip(shown, images)]
        assert max(gaps) < 12.0, "as the frames were, up to compression"


def test_without_the_extra_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert main(["collect", "multinav", "--episodes", str(tmp_path / "e.json"), "--out", str(tmp_path / "out")]) == 2
    assert "pip install h5py pyarrow" in capsys.readouterr().err and not (tmp_path / "out").exists()
