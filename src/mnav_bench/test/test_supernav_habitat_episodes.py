"""Object-goal files as HM3D and OVON write them, made by hand here in their published form."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from mnav_bench.supernav.habitat_episodes import read_habitat_episodes
from mnav_core.errors import UsageError

SCENE = "hm3d_v0.2/val/00800-TEEsavR23oF/TEEsavR23oF.basis.glb"


def quaternion(yaw: float) -> list[float]:
    """A turn about y, as Habitat writes it: x, y, z, w."""
    return [0.0, math.sin(yaw / 2.0), 0.0, math.cos(yaw / 2.0)]


def goal(x: float, y: float, z: float, views: list[list[float]]) -> dict[str, Any]:
    states = [{"agent_state": {"position": v, "rotation": quaternion(0.0)}, "iou": 0.2} for v in views]
    return {"position": [x, y, z], "object_id": 21, "object_name": "chair_21", "view_points": states}


def episode(**changed: Any) -> dict[str, Any]:
    entry = {
        "episode_id": "7",
        "scene_id": SCENE,
        "start_position": [1.0, 0.1, -2.0],
        "start_rotation": quaternion(0.0),
        "object_category": "chair",
        "goals": [],
        "info": {"geodesic_distance": 5.25, "euclidean_distance": 4.0},
    }
    return {**entry, **changed}


def hm3d() -> dict[str, Any]:
    goals = {"TEEsavR23oF.basis.glb_chair": [goal(3.0, 0.5, 4.0, [[3.0, 0.1, 5.0], [2.0, 0.1, 4.0]])]}
    return {"episodes": [episode()], "goals_by_category": goals, "category_to_task_category_id": {"chair": 0}}


def written(folder: Path, data: Any, packed: bool = False) -> Path:
    text = json.dumps(data)
    file = folder / ("episodes.json.gz" if packed else "episodes.json")
    if packed:
        with gzip.open(file, "wt") as stream:
            stream.write(text)
    else:
        file.write_text(text)
    return file


@pytest.mark.parametrize("packed", [False, True])
def test_y_up_becomes_z_up_and_goals_come_from_their_category(tmp_path: Path, packed: bool) -> None:
    (found,) = read_habitat_episodes(written(tmp_path, hm3d(), packed))
    assert (found.id, found.category, found.geodesic_m) == ("7", "chair", 5.25)
    assert (found.start.x, found.start.y, found.start_height) == (1.0, 2.0, 0.1)
    assert found.viewpoints == ((3.0, -5.0), (2.0, -4.0))
    assert found.goals[0].position == (3.0, -4.0, 0.5)


@pytest.mark.parametrize(
    ("turn", "yaw"),
    [(0.0, math.pi / 2), (math.pi / 2, math.pi), (-math.pi / 2, 0.0), (math.pi, -math.pi / 2)],
)
def test_an_agent_looks_along_minus_z(tmp_path: Path, turn: float, yaw: float) -> None:
    data = hm3d()
    data["episodes"] = [episode(start_rotation=quaternion(turn))]
    (found,) = read_habitat_episodes(written(tmp_path, data))
    assert math.remainder(found.start.yaw - yaw, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_goals_of_the_episode_itself_come_first_and_plain_viewpoints_are_read(tmp_path: Path) -> None:
    own = {"position": [0.0, 0.0, 0.0], "view_points": [{"position": [1.0, 0.0, 1.0]}]}
    data = {"episodes": [episode(goals=[own], children_object_categories=["stool"])]}
    (found,) = read_habitat_episodes(written(tmp_path, data))
    assert found.viewpoints == ((1.0, -1.0),)


def test_a_length_that_is_none_is_no_length(tmp_path: Path) -> None:
    data = hm3d()
    data["episodes"] = [episode(info={"geodesic_distance": float("inf")}), episode(info=None)]
    assert [e.geodesic_m for e in read_habitat_episodes(written(tmp_path, data))] == [None, None]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start_position": [1.0, 2.0]}, r"start_position is .*three finite numbers"),
        ({"start_position": [1.0, float("nan"), 2.0]}, "three finite numbers"),
        ({"start_rotation": [0, 0, 0, 0]}, "a quaternion"),
        ({"object_category": "sofa"}, "goals_by_category.TEEsavR23oF.basis.glb_sofa"),
        ({"goals": [{"view_points": []}]}, "position is missing"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    data = {**hm3d(), "episodes": [episode(**change)]}
    with pytest.raises(UsageError, match=message):
        read_habitat_episodes(written(tmp_path, data))


def test_files_that_are_something_else(tmp_path: Path) -> None:
    for data, message in (([], "no list `episodes`"), ({"episodes": [3]}, "episodes.0 is int")):
        with pytest.raises(UsageError, match=message):
            read_habitat_episodes(written(tmp_path, data))
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(b"{" * 1000)[:40])
    with pytest.raises(UsageError, match=r"cut.json.gz"):
        read_habitat_episodes(cut)
    with pytest.raises(UsageError, match="No such file"):
        read_habitat_episodes(tmp_path / "none.json")
