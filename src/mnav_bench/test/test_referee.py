"""The referee of a running graph: true path, rest after the end, silence, and a verdict like a sweep's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnav_bench.episodes import EpisodeFile, NavToObjEpisode, Pose, Reference
from mnav_bench.referee import Referee, write_verdict
from mnav_core.geometry import SE2
from mnav_core.motion import RobotCommand, Velocity
from mnav_core.requests import TaskOutcome, TaskResult
from mnav_core.robot import find_robot
from mnav_sim_bridge.flat_world import FlatWorld, Target, Yard

FORWARD = {"cobot_magic": RobotCommand(Velocity(vx=0.5))}


def make(budget_s: float = 5.0) -> tuple[Referee, FlatWorld]:
    where = Pose(x=0.0, y=0.0, yaw=0.0)
    episode = NavToObjEpisode(
        id="e",
        house_seed=1,
        house_sub_seed=0,
        house_rooms=5,
        scene_hash="x",
        robot="cobot_magic",
        success_view="front",
        start=where,
        category="egg",
        target_ids=("near", "far"),
        start_room="a",
        target_room="b",
        visible_from_start=False,
        reference=Reference(
            length_m=0.4,
            waypoints=(),
            pose=where,
            camera_pitch=0.0,
            object_id="near",
            object_position=(1.8, 0.0, 1.25),
        ),
    )
    suite = EpisodeFile(
        format="mnav_episodes_v1",
        suite="navtoobj",
        generator_version="1",
        seed=0,
        robot="cobot_magic",
        distance_m=1.5,
        budget_s=budget_s,
        episodes=(episode,),
    )
    targets = (Target("near", "egg", (1.8, 0.0, 1.25)), Target("far", "egg", (0.0, 2.9, 1.25)))
    world = FlatWorld(Yard(targets=targets), {"cobot_magic": (find_robot("cobot_magic"), SE2(0.0, 0.0))})
    world.reset(0)
    return Referee(suite, episode, "frontier"), world


def test_an_achieved_task_is_judged_at_rest_by_what_is_true() -> None:
    referee, world = make()
    referee.measure(world)
    for _ in range(16):
        world.step(FORWARD)
        referee.measure(world)
    assert not referee.is_over(world)
    referee.end(TaskResult(TaskOutcome.ACHIEVED, "there"), world.time_s)
    ticks = 0
    while not referee.is_over(world):
        world.step({})
        referee.measure(world)
        ticks += 1
    # 0.5 m/s at 2.5 m/s^2: two ticks to rest.
    assert ticks == 2
    row = referee.verdict(world)
    assert row["success"] and row["outcome"] == "achieved" and row["failure"] is None
    true_path = world.truth().robot_pose("cobot_magic").x
    assert row["path_m"] == pytest.approx(true_path, abs=1e-3)
    assert row["spl"] == pytest.approx(0.4 / true_path, abs=1e-3)
    assert row["distance_m"] == pytest.approx(1.8 - true_path, abs=1e-3)
    assert row["first_motion_s"] == pytest.approx(0.2, abs=0.11)
    assert row["sim_s"] == 1.6


def test_later_words_do_not_count_and_silence_is_lost() -> None:
    referee, world = make(budget_s=0.5)
    referee.end(TaskResult(TaskOutcome.BLOCKED, "first"), 0.1)
    referee.end(TaskResult(TaskOutcome.ACHIEVED, "second"), 0.2)
    assert referee.result == TaskResult(TaskOutcome.BLOCKED, "first")
    silent, world = make(budget_s=0.5)
    while not silent.is_over(world):
        world.step({})
        silent.measure(world)
        assert world.time_s < 40.0
    row = silent.verdict(world)
    assert (row["outcome"], row["failure"], row["success"]) == ("lost", "crash", False)
    assert world.time_s > 30.5


def test_a_verdict_is_written_whole(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "verdict.json"
    write_verdict(file, {"success": True})
    assert json.loads(file.read_text()) == {"success": True}
    assert [path.name for path in file.parent.iterdir()] == ["verdict.json"]
