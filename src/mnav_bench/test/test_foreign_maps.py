"""Maps of others: every oddity of the map server's files, values worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mnav_bench.foreign.faults import UnreadableFile
from mnav_bench.foreign.map_checks import check_map, clearance_costmap, compare, draw_pairs
from mnav_bench.foreign.occupancy_images import MapMode, describes_map, read_map
from mnav_bench.reference_costs import SciPyCosts
from mnav_core.maps import GridMap
from mnav_core.robot import RobotDescription, find_robot

YAML = "image: {image}\nresolution: 0.05\norigin: [-1, -2.5, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.25\n"
# Top row first: black, white, grey 205; then 254, 0, 128.
PIXELS = np.array([[0, 255, 205], [254, 0, 128]], np.uint8)


def write(folder: Path, text: str = YAML, image: str = "map.pgm", pixels: bytes | None = None) -> Path:
    if pixels is None:
        pixels = b"P5\n# made by hand\n3 2\n# another\n255\n" + PIXELS.tobytes()
    (folder / image).write_bytes(pixels)
    (folder / "map.yaml").write_text(text.format(image=image))
    return folder / "map.yaml"


def values(file: Path) -> list[list[int]]:
    """Occupancy, top row of the image last, as in the map."""
    return [[int(v) for v in row] for row in read_map(file).grid.data]


def test_rows_run_upwards_and_thresholds_split_three_ways(tmp_path: Path) -> None:
    file = write(tmp_path)
    assert values(file) == [[0, 100, -1], [100, 0, 0]]
    found = read_map(file)
    assert found.origin == (-1.0, -2.5) and found.yaw == 0.0 and found.mode is MapMode.TRINARY
    assert found.in_map_axes().origin == (-1.0, -2.5)


def test_ascii_pgm_with_comments_and_another_maximum(tmp_path: Path) -> None:
    text = b"P2 # ascii\n3 2\n# the maximum\n100\n0 100 80\n100 # a pixel\n0 50\n"
    assert values(write(tmp_path, pixels=text)) == [[0, 100, -1], [100, 0, 0]]


def test_sixteen_bits(tmp_path: Path) -> None:
    wide = (PIXELS.astype(np.uint32) * 257).astype(">u2").tobytes()
    assert values(write(tmp_path, pixels=b"P5 3 2 65535\n" + wide)) == [[0, 100, -1], [100, 0, 0]]


def test_negate_swaps_black_and_white(tmp_path: Path) -> None:
    assert values(write(tmp_path, YAML.replace("negate: 0", "negate: true"))) == [[100, 0, -1], [0, 100, 100]]


def test_scale_mode_grades_what_is_between(tmp_path: Path) -> None:
    # 205: occ 0.19608 < 0.25 -> 0; 128: occ 0.49804 -> (0.49804 - 0.25) / 0.4 = 62.01
    file = write(tmp_path, YAML + "mode: scale\n")
    assert values(file) == [[0, 100, 62], [100, 0, 0]]


def test_raw_mode_takes_the_pixel_itself(tmp_path: Path) -> None:
    pixels = b"P5 3 2 255\n" + bytes([0, 100, 101, 55, 255, 7])
    assert values(write(tmp_path, YAML + "mode: Raw\n", pixels=pixels)) == [[55, -1, 7], [0, 100, -1]]


def test_transparency_is_unknown_in_scale_and_averaged_in_trinary(tmp_path: Path) -> None:
    rgba = np.zeros((1, 2, 4), np.uint8)
    rgba[0, 0] = (0, 0, 0, 255)
    rgba[0, 1] = (0, 0, 0, 100)
    Image.fromarray(rgba, "RGBA").save(tmp_path / "map.png")
    (tmp_path / "map.yaml").write_text(YAML.format(image="map.png"))
    # black and opaque: brightness (0 + 0 + 0 + 1) / 4, occupied 0.75
    assert values(tmp_path / "map.yaml") == [[100, 100]]
    (tmp_path / "map.yaml").write_text(YAML.format(image="map.png") + "mode: scale\n")
    assert values(tmp_path / "map.yaml") == [[100, -1]]


def test_a_turned_origin_turns_the_map(tmp_path: Path) -> None:
    file = write(tmp_path, YAML.replace("-2.5, 0]", "-2.5, 1.5707963267948966]"))
    turned = read_map(file).in_map_axes()
    # The image's x axis now points along y: its corner is the lower right one.
    assert turned.shape == (3, 2)
    assert turned.origin == pytest.approx((-1.1, -2.5))
    assert turned.at(-1.025, -2.475) == 0 and turned.at(-1.025, -2.425) == 100 and turned.at(-1.075, -2.475) == 100


def test_an_origin_turned_by_little_keeps_every_wall_cell_near(tmp_path: Path) -> None:
    file = write(tmp_path, YAML.replace("-2.5, 0]", "-2.5, 0.3]"))
    found = read_map(file)
    grid = found.in_map_axes()
    centre = np.array([0.075, 0.025])
    c, s = math.cos(0.3), math.sin(0.3)
    x, y = -1.0 + c * centre[0] - s * centre[1], -2.5 + s * centre[0] + c * centre[1]
    assert grid.at(x, y) == 100


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("resolution: 0.05", "resolution: 0"), "resolution = 0, allowed: above 0"),
        (("resolution: 0.05", "resolution: fine"), "resolution = 'fine', allowed: a number"),
        (("resolution: 0.05\n", ""), "resolution is missing"),
        (("origin: [-1, -2.5, 0]", "origin: [1]"), r"origin = \[1\], allowed: x, y, yaw"),
        (("origin: [-1, -2.5, 0]", "origin: [.nan, 0, 0]"), "allowed: a finite number"),
        (("free_thresh: 0.25", "free_thresh: 0.9"), "free_thresh = 0.9, allowed: at most occupied_thresh"),
        (("negate: 0", "negate: 7"), "negate = 7, allowed"),
        (("negate: 0", "negate: 0\nmode: trinery"), "mode = 'trinery', allowed: trinary, scale, raw"),
        (("{image}", "other.pgm"), "image = 'other.pgm', allowed: an existing file"),
    ],
)
def test_a_bad_key_is_named(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(UnreadableFile, match=said):
        read_map(write(tmp_path, YAML.replace(*change)))


@pytest.mark.parametrize(
    "pixels", [b"P5 3 2 255\n\0\0", b"P5 3\n", b"hello", b"", b"P2 3 2 255 1 2 x 4 5 6", b"P5 99999999 99999999 255\n"]
)
def test_a_broken_image_is_said(tmp_path: Path, pixels: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"map\.yaml: image"):
        read_map(write(tmp_path, pixels=pixels))


def test_what_is_left_out_is_taken_and_warned_of(tmp_path: Path) -> None:
    found = read_map(write(tmp_path, "image: /far/away/{image}\nresolution: 5e-2\nfloors: 2\n"))
    assert found.grid.resolution == 0.05
    assert len(found.warnings) == 6
    assert any("floors" in w for w in found.warnings) and any("beside the YAML" in w for w in found.warnings)


def test_other_yaml_is_no_map(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("image: docker/image\n")
    (tmp_path / "b.yaml").write_text("- 1\n")
    (tmp_path / "c.yaml").write_text("a: [\n")
    assert not any(describes_map(tmp_path / f"{name}.yaml") for name in "abc")


def rooms() -> NDArray[np.int8]:
    """Two rooms of 40 x 40 cells with a door, a closed one, and a strip of unknown."""
    data = np.zeros((60, 140), np.int8)
    data[:, [0, 45, 46, 95, 139]] = 100
    data[[0, 59], :] = 100
    data[20:36, 45:47] = 0
    data[50:59, 100:139] = -1
    data[10:20, 60:70] = 40
    return data


def test_plans_agree_with_an_independent_planner() -> None:
    grid = clearance_costmap(GridMap(0.0, 0.05, (0.0, 0.0), rooms()))
    pairs = draw_pairs(grid, 60, "test")
    agreement = compare(grid, pairs, SciPyCosts())
    assert agreement.pairs == agreement.within == 60
    assert 10 < agreement.reachable < 60


def test_a_plan_that_is_too_dear_is_not_within() -> None:
    """The comparison itself can fail: a reference on cheaper ground finds every path too dear."""
    grid = clearance_costmap(GridMap(0.0, 0.05, (0.0, 0.0), rooms()))

    class Cheaper:
        def costs_from(self, costs: NDArray[np.float64], starts: list[tuple[int, int]]) -> NDArray[np.float64]:
            return SciPyCosts().costs_from(np.where(costs > 0, costs * 0.9, costs), starts)

    agreement = compare(grid, draw_pairs(grid, 20, "test"), Cheaper())
    assert agreement.same_verdict == 20 and agreement.within < 20


@pytest.fixture(scope="module")
def robot() -> RobotDescription:
    return find_robot("cobot_magic")


def test_a_map_file_gives_two_rows(tmp_path: Path, robot: RobotDescription) -> None:
    shade = np.select([rooms() == 100, rooms() == -1, rooms() == 40], [0, 205, 205], 254).astype(np.uint8)[::-1]
    # Thresholds of the ROS 1 kind: 205 is unknown.
    text = YAML.replace("free_thresh: 0.25", "free_thresh: 0.196")
    file = write(tmp_path, text, pixels=b"P5 140 60 255\n" + shade.tobytes())
    rows = check_map("made", read_map(file), robot, SciPyCosts())
    assert [row.passed for row in rows] == [True, True]


def test_a_map_too_small_for_the_robot_is_skipped(tmp_path: Path, robot: RobotDescription) -> None:
    found = read_map(write(tmp_path))
    closed = replace(found, grid=replace(found.grid, data=np.full((2, 3), 100, np.int8)))
    assert [row.passed for row in check_map("tiny", closed, robot, SciPyCosts())] == [None, None]
