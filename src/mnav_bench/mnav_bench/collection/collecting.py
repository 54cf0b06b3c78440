"""Runs episodes with a recorder beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mnav_bench.assembly import build_body
from mnav_bench.collection.extras import extra
from mnav_bench.collection.hdf5_file import write_hdf5
from mnav_bench.collection.lerobot import LeRobotDataset
from mnav_bench.collection.observing import Observer
from mnav_bench.collection.records import HEIGHT, WIDTH, Trajectory
from mnav_bench.multinav.eligibility import why_ineligible
from mnav_bench.multinav.episode_files import MultiNavEpisode, MultiNavFile, read_multinav
from mnav_bench.multinav.recorded_run import run_record, spec_record
from mnav_bench.multinav.running import AGENTS, MultiNavOptions, goal_of, mind_of
from mnav_bench.multinav.scene import build_scene
from mnav_bench.multinav.suite import with_score
from mnav_bench.runner import RobotRun, run_world
from mnav_bench.scoring import judge
from mnav_core.errors import UsageError
from mnav_core.requests import TaskOutcome, TaskResult
from mnav_planner.stepper import MindStepper


def collect(
    file: Path,
    agent: str,
    out: Path,
    with_failures: bool = False,
    on_episode: Callable[[int, int, Trajectory], None] = lambda _done, _n, _trajectory: None,
) -> tuple[int, int]:
    """Run an episode file and write `hdf5/*.h5` and the LeRobot dataset `lerobot` under `out`; how many were kept, and
    of how many. Rollouts that fail are left out unless `with_failures`.

    Raises UsageError for an unknown agent, an episode file that cannot be read, a missing package.
    """
    if agent not in AGENTS:
        raise UsageError(f"agent {agent!r} is unknown, allowed: {', '.join(AGENTS)}")
    for name in ("h5py", "pyarrow"):
        extra(name)
    suite = read_multinav(file)
    dataset = LeRobotDataset(out / "lerobot", suite.robot)
    kept = 0
    for done, episode in enumerate(suite.episodes, 1):
        trajectory = roll_out(suite, episode, agent)
        if trajectory.success or with_failures:
            write_hdf5(out / "hdf5" / f"{episode.id}.h5", trajectory)
            dataset.add(trajectory)
            kept += 1
        on_episode(done, len(suite.episodes), trajectory)
    dataset.close()
    return kept, len(suite.episodes)


def roll_out(suite: MultiNavFile, episode: MultiNavEpisode, agent: str) -> Trajectory:
    """One episode as it is run by the suite, with everything recorded."""
    world = build_scene(episode)
    robot = world.robots[episode.robot]
    camera = robot.views[robot.success_view].intrinsics(WIDTH, HEIGHT)
    trajectory = Trajectory(
        episode.id,
        goal_of(episode).text,
        tuple(world.articulation.joints()),
        (camera.fx, camera.fy, camera.cx, camera.cy),
        episode.model_dump(mode="json"),
    )
    observer = Observer(world, episode.robot, trajectory)
    try:
        ineligible = why_ineligible(world, episode)
        body = build_body(robot, holder=agent)
        run = RobotRun(body, MindStepper(mind_of(episode, robot, MultiNavOptions(agent)), body),
                       target_category=episode.category)  # fmt: skip
        observer.open()
        run_world(world, {episode.robot: run}, suite.budget_s, observer.tick)
        observer.end()
        trajectory.row = _row(suite, episode, agent, world, run, ineligible)
        return trajectory
    finally:
        observer.close()
        world.close()


def _row(
    suite: MultiNavFile, episode: MultiNavEpisode, agent: str, world: Any, run: RobotRun, ineligible: str
) -> dict[str, Any]:
    """What `bench multinav` would say of the run, with its scores."""
    result = run.result or TaskResult(TaskOutcome.LOST, "the run ended without a result")
    truth = world.truth()
    if episode.goal_point is None:
        names = episode.target_ids
        verdict = judge(truth, episode.robot, episode.success_view, names, suite.distance_m, result.outcome)
        success, distance, pixels = verdict.success, verdict.distance_m, verdict.visible_pixels
    else:
        distance, pixels = truth.robot_pose(episode.robot).distance_to(*episode.goal_point), 0
        success = distance < suite.distance_m and result.outcome is TaskOutcome.ACHIEVED
    return with_score(
        {
            "id": episode.id,
            "agent": agent,
            "domain": episode.domain,
            "requirement": episode.requirement,
            "success": success,
            "outcome": result.outcome.value,
            "reason": result.reason,
            "eligible": not ineligible,
            "path_m": round(run.track.path_m, 4),
            "reference_m": episode.reference_m,
            "spec": spec_record(suite, episode, world.house.record, ineligible),
            "run": run_record(world, episode, run, result, distance, pixels),
            "state_hash": world.state_hash(),
        }
    )
