"""Recordings: frames of a tiny world, GIFs that can be read and stay bounded, folders that cannot be written."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mnav_bench.dollhouse import DollhouseView
from mnav_bench.gif_file import GifFrames
from mnav_bench.recorded_frame import HEIGHT, MAP_BOX, PANEL, ROBOT, SUCCESS, TARGET, VIEW_BOX, WALL, WIDTH
from mnav_bench.recording import GIF_NAME, MAX_FRAMES, PICTURE_NAME, EpisodeRecorder, make_folder
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.robot import find_robot
from mnav_core.sensing import SensorRequest, ViewRequest
from mnav_sim_bridge.house.palette import paint
from mnav_sim_bridge.house.shapes import sphere
from mnav_sim_bridge.testing.scenes import Thing, one_room
from mnav_sim_bridge.world import MujocoWorld, make_world

NAME = "cobot_magic"
BACKGROUND = (250, 0, 250)


@pytest.fixture
def world() -> Iterator[MujocoWorld]:
    made = make_world(one_room(4.0, 3.0), {NAME: (find_robot(NAME), SE2(1.0, 1.5))})
    yield made
    made.close()


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (36, 64, 3), dtype=np.uint8)


def plain(level: int) -> np.ndarray:
    return np.full((36, 64, 3), level, np.uint8)


def levels_of(file: Path) -> list[int]:
    """Red of one pixel of each frame."""
    levels = []
    with Image.open(file) as gif:
        for index in range(gif.n_frames):
            gif.seek(index)
            levels.append(int(np.asarray(gif.convert("RGB"))[4, 4, 0]))
    return levels


@pytest.mark.sim
def test_dollhouse_shows_the_robot_where_it_stands_and_nothing_behind_the_house(world: MujocoWorld) -> None:
    view = DollhouseView(world, 200, 160, BACKGROUND)
    view.open()
    first = view.picture().astype(int)
    world.place(NAME, SE2(3.0, 1.5))
    second = view.picture().astype(int)
    changed = np.abs(first - second).sum(axis=2) > 60
    middle = view.pixel(2.0, 1.5)[0]
    columns = np.nonzero(changed)[1]
    for x in (1.0, 3.0):
        column, row = view.pixel(x, 1.5, 0.4)
        assert changed[round(row) - 6 : round(row) + 7, round(column) - 6 : round(column) + 7].any()
    assert (columns < middle).any() and (columns > middle).any()
    assert not changed[:, round(middle) - 3 : round(middle) + 4].any()
    for corner in ((0, 0), (-1, 0), (0, -1), (-1, -1)):
        assert tuple(first[corner]) == BACKGROUND
    view.close()


@pytest.mark.sim
def test_dollhouse_leaves_the_world_as_it_was(world: MujocoWorld) -> None:
    request = SensorRequest(scan=True, views=(ViewRequest("front", 64, 48),))
    sizes, groups = np.array(world.model.geom_size), np.array(world.model.geom_group)
    before = world.sense(NAME, request).images[0]
    view = DollhouseView(world, 100, 80, BACKGROUND)
    view.picture()
    after = world.sense(NAME, request).images[0]
    view.close()
    np.testing.assert_array_equal(before.rgb, after.rgb)
    np.testing.assert_array_equal(before.depth, after.depth)
    np.testing.assert_array_equal(sizes, world.model.geom_size)
    np.testing.assert_array_equal(groups, world.model.geom_group)


@pytest.mark.sim
def test_episode_leaves_a_picture_and_a_gif(world: MujocoWorld, tmp_path: Path) -> None:
    said: list[str] = []
    recorder = EpisodeRecorder(world, NAME, "apple", tmp_path, said.append)
    recorder.occupancy = GridMap(0.0, 0.05, (0.0, 0.0), np.full((60, 80), 100, np.int8))
    for tick in range(21):
        views = (ViewRequest("front", 320, 240),) if tick % 5 == 0 else ()
        recorder.sensed(world.sense(NAME, SensorRequest(views=views)))
        recorder.step()
        world.step({})
    assert len(recorder.frames) == 3
    recorder.finish(True, "the apple is in view")
    recorder.close()
    assert said == []
    with Image.open(tmp_path / PICTURE_NAME) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    window = pixels[MAP_BOX.y : MAP_BOX.y + MAP_BOX.height, MAP_BOX.x : MAP_BOX.x + MAP_BOX.width]
    # The map fills the room; the robot stands a quarter of the way along it.
    rows, columns = np.nonzero((window == ROBOT).all(axis=2))
    scale = min((MAP_BOX.width - 16) / 4.0, (MAP_BOX.height - 16) / 3.0)
    assert columns.mean() == pytest.approx(MAP_BOX.width / 2 - scale * 1.0, abs=12)
    assert rows.mean() == pytest.approx(MAP_BOX.height / 2, abs=4)
    assert (window == WALL).all(axis=2).mean() > 0.4
    assert tuple(window[MAP_BOX.height // 2, 8]) == PANEL
    assert tuple(pixels[512, 22]) == SUCCESS
    with Image.open(tmp_path / GIF_NAME) as gif:
        assert gif.size == (640, 360)
        assert 2 <= gif.n_frames <= 4
    assert sorted(f.name for f in tmp_path.iterdir()) == [GIF_NAME, PICTURE_NAME]


@pytest.mark.sim
def test_target_is_boxed_in_the_view_until_the_next_look(tmp_path: Path) -> None:
    ball = Thing("apple_1", "apple", (sphere(0.08, (0.0, 0.0, 0.0), paint(200, 30, 30)),), (2.2, 1.5, 0.6))
    world = make_world(one_room(4.0, 3.0, (ball,)), {NAME: (find_robot(NAME), SE2(1.0, 1.5))})
    recorder = EpisodeRecorder(world, NAME, "apple", tmp_path, pytest.fail)
    view = ViewRequest("front", 320, 240)
    boxed = []
    for detect in (("front",), (), ()):
        recorder.sensed(world.sense(NAME, SensorRequest(views=(view,), detect=detect)))
        for _ in range(8):
            world.step({})
        recorder.step()
        recorder.finish(True, "")
        with Image.open(tmp_path / PICTURE_NAME) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        part = pixels[VIEW_BOX.y : VIEW_BOX.y + VIEW_BOX.height, VIEW_BOX.x : VIEW_BOX.x + VIEW_BOX.width]
        boxed.append(bool((part == TARGET).all(axis=2).sum() > 20))
        pin = pixels[MAP_BOX.y : MAP_BOX.y + MAP_BOX.height, MAP_BOX.x : MAP_BOX.x + MAP_BOX.width]
        rows, columns = np.nonzero((pin == TARGET).all(axis=2))
        scale = min((MAP_BOX.width - 16) / 4.0, (MAP_BOX.height - 16) / 3.0)
        assert columns.mean() == pytest.approx(MAP_BOX.width / 2 + scale * 0.2, abs=5)
        assert rows.mean() == pytest.approx(MAP_BOX.height / 2, abs=5)
    recorder.close()
    world.close()
    # The second image comes 0.8 s after the first, the third 1.6 s.
    assert boxed == [True, True, False]


@pytest.mark.sim
def test_folder_that_vanished_is_said_once_and_does_not_raise(world: MujocoWorld, tmp_path: Path) -> None:
    said: list[str] = []
    recorder = EpisodeRecorder(world, NAME, "apple", tmp_path / "gone", said.append)
    recorder.finish(False, "lost")
    recorder.close()
    assert len(said) == 1
    assert str(tmp_path / "gone") in said[0] and "No such file" in said[0]


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"record = .*file/in: .*allowed"):
        make_folder(tmp_path / "file" / "in")


def test_gif_gives_back_its_frames_in_order(tmp_path: Path) -> None:
    frames = GifFrames(64, 36, 10)
    for level in (0, 66, 132, 255):
        frames.add(plain(level))
    assert frames.write(tmp_path / "a.gif", 125, 3000, 10**6) == 4
    with Image.open(tmp_path / "a.gif") as gif:
        times = []
        for index in range(gif.n_frames):
            gif.seek(index)
            times.append(gif.info["duration"])
    assert levels_of(tmp_path / "a.gif") == pytest.approx([0, 66, 132, 255], abs=4)
    # GIF counts in hundredths of a second.
    assert times[-1] == 3000 and all(t in (120, 125, 130) for t in times[:-1])


@pytest.mark.parametrize(
    ("offered", "stride"), [(1, 1), (10, 1), (11, 2), (12, 2), (20, 2), (21, 4), (57, 8), (120, 16)]
)
def test_frames_are_thinned_evenly_and_the_kept_one_stays(tmp_path: Path, offered: int, stride: int) -> None:
    frames = GifFrames(8, 8, 10)
    for number in range(offered):
        frames.add(np.full((8, 8, 3), 2 * number, np.uint8))
        assert len(frames) <= 10
    assert frames.stride == stride
    assert len(frames) == len(range(0, offered, stride))
    frames.add(np.full((8, 8, 3), 255, np.uint8), keep=True)
    assert len(frames) <= 10
    frames.write(tmp_path / "a.gif", 125, 3000, 10**6)
    levels = levels_of(tmp_path / "a.gif")
    assert levels[-1] == pytest.approx(255, abs=4)
    if stride >= 4:
        # Equal frames are stored as one: only then do the colours of any two differ.
        assert levels[:-1] == pytest.approx([2 * frames.stride * k for k in range(len(frames) - 1)], abs=7)


def test_gif_stays_within_its_bytes(tmp_path: Path) -> None:
    frames = GifFrames(64, 36, MAX_FRAMES)
    for seed in range(40):
        frames.add(noise(seed))
    frames.add(plain(255), keep=True)
    count = frames.write(tmp_path / "a.gif", 125, 3000, 40_000)
    assert (tmp_path / "a.gif").stat().st_size <= 40_000
    assert 1 < count < 41
    assert [f.name for f in tmp_path.iterdir()] == ["a.gif"]


def test_gif_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path: Path) -> None:
    frames = GifFrames(64, 36, MAX_FRAMES)
    for seed in range(20):
        frames.add(noise(seed))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            frames.write(tmp_path / "a.gif", 125, 3000, 10**6)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_maps_of_another_shape_are_not_laid_over_each_other(tmp_path: Path) -> None:
    from mnav_bench.recorded_frame import SEEN, UNSEEN, _map_colors

    occupancy = GridMap(0.0, 0.05, (0.0, 0.0), np.array([[-1, 0, 100]], np.int8))
    inspected = replace(occupancy, data=np.array([[0, 100, 100]], np.int8))
    assert _map_colors(occupancy, inspected)[0].tolist() == [list(PANEL), list(SEEN), list(WALL)]
    other = replace(occupancy, data=np.zeros((2, 2), np.int8))
    assert _map_colors(occupancy, other)[0].tolist() == [list(PANEL), list(UNSEEN), list(WALL)]
