"""A folder of everything: each thing is found, broken and unknown ones are one row, nothing ends the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnav_bench.figures.rows import RowOutcome, verdict_code
from mnav_bench.foreign.discovery import ItemKind, discover
from mnav_bench.foreign.run import run_data
from mnav_core.errors import UsageError
from mnav_core.robot import find_robot


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "a.yaml").write_text("image: a.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n")
    (tmp_path / "maps" / "a.pgm").write_bytes(b"P5 2 2 255\n\0")
    (tmp_path / "maps" / "lonely.pgm").write_bytes(b"P5 1 1 255\n\0")
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody>" + "<body>" * 100)
    (tmp_path / "urdf.xml").write_text("<robot/>")
    (tmp_path / "a.pcd").write_text("nothing")
    (tmp_path / "cloud").write_bytes(b"ply\nformat ascii 1.0\n")
    (tmp_path / "rec" / "depth").mkdir(parents=True)
    (tmp_path / "rec" / "depth" / "0.png").write_bytes(b"")
    (tmp_path / "rec" / "notes.txt").write_text("x")
    (tmp_path / "bench.json").write_text((Path(__file__).parent / "data" / "molmospaces_episodes.json").read_text())
    (tmp_path / "half.json").write_text('[{"house_index": 1}]')
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "many").mkdir()
    for k in range(30):
        (tmp_path / "many" / f"{k}.jpg").write_bytes(b"")
    (tmp_path / ".hidden").write_text("x")
    return tmp_path


def test_everything_is_found_once(folder: Path) -> None:
    found = {item.name: item.kind for item in discover(folder)}
    assert found == {
        "maps/a.yaml": ItemKind.MAP,
        "rec": ItemKind.RGBD,
        "a.pcd": ItemKind.PCD,
        "cloud": ItemKind.PLY,
        "broken.xml": ItemKind.MODEL,
        "bench.json": ItemKind.EPISODES,
        "half.json": ItemKind.EPISODES,
        "other.json": ItemKind.UNKNOWN,
        "urdf.xml": ItemKind.UNKNOWN,
        "maps/lonely.pgm": ItemKind.UNKNOWN,
        "many/*.jpg": ItemKind.UNKNOWN,
    }


def test_broken_and_unknown_are_one_row_each(folder: Path) -> None:
    told: list[str] = []
    rows = run_data(folder, find_robot("cobot_magic"), lambda row: told.append(row.name))
    outcomes = {row.name.split(" ")[0]: row.outcome for row in rows}
    assert len(rows) == len(outcomes) == len(told) == 11
    for name in ("maps/a.yaml", "rec", "a.pcd", "cloud", "broken.xml", "half.json"):
        assert outcomes[name] is RowOutcome.UNREADABLE
    for name in ("urdf.xml", "maps/lonely.pgm", "many/*.jpg", "other.json"):
        assert outcomes[name] is RowOutcome.SKIPPED
    (episodes,) = (row for row in rows if row.name.startswith("bench.json"))
    assert episodes.outcome is RowOutcome.PASS and "no navigation task" in episodes.detail
    assert all(row.detail for row in rows)
    assert verdict_code(rows) == 2


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="allowed: an existing folder"):
        run_data(tmp_path / "gone", find_robot("cobot_magic"))
