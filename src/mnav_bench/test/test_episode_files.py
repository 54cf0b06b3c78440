"""Episode files: what is refused, and how it is said."""

import json
from pathlib import Path

import pytest

from mnav_bench.episodes import EpisodeFile, read_episodes, write_episodes
from mnav_core.errors import UsageError

EPISODE = {
    "id": "navtoobj-1-0000",
    "house_seed": 5,
    "house_sub_seed": 0,
    "house_rooms": 6,
    "scene_hash": "abc",
    "robot": "cobot_magic",
    "success_view": "front",
    "start": {"x": 1.0, "y": 2.0, "yaw": 0.5},
    "category": "mug",
    "target_ids": ["mug_1"],
    "start_room": "kitchen",
    "target_room": "bedroom",
    "visible_from_start": False,
    "reference": {
        "length_m": 7.5,
        "waypoints": [[1.0, 2.0], [3.0, 4.0]],
        "pose": {"x": 3.0, "y": 4.0, "yaw": 0.0},
        "camera_pitch": 0.3,
        "object_id": "mug_1",
        "object_position": [3.8, 4.0, 0.9],
    },
}
FILE = {
    "format": "mnav_episodes_v1",
    "suite": "navtoobj",
    "generator_version": "1.0",
    "seed": 1,
    "robot": "cobot_magic",
    "distance_m": 1.5,
    "budget_s": 400.0,
    "episodes": [EPISODE],
}


def test_a_file_survives_the_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "sub" / "episodes.json"
    suite = EpisodeFile.model_validate(FILE)
    write_episodes(file, suite)
    assert read_episodes(file) == suite


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"episodes": []}, "episodes = []"),
        ({"format": "v9"}, "format = 'v9'"),
        ({"budget_s": -1}, "budget_s = -1"),
        ({"seed": None}, "seed = None"),
        ({"colour": 1}, "colour = 1"),
        ({"episodes": [EPISODE, EPISODE]}, "stands twice"),
        ({"episodes": [{**EPISODE, "target_ids": []}]}, "episodes.0.target_ids"),
        ({"episodes": [{**EPISODE, "start": {"x": "here", "y": 0, "yaw": 0}}]}, "episodes.0.start.x = 'here'"),
        ({"episodes": [{**EPISODE, "start": {"x": 1e999, "y": 0, "yaw": 0}}]}, "episodes.0.start.x"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, change: dict[str, object], said: str) -> None:
    file = tmp_path / "episodes.json"
    file.write_text(json.dumps({**FILE, **change}))
    with pytest.raises(UsageError) as caught:
        read_episodes(file)
    assert said in str(caught.value) and str(file) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[1, 2", '{"a": ', "\x00\x01", "[" * 100_000], ids=range(6))
def test_a_corrupt_file_is_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "episodes.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="not JSON"):
        read_episodes(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.json: No such file"):
        read_episodes(tmp_path / "nowhere.json")
