"""What a run looked like, in plain files and as a Rerun recording."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mnav_bench.supernav.rerun_view import to_rerun
from mnav_bench.supernav.run_recording import RunRecorder
from mnav_core.chat import ImagePart
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap, MapSnapshot
from mnav_core.requests import Observation
from mnav_models.images import ImageBudget, encode_image
from mnav_planner.supernav.choosers import Decision, Origin
from mnav_planner.supernav.replies import ToolReply


def image(view: str) -> ImagePart:
    rgb = np.full((24, 32, 3), 120, np.uint8)
    return encode_image(rgb, f"cap:0:1.000:{view}", view, ImageBudget(max_bytes=5000))


def observation(stamp_s: float, x: float) -> Observation:
    data = np.full((10, 20), -1, np.int8)
    data[2:8, 2:18] = 0
    data[5, 5] = 100
    grid = GridMap(stamp_s, 0.1, (-1.0, -0.5), data)
    return Observation(stamp_s, SE2(x, 0.0), 0.0, MapSnapshot(stamp_s, grid, grid, data == 0))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    recorder = RunRecorder(tmp_path / "run")
    recorder.begin({"task": "find the mug", "goals": ["find the mug"], "robot": "cobot_magic"})
    views = ToolReply("init_scene", {"panorama_images": [1]}, (image("front"), image("left")))
    recorder.note_step(Decision("init_scene"), views, 1.0)
    for tick in range(120):
        recorder.note_state(observation(1.0 + 0.1 * tick, 0.01 * tick))
    given = {"point": [0.5, 0.75], "image_ref": "cap:0:1.000:left"}
    reply = ToolReply("visual_point_navigate", {"status": "reached_visual_point"}, (image("front"),))
    recorder.note_step(Decision("visual_point_navigate", given, Origin.MODEL), reply, 9.0)
    recorder.end({"success": True})
    return tmp_path / "run"


def test_each_step_has_its_images_and_the_image_that_was_pointed_at(run: Path) -> None:
    steps = [json.loads(line) for line in (run / "steps.jsonl").read_text().splitlines()]
    assert [step["tool"] for step in steps] == ["init_scene", "visual_point_navigate"]
    assert steps[1]["chosen_on"] == "0000_left.jpg" and steps[1]["origin"] == "model"
    assert "panorama_images" not in steps[0]["reply"]
    assert {entry["file"] for step in steps for entry in step["images"]} == {
        "0000_front.jpg",
        "0000_left.jpg",
        "0001_front.jpg",
    }


def test_poses_and_maps_are_kept_now_and_then(run: Path) -> None:
    poses = (run / "poses.jsonl").read_text().splitlines()
    maps = (run / "maps.jsonl").read_text().splitlines()
    assert 20 <= len(poses) <= 26 and len(maps) == 3


def test_the_recording_of_rerun_is_written(run: Path) -> None:
    pytest.importorskip("rerun")
    assert to_rerun(run, run / "run.rrd") == 2
    assert (run / "run.rrd").stat().st_size > 2000


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    with pytest.raises(UsageError, match=r"no recording there"):
        to_rerun(tmp_path, tmp_path / "x.rrd")
