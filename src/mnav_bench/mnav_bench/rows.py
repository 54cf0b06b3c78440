"""The row of one `navtoobj` episode, the same from a sweep, from a running graph and from a worker that died."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnav_bench.episodes import EpisodeFile, NavToObjEpisode
from mnav_bench.scoring import attribute, judge, spl
from mnav_core.motion import MotionReport
from mnav_core.requests import TaskOutcome, TaskResult
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame


def sees(frame: SensorFrame, category: str) -> bool:
    """Whether the detector found something of the category in a frame."""
    return any(found.category == category for view in frame.detections for found in view.detections)


def judged_row(
    world: World,
    suite: EpisodeFile,
    episode: NavToObjEpisode,
    agent: str,
    result: TaskResult | None,
    path_m: float,
    target_seen: bool,
    reports: Sequence[MotionReport],
) -> dict[str, Any]:
    """Judge the world as it is now; without a result the task is lost. Times and the log are the caller's to add."""
    ended = result or TaskResult(TaskOutcome.LOST, "the run ended without a result")
    verdict = judge(
        world.truth(), episode.robot, episode.success_view, episode.target_ids, suite.distance_m, ended.outcome
    )
    failure = attribute(verdict, ended.outcome, target_seen, reports)
    return {
        **crash_row(episode, agent, ended.reason),
        "success": verdict.success,
        "outcome": ended.outcome.value,
        "failure": failure.value if failure else None,
        "spl": spl(verdict.success, episode.reference.length_m, path_m),
        "path_m": round(path_m, 4),
        "distance_m": round(verdict.distance_m, 4),
        "visible_pixels": verdict.visible_pixels,
        "target_seen": target_seen,
        "state_hash": world.state_hash(),
    }


def crash_row(episode: NavToObjEpisode, agent: str, reason: str) -> dict[str, Any]:
    """The row of an episode whose process died or raised: a failure, never left out."""
    return {
        "id": episode.id,
        "agent": agent,
        "success": False,
        "outcome": TaskOutcome.LOST.value,
        "reason": reason,
        "failure": "crash",
        "spl": 0.0,
        "path_m": 0.0,
        "reference_m": episode.reference.length_m,
        "distance_m": None,
        "visible_pixels": 0,
        "target_seen": False,
        "sim_s": None,
        "wall_s": None,
        "build_s": None,
        "category": episode.category,
        "robot": episode.robot,
        "state_hash": "",
        "log": [],
    }
