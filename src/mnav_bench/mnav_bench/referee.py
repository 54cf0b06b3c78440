"""Judges one episode from the simulator's side: path, end, rest, verdict."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnav_bench.episodes import EpisodeFile, NavToObjEpisode
from mnav_bench.rows import judged_row, sees
from mnav_bench.runner import REST_S
from mnav_bench.track import Track
from mnav_core.requests import TaskOutcome, TaskResult
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame

# How long past its budget, in simulated seconds, a task may go without a result.
GRACE_S = 30.0
MOVED_M = 0.02
TURNED_RAD = 0.02


@dataclass
class Referee:
    """Watches one robot in one world; truth stays in here and leaves as a verdict."""

    suite: EpisodeFile
    episode: NavToObjEpisode
    agent: str
    clock: Callable[[], float] = time.monotonic
    started: float | None = None
    started_unix_s: float | None = None
    track: Track = field(default_factory=Track)
    target_seen: bool = False
    first_motion_s: float | None = None
    first_motion_unix_s: float | None = None
    result: TaskResult | None = None
    ended_s: float | None = None
    log: list[str] = field(default_factory=list)

    def sensed(self, frame: SensorFrame) -> None:
        """Note whether the target was ever detected."""
        self.target_seen = self.target_seen or sees(frame, self.episode.category)

    def measure(self, world: World) -> None:
        """Add the true pose of one tick to the path."""
        if self.started is None:
            self.started, self.started_unix_s = self.clock(), time.time()
        pose = world.truth().robot_pose(self.episode.robot)
        self.track.add(pose)
        start = self.track.poses[0]
        moved = start.distance_to(pose.x, pose.y) > MOVED_M
        turned = abs(math.remainder(pose.yaw - start.yaw, 2.0 * math.pi)) > TURNED_RAD
        if self.first_motion_s is None and (moved or turned):
            self.first_motion_s, self.first_motion_unix_s = world.time_s, time.time()

    def end(self, result: TaskResult, now_s: float) -> None:
        """The task has ended, as the robot claims; later words do not count."""
        if self.result is None:
            self.result, self.ended_s = result, now_s

    def is_over(self, world: World) -> bool:
        """Whether the robot rests after the end, or has no more time to; a task that says nothing is lost."""
        now_s = world.time_s
        if self.result is None and now_s > self.suite.budget_s + GRACE_S:
            self.end(TaskResult(TaskOutcome.LOST, f"no result within {GRACE_S:g} s after the budget"), now_s)
        if self.result is None or self.ended_s is None:
            return False
        if now_s <= self.ended_s:
            return False
        return now_s - self.ended_s >= REST_S or world.truth().robot_velocity(self.episode.robot).is_rest

    def verdict(self, world: World) -> dict[str, Any]:
        """The row of the episode, as a sweep writes it, with what only a running graph has."""
        wall_s = 0.0 if self.started is None else self.clock() - self.started
        row = judged_row(
            world, self.suite, self.episode, self.agent, self.result, self.track.path_m, self.target_seen, ()
        )
        return {
            **row,
            "sim_s": None if self.ended_s is None else round(self.ended_s, 2),
            "wall_s": round(wall_s, 2),
            "log": list(self.log),
            "rtf": round(world.time_s / wall_s, 3) if wall_s > 0.0 else None,
            "started_unix_s": self.started_unix_s,
            "first_motion_s": self.first_motion_s,
            "first_motion_unix_s": self.first_motion_unix_s,
        }


def write_verdict(file: Path, row: dict[str, Any]) -> None:
    """Write a verdict so that a reader sees all of it or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    part.write_text(json.dumps(row) + "\n")
    part.replace(file)
