"""Robot files: what loads, what is refused and how it is said."""

import math
from pathlib import Path

import pytest
import yaml

from mnav_core.errors import UsageError
from mnav_core.robot import find_robot, load_robot

ROBOTS = Path(__file__).resolve().parents[3] / "launch" / "config" / "robots"


def changed(tmp_path: Path, key: str, value: object) -> Path:
    data = yaml.safe_load((ROBOTS / "cobot_magic.yaml").read_text())
    *parents, last = key.split(".")
    place = data
    for parent in parents:
        place = place[parent]
    place[last] = value
    file = tmp_path / "robot.yaml"
    file.write_text(yaml.safe_dump(data))
    return file


@pytest.mark.parametrize("file", sorted(ROBOTS.glob("*.yaml")), ids=lambda f: f.stem)
def test_every_robot_file_loads_and_is_named_like_its_file(file: Path) -> None:
    robot = load_robot(file)
    assert robot.name == file.stem
    assert 0.0 < robot.inscribed_radius < robot.circumscribed_radius


def test_radii_of_a_rectangle() -> None:
    robot = find_robot("cobot_magic", ROBOTS)
    assert robot.inscribed_radius == pytest.approx(0.25)
    assert robot.circumscribed_radius == pytest.approx(math.hypot(0.35, 0.25))


def test_the_head_pitched_down_looks_at_the_floor_ahead() -> None:
    camera = find_robot("cobot_magic", ROBOTS).views["front"]
    axis = camera.optical_in_base(math.pi / 4).rotation @ [0.0, 0.0, 1.0]
    assert axis == pytest.approx([math.sqrt(0.5), 0.0, -math.sqrt(0.5)])


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("limits.vx_max", 2.0, "allowed: at most 0.2 s"),
        ("limits.vx_max", -1.0, "greater than 0"),
        ("limits.speed", 1.0, "limits.speed"),
        ("views.top", {"xyz": [0, 0, 1]}, "allowed: front, right, back, left"),
        ("success_view", "rear", "'rear' is not a view"),
        ("footprint", [[0.1, 0.1], [0.5, 0.1], [0.5, 0.5]], "footprint"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(tmp_path: Path, key: str, value: object, said: str) -> None:
    with pytest.raises(UsageError, match=r"robot\.yaml") as caught:
        load_robot(changed(tmp_path, key, value))
    assert said in str(caught.value)


def test_an_unknown_robot_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"robot .spot. is unknown, allowed: .*cobot_magic.*go2"):
        find_robot("spot", ROBOTS)


def test_a_file_that_is_not_yaml_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text("a: [1, 2")
    with pytest.raises(UsageError) as caught:
        load_robot(file)
    assert "\n" not in str(caught.value)
