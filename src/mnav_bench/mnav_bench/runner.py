"""Runs minds in one world, tick by tick: the only thing in a sweep that lets time pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mnav_bench.body import InProcessBody
from mnav_bench.rows import sees
from mnav_bench.track import Track
from mnav_core.motion import RobotCommand
from mnav_core.requests import TaskOutcome, TaskResult
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame
from mnav_planner.stepper import MindStepper

REST_S = 1.0


@dataclass
class RobotRun:
    """One robot of a run: its body, its mind, and what the evaluation measures on the side."""

    body: InProcessBody
    stepper: MindStepper
    target_category: str = ""
    target_seen: bool = False
    result: TaskResult | None = None
    ended_s: float = math.nan
    track: Track = field(default_factory=Track)

    def note(self, frame: SensorFrame) -> None:
        """Remember whether the target was ever detected."""
        self.target_seen = self.target_seen or sees(frame, self.target_category)


def run_world(
    world: World,
    runs: Mapping[str, RobotRun],
    budget_s: float,
    on_tick: Callable[[float], None] = lambda _now_s: None,
) -> None:
    """Run until every mind has ended or the budget (simulated seconds) is spent, then let the robots come to rest."""
    truth = world.truth()
    for name, run in runs.items():
        run.track.add(truth.robot_pose(name))
    ticks = math.ceil(budget_s / world.tick_s)
    rest_ticks = math.ceil(REST_S / world.tick_s)
    ended_at: int | None = None
    for tick in range(ticks + rest_ticks):
        commands: dict[str, RobotCommand] = {}
        for name, run in runs.items():
            frame = world.sense(name, run.body.wants())
            run.note(frame)
            commands[name] = run.body.tick(frame)
            if run.result is None:
                run.result = run.stepper.poll()
                if run.result is None and tick >= ticks - 1:
                    run.result = run.stepper.end(TaskOutcome.TIMED_OUT, f"budget of {budget_s:g} s spent")
                if run.result is not None:
                    run.ended_s = world.time_s
        world.step(commands)
        for name, run in runs.items():
            run.track.add(truth.robot_pose(name))
        on_tick(world.time_s)
        if ended_at is None and all(run.result is not None for run in runs.values()):
            ended_at = tick
        if ended_at is not None and (
            tick - ended_at >= rest_ticks
            or (tick > ended_at and all(truth.robot_velocity(name).is_rest for name in runs))
        ):
            return
