"""Writing an accepted house to a directory: model, record, checks, plan, pictures, hashes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.checks import Check
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.house.pictures import plan_picture, room_pictures, write_png


def write_house(
    seed: int, out_dir: Path, robot: RobotDescription, rooms: int | None = None, doors: str = "open"
) -> tuple[Check, ...]:
    """Write model.xml with its textures, house.json, checks.json, plan.png, room_*.png and hashes.json; the checks.

    Raises UsageError when the seed gives no accepted house.
    """
    accepted = generate_house(seed, robot, rooms, doors)
    record = accepted.house.record
    accepted.house.write(out_dir)
    rows = [
        {"name": c.name, "value": c.value, "bound": c.bound, "at_least": c.at_least, "pass": c.passed}
        for c in accepted.checks
    ]
    summary = {
        "seed": seed, "sub_seed": record.sub_seed, "tries": accepted.tries, "robot": robot.name, "doors": doors,
        "generator_version": record.generator_version, "checks": rows,
    }  # fmt: skip
    (out_dir / "checks.json").write_text(json.dumps(summary, indent=1))
    write_png(out_dir / "plan.png", plan_picture(record))
    for name, image in room_pictures(accepted.house):
        write_png(out_dir / f"room_{name}.png", image)
    _write_hashes(out_dir)
    return accepted.checks


def _write_hashes(out_dir: Path) -> None:
    """SHA-256 of every file that was written, by name."""
    files = sorted(p for p in out_dir.iterdir() if p.is_file() and p.name != "hashes.json")
    digests = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
    (out_dir / "hashes.json").write_text(json.dumps(digests, indent=1))
