"""What `write_house` leaves in a directory."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import cv2
import mujoco
import pytest

from mnav_core.robot import find_robot
from mnav_sim_bridge.house.export import write_house
from mnav_sim_bridge.house.records import HouseRecord

pytestmark = pytest.mark.sim


def test_model_plan_pictures_checks_and_hashes_are_written(tmp_path: Path) -> None:
    checks = write_house(3, tmp_path, find_robot("go2"), rooms=4)
    assert checks and all(c.passed for c in checks)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml")).nbody > 20
    record = HouseRecord.from_json((tmp_path / "house.json").read_text())
    assert len(record.rooms) == 4
    assert hashlib.sha256((tmp_path / "model.xml").read_bytes()).hexdigest() == record.xml_sha256
    rows = json.loads((tmp_path / "checks.json").read_text())["checks"]
    assert [(r["name"], r["value"], r["bound"], r["pass"]) for r in rows] == [
        (c.name, c.value, c.bound, c.passed) for c in checks
    ]
    pictures = sorted(tmp_path.glob("room_*.png"))
    assert len(pictures) == 6
    for path in [*pictures, tmp_path / "plan.png"]:
        image = cv2.imread(str(path))
        assert image.shape[0] >= 480 and image.std() > 15
    hashes = json.loads((tmp_path / "hashes.json").read_text())
    assert set(hashes) == {p.name for p in tmp_path.iterdir()} - {"hashes.json"}
