"""The oracle of `multinav`: carries out the plan with the robot's own executor, and verifies the target at its end."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from mnav_bench.multinav.episode_files import Interaction, MultiNavEpisode, Step
from mnav_bench.oracle import follow, known_target
from mnav_core.geometry import wrap_angle
from mnav_core.interaction import Operation
from mnav_core.motion import MotionGroup
from mnav_core.requests import (
    Interact,
    Look,
    Mind,
    Note,
    Observation,
    Observe,
    Reply,
    Request,
    Stop,
    TaskGoal,
    TaskOutcome,
    TaskResult,
    Turn,
    Wait,
)
from mnav_core.robot import RobotDescription
from mnav_planner.agents.approach import ApproachSettings, approach, motion
from mnav_planner.sightings import TargetMemory

TRIES = 3
# Until scans and images have shown that the way is free.
SETTLE_S = 2.0
LOOK_DOWN_RAD = 0.9


def oracle_mind(
    goal: TaskGoal, episode: MultiNavEpisode, robot: RobotDescription, leave_out: frozenset[str] = frozenset()
) -> Mind:
    """Follow the shortest plan; interactions in `leave_out` are left out, which shows what depends on them."""
    plan = min(episode.plans, key=lambda p: p.length_m)
    known = {i.interaction_id: i for i in episode.interactions}
    last = [s for s in plan.steps if s.kind == "navigate"][-1]
    for step in plan.steps:
        if step.kind == "navigate":
            assert step.pose is not None
            if step is last:
                yield from motion(Look(step.pitch), 10.0)
            if not (yield from follow(step.waypoints, (step.pose.x, step.pose.y))):
                return TaskResult(TaskOutcome.BLOCKED, "a leg of the plan was not driven")
        elif step.kind == "open" and step.interaction_id not in leave_out:
            opened = yield from _open(step, known)
            if not opened:
                return TaskResult(TaskOutcome.BLOCKED, f"{step.interaction_id} does not open")
    if episode.goal_point is None:
        memory = TargetMemory(goal.category)
        target = known_target(goal, plan.target, robot)
        if not (yield from approach(target, robot, memory, ApproachSettings())):
            return TaskResult(TaskOutcome.BLOCKED, "the target is not to be seen from the end of the plan")
    yield Stop()
    return TaskResult(TaskOutcome.ACHIEVED, "the plan is done")


def _open(step: Step, known: Mapping[str, Interaction]) -> Generator[Request, Reply, bool]:
    """Face the part, look at it, open it; True once the robot says that it is done."""
    one = known[step.interaction_id]
    for _ in range(TRIES):
        now = yield Observe()
        assert isinstance(now, Observation)
        angle = wrap_angle(now.pose.bearing_to(one.point[0], one.point[1]))
        if abs(angle) > 0.1:
            yield from motion(Turn(angle), 30.0)
        yield from motion(Look(step.pitch), 10.0)
        report = yield from motion(
            Interact("", "", 0.0, 0.0, Operation.OPEN, point=one.point, entity_id=one.entity, category=one.category),
            60.0,
        )
        # The foot of a closed leaf lies below the scans and stays in the map until a camera looks down at it.
        for pitch in (step.pitch, LOOK_DOWN_RAD):
            yield from motion(Look(pitch), 10.0)
            now = yield Observe()
            assert isinstance(now, Observation)
            yield Wait(until_s=now.stamp_s + SETTLE_S)
        if report.status.group is MotionGroup.REACHED:
            return True
        yield Note(f"{one.entity}: {report.reason}")
    return False
