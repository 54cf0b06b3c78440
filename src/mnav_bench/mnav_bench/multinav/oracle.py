"""The oracle of `multinav`: carries out the plan with the robot's own executor, and verifies the target at its end."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from mnav_bench.multinav.episode_files import Interaction, MultiNavEpisode, Step
from mnav_bench.oracle import follow, known_target
from mnav_core.geometry import wrap_angle
from mnav_core.interaction import Operation
from mnav_core.motion import MotionGroup
from mnav_core.requests import (
    GoToPose,
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
# Which waypoint, from the end of the leg before, to look again from.
BACK_POINTS = (3, 5)
SETTLE_S = 2.0
LOOKS_RAD = (-0.1, 0.4, 0.9)


def oracle_mind(
    goal: TaskGoal, episode: MultiNavEpisode, robot: RobotDescription, leave_out: frozenset[str] = frozenset()
) -> Mind:
    """Follow the shortest plan; interactions in `leave_out` are left out, which shows what depends on them."""
    plan = min(episode.plans, key=lambda p: p.length_m)
    known = {i.interaction_id: i for i in episode.interactions}
    last = [s for s in plan.steps if s.kind == "navigate"][-1]
    before: Step | None = None
    for step in plan.steps:
        if step.kind == "navigate":
            assert step.pose is not None
            if step is last:
                yield from motion(Look(step.pitch), 10.0)
            if not (yield from _drive(step, before)):
                return TaskResult(TaskOutcome.BLOCKED, "a leg of the plan was not driven")
            before = step
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


def _drive(step: Step, before: Step | None) -> Generator[Request, Reply, bool]:
    """Drive a leg; where it is blocked, go back along the leg before it and look again from there.

    What a swinging leaf left in the map stays as long as nothing is seen behind it, a window for instance.
    """
    assert step.pose is not None
    end = (step.pose.x, step.pose.y)
    for back in BACK_POINTS:
        if (yield from follow(step.waypoints, end)):
            return True
        if before is None:
            return False
        x, y = before.waypoints[max(0, len(before.waypoints) - back)]
        yield from motion(GoToPose(x, y, None, 0.25), 40.0)
        now = yield Observe()
        assert isinstance(now, Observation)
        yield from motion(Turn(now.pose.bearing_to(*step.waypoints[min(2, len(step.waypoints) - 1)])), 30.0)
        yield from _look_around()
    return bool((yield from follow(step.waypoints, end)))


def _look_around() -> Generator[Request, Reply, None]:
    """Look level and down until scans and images have shown what is free.

    The foot of a closed leaf lies below the scans and stays in the map until a camera looks down at it.
    """
    for pitch in LOOKS_RAD:
        yield from motion(Look(pitch), 10.0)
        now = yield Observe()
        assert isinstance(now, Observation)
        yield Wait(until_s=now.stamp_s + SETTLE_S)


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
        yield from _look_around()
        if report.status.group is MotionGroup.REACHED:
            return True
        yield Note(f"{one.entity}: {report.reason}")
    return False
