"""From a scene and the interactions that it needs to an ordered, validated plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnav_bench.episodes import Pose, Reference
from mnav_bench.geodesic import GeodesicField, inflate, path_length
from mnav_bench.multinav.episode_files import Plan, Step
from mnav_bench.multinav.reachability import Counterfactuals, Floor, Point, Stand
from mnav_bench.navtoobj_episode import ORACLE_MARGIN_M, ORACLE_PIXELS
from mnav_bench.reference import Target, densified, reference_route
from mnav_core.geometry import SE2

DISTANCE_M = 1.5


@dataclass(frozen=True)
class Opening:
    """One interaction of a plan: its id, joint, and whether the joint is a door's."""

    interaction_id: str
    joint: str
    is_door: bool


@dataclass(frozen=True)
class Problem:
    """Start, doors that start closed, openings in their order, and the goal: an object or a planar point."""

    start: Point
    closed: tuple[str, ...]
    openings: tuple[Opening, ...]
    target_id: str = ""
    goal_point: Point | None = None


@dataclass(frozen=True)
class Solution:
    """A plan, where each part is worked on, and the object's place when the plan ends."""

    plan: Plan
    stands: tuple[Stand, ...]
    reference: Reference


def solve(cf: Counterfactuals, problem: Problem) -> Solution | None:
    """The plan that performs every opening in order; None when there is none."""
    n = len(problem.openings)
    last = _floor(cf, problem, problem.openings)
    from_start = last.field(problem.start)
    goal = None if from_start is None else _terminal(cf, problem, problem.openings, last, from_start)
    if goal is None:
        return None
    stands: list[Stand] = []
    after = last.field((goal.pose.x, goal.pose.y))
    for k in range(n - 1, -1, -1):
        before = _floor(cf, problem, problem.openings[:k]).field(problem.start)
        if before is None or after is None:
            return None
        closed, opened = _state(problem, problem.openings[:k])
        stand = cf.stand(problem.openings[k].joint, closed, opened, before, after)
        if stand is None:
            return None
        stands.insert(0, stand)
        after = _floor(cf, problem, problem.openings[:k]).field((stand.pose.x, stand.pose.y))
    return _forwards(cf, problem, stands)


def is_solvable_without(cf: Counterfactuals, problem: Problem, left_out: Opening) -> bool:
    """Whether the goal can be satisfied when every opening but one has been performed."""
    done = tuple(o for o in problem.openings if o != left_out)
    floor = _floor(cf, problem, done)
    field = floor.field(problem.start)
    return field is not None and _terminal(cf, problem, done, floor, field) is not None


def length_with(cf: Counterfactuals, problem: Problem, done: Sequence[Opening]) -> float | None:
    """Metres to the nearest pose that satisfies the goal with some openings performed; None when there is none."""
    floor = _floor(cf, problem, done)
    field = floor.field(problem.start)
    found = None if field is None else _terminal(cf, problem, done, floor, field)
    return None if found is None else found.length_m


def _forwards(cf: Counterfactuals, problem: Problem, stands: Sequence[Stand]) -> Solution | None:
    """The drive from stand to stand in the states that the openings leave."""
    at, total, steps = problem.start, 0.0, []
    for k, stand in enumerate(stands):
        field = _floor(cf, problem, problem.openings[:k]).field(at)
        route = [] if field is None else _route(field, (stand.pose.x, stand.pose.y))
        if not route:
            return None
        length = path_length(route)
        steps.append(_navigate(route, stand.pose, stand.pitch, length))
        steps.append(Step(kind="open", pitch=round(stand.pitch, 4), interaction_id=problem.openings[k].interaction_id))
        at, total = (stand.pose.x, stand.pose.y), total + length
    last = _floor(cf, problem, problem.openings)
    field = last.field(at)
    final = None if field is None else _terminal(cf, problem, problem.openings, last, field)
    if final is None:
        return None
    steps.append(
        Step(
            kind="navigate",
            waypoints=final.waypoints,
            pose=final.pose,
            pitch=final.camera_pitch,
            length_m=final.length_m,
        )
    )
    steps.append(Step(kind="observe", pose=final.pose, pitch=final.camera_pitch))
    ids = tuple(o.interaction_id for o in problem.openings)
    x, y, z = final.object_position
    plan = Plan(
        plan_id="plan_0",
        required_interaction_ids=ids,
        steps=tuple(steps),
        length_m=round(total + final.length_m, 4),
        target=(round(x, 4), round(y, 4), round(z, 4)),
    )
    return Solution(plan, tuple(stands), final)


def _terminal(
    cf: Counterfactuals, problem: Problem, done: Sequence[Opening], floor: Floor, field: GeodesicField
) -> Reference | None:
    """Where the goal is satisfied first on the way of `field`, in the state that the openings leave."""
    if problem.goal_point is not None:
        route = _route(field, problem.goal_point)
        if not route:
            return None
        (x, y), (a, b) = problem.goal_point, route[max(0, len(route) - 2)]
        pose = Pose(x=round(x, 4), y=round(y, 4), yaw=round(math.atan2(y - b, x - a), 4))
        length = path_length(route)
        return Reference(length_m=round(length, 4), waypoints=_rounded(densified(route)), pose=pose, camera_pitch=0.0,
                         object_id="", object_position=(x, y, 0.0))  # fmt: skip
    cf.put(*_state(problem, done))
    target = Target(problem.target_id, cf.world.truth().object_position(problem.target_id))
    roomy: NDArray[np.bool_] = inflate(floor.grid, cf.robot.inscribed_radius + ORACLE_MARGIN_M)
    return reference_route(field, cf.robot, [target], DISTANCE_M, cf.pixels, roomy, ORACLE_PIXELS)


def _state(problem: Problem, done: Sequence[Opening]) -> tuple[list[str], list[str]]:
    opened = [o.joint for o in done]
    return [j for j in problem.closed if j not in opened], opened


def _floor(cf: Counterfactuals, problem: Problem, done: Sequence[Opening]) -> Floor:
    return cf.floor(*_state(problem, done))


def _route(field: GeodesicField, to: Point) -> list[Point]:
    row, column = field.grid.to_cell(*to)
    return field.path_to(row, column) if field.grid.contains(row, column) else []


def _navigate(route: list[Point], pose: SE2, pitch: float, length: float) -> Step:
    at = Pose(x=round(pose.x, 4), y=round(pose.y, 4), yaw=round(pose.yaw, 4))
    return Step(kind="navigate", waypoints=_rounded(densified(route)), pose=at, pitch=round(pitch, 4),
                length_m=round(length, 4))  # fmt: skip


def _rounded(points: Sequence[Point]) -> tuple[Point, ...]:
    return tuple((round(x, 4), round(y, 4)) for x, y in points)
