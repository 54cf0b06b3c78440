"""Minds interleaved in one world; whole episodes of the suite."""

import math
from collections.abc import Callable

import pytest

from mnav_bench.assembly import build_body, build_world
from mnav_bench.episodes import EpisodeFile
from mnav_bench.evaluate import RunOptions, run_episode
from mnav_bench.navtoobj import demo_episode, difficulty
from mnav_bench.runner import RobotRun, run_world
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.motion import MotionStatus
from mnav_core.requests import GoToPose, Mind, MotionHandle, Stop, TaskOutcome, TaskResult, Wait, WaitResult
from mnav_core.robot import find_robot
from mnav_planner.stepper import MindStepper
from mnav_sim_bridge.testing.scenes import one_room
from mnav_sim_bridge.world import MujocoWorld, make_world

pytestmark = pytest.mark.sim


def cancelling_mind(ended: list[WaitResult]) -> Mind:
    """Drives off, and stops in the middle of it."""
    handle = yield GoToPose(5.0, 1.5)
    assert isinstance(handle, MotionHandle)
    yield Wait(until_s=5.0)
    yield Stop()
    report = yield Wait(handle.motion_id, until_s=6.0)
    assert isinstance(report, WaitResult)
    ended.append(report)
    return TaskResult(TaskOutcome.CANCELLED)


def driving_mind(ended: list[WaitResult]) -> Mind:
    """Drives to a place."""
    yield Wait(until_s=1.0)
    handle = yield GoToPose(5.0, 3.0)
    assert isinstance(handle, MotionHandle)
    report = yield Wait(handle.motion_id, until_s=40.0)
    assert isinstance(report, WaitResult)
    ended.append(report)
    return TaskResult(TaskOutcome.ACHIEVED)


def two_robots() -> tuple[MujocoWorld, dict[str, RobotRun], list[WaitResult], list[WaitResult]]:
    cobot = find_robot("cobot_magic")
    starts = {"a": SE2(1.0, 1.5), "b": SE2(1.0, 3.0)}
    world = make_world(one_room(6.0, 4.5), {name: (cobot, start) for name, start in starts.items()}, seed=3)
    cancelled: list[WaitResult] = []
    driven: list[WaitResult] = []
    minds: dict[str, Callable[[], Mind]] = {
        "a": lambda: cancelling_mind(cancelled),
        "b": lambda: driving_mind(driven),
    }
    runs = {}
    for name, mind in minds.items():
        body = build_body(cobot, name)
        runs[name] = RobotRun(body, MindStepper(mind(), body))
    return world, runs, cancelled, driven


def test_two_minds_in_one_world_and_one_cancels_in_motion() -> None:
    world, runs, cancelled, driven = two_robots()
    speeds: list[tuple[float, float]] = []

    def watch(now_s: float) -> None:
        velocity = world.truth().robot_velocity("a")
        speeds.append((now_s, math.hypot(velocity.vx, velocity.vy)))

    run_world(world, runs, 60.0, watch)
    world.close()
    assert cancelled[0].report is not None and cancelled[0].report.status is MotionStatus.CANCELLED
    assert driven[0].report is not None and driven[0].report.status is MotionStatus.REACHED
    assert max(speed for now, speed in speeds if 4.0 < now <= 5.0) > 0.2, "it was driving when it was told to stop"
    # Asked at 5.0 s, so the command to rest is out in the tick that begins at 5.1 s.
    assert max(speed for now, speed in speeds if now >= 5.1 + 0.3) < 0.02
    end = runs["b"].track.poses[-1]
    assert end is not None and end.distance_to(5.0, 3.0) < 0.2


def test_a_run_ends_at_its_budget_as_timed_out() -> None:
    world, runs, _, driven = two_robots()
    run_world(world, runs, 3.0)
    world.close()
    assert runs["b"].result is not None and runs["b"].result.outcome is TaskOutcome.TIMED_OUT
    assert not driven and world.time_s <= 4.0 + 1e-9


@pytest.fixture(scope="module")
def suite() -> EpisodeFile:
    return demo_episode(5, find_robot("cobot_magic"), None)


def test_an_episode_holds_what_the_suite_promises(suite: EpisodeFile) -> None:
    episode = suite.episodes[0]
    assert episode.reference.length_m >= 3.0 and episode.start_room != episode.target_room
    straight = math.dist((episode.start.x, episode.start.y), (episode.reference.pose.x, episode.reference.pose.y))
    assert episode.reference.length_m >= straight - 1.6, (
        "no way is shorter than the straight line to the success region"
    )
    world = build_world(episode)
    truth = world.truth()
    assert set(truth.objects_of(episode.category)) == set(episode.target_ids)
    for view in world.robots[episode.robot].views:
        assert all(truth.visible_pixels(episode.robot, view, target) == 0 for target in episode.target_ids)
    # The reference pose satisfies the success rule.
    pose = episode.reference.pose
    x, y, _ = truth.object_position(episode.reference.object_id)
    assert math.dist((pose.x, pose.y), (x, y)) < suite.distance_m
    world.close()
    missed = {row.name for row in difficulty(suite) if not row.passed}
    assert missed <= {"median reference, m", "mean rooms a house"}


@pytest.mark.slow
def test_the_same_episode_runs_the_same_in_this_process_and_with_its_mind_in_another(suite: EpisodeFile) -> None:
    episode = suite.episodes[0]
    here = run_episode(suite, episode, RunOptions("frontier"))
    apart = run_episode(suite, episode, RunOptions("frontier", isolate=True))
    assert here["success"] and here["state_hash"] == apart["state_hash"] and here["path_m"] == apart["path_m"]


@pytest.mark.slow
def test_the_oracle_succeeds_near_the_reference(suite: EpisodeFile) -> None:
    row = run_episode(suite, suite.episodes[0], RunOptions("oracle"))
    assert row["success"] and row["spl"] > 0.75


def test_a_house_that_changed_is_refused(suite: EpisodeFile) -> None:
    changed = suite.episodes[0].model_copy(update={"scene_hash": "0" * 64})
    with pytest.raises(UsageError, match=r"model hash .* differs"):
        build_world(changed)
