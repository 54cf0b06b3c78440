"""A plan carried out in physics without perception: what an episode must survive before it is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mnav_bench.episodes import Pose
from mnav_bench.multinav.episode_files import Interaction, MultiNavEpisode, Plan
from mnav_core.geometry import wrap_angle
from mnav_core.interaction import InteractionEnd, InteractionGoal, InteractionStatus, Operation
from mnav_core.motion import STOP, RobotCommand, Velocity
from mnav_core.sensing import SensorRequest
from mnav_sim_bridge.world import MujocoWorld

OPEN_SHARE = 0.8
MAX_LEG_TICKS = 1500
MAX_OPEN_TICKS = 300
NOTHING = SensorRequest()


@dataclass(frozen=True)
class Rollout:
    """Whether the goal's rule held at the end, and why not."""

    success: bool
    reason: str = ""


def roll_out(
    world: MujocoWorld, episode: MultiNavEpisode, plan: Plan, leave_out: frozenset[str] = frozenset()
) -> Rollout:
    """Drive and open as the plan says, interactions in `leave_out` left out; then judge by distance and visibility."""
    known = {i.interaction_id: i for i in episode.interactions}
    robot, pitch = episode.robot, 0.0
    for step in plan.steps:
        if step.kind == "navigate":
            assert step.pose is not None
            if not _drive(world, robot, step.waypoints, step.pose):
                return Rollout(False, "a leg of the plan cannot be driven")
        elif step.kind == "open" and step.interaction_id not in leave_out:
            one = known[step.interaction_id]
            end = _open(world, episode, one, step.pitch)
            if end is None or end.status is not InteractionStatus.COMPLETED:
                return Rollout(False, f"{one.interaction_id}: {end.cause.value if end else 'no end'}")
            if world.truth().joint_fraction(one.joint) < OPEN_SHARE:
                return Rollout(False, f"{one.interaction_id}: not open afterwards")
        pitch = step.pitch
    for _ in range(15):
        world.step({robot: RobotCommand(STOP, pitch)})
    return judged(world, episode)


def judged(world: MujocoWorld, episode: MultiNavEpisode, distance_m: float = 1.5) -> Rollout:
    """The terminal rule now: near enough, and for an object more than zero pixels in the success view."""
    truth = world.truth()
    pose = truth.robot_pose(episode.robot)
    if episode.goal_point is not None:
        away = pose.distance_to(*episode.goal_point)
        return Rollout(away < distance_m, f"{away:.2f} m from the goal")
    found = []
    for target in episode.target_ids:
        away = pose.distance_to(*truth.object_position(target)[:2])
        pixels = truth.visible_pixels(episode.robot, episode.success_view, target)
        found.append((away < distance_m and pixels > 0, f"{away:.2f} m away, {pixels} pixels"))
    best = max(found)
    return Rollout(*best)


def _open(world: MujocoWorld, episode: MultiNavEpisode, one: Interaction, pitch: float) -> InteractionEnd | None:
    robot = episode.robot
    for _ in range(12):
        world.step({robot: RobotCommand(STOP, pitch)})
    goal = InteractionGoal(1, Operation.OPEN, one.point, episode.success_view)
    world.sense(robot, NOTHING)
    world.step({robot: RobotCommand(STOP, pitch, goal)})
    for _ in range(MAX_OPEN_TICKS):
        ends = world.sense(robot, NOTHING).interactions
        if ends:
            return ends[-1]
        world.step({robot: RobotCommand(STOP, pitch)})
    return None


def _drive(world: MujocoWorld, robot: str, waypoints: Sequence[tuple[float, float]], goal: Pose) -> bool:
    """Turn towards the point ahead and go; at the end turn to the heading."""
    limits = world.robots[robot].limits
    points, index = [*waypoints, (goal.x, goal.y)], 0
    for _ in range(MAX_LEG_TICKS):
        pose = world.truth().robot_pose(robot)
        while index < len(points) - 1 and pose.distance_to(*points[index]) < 0.12:
            index += 1
        if index == len(points) - 1 and pose.distance_to(*points[-1]) < 0.06:
            break
        error = wrap_angle(pose.bearing_to(*points[index]))
        turn = min(max(2.0 * error, -limits.wz_max), limits.wz_max)
        speed = 0.0 if abs(error) > 0.35 else min(0.4, limits.vx_max, 1.5 * pose.distance_to(*points[index]) + 0.05)
        world.step({robot: RobotCommand(Velocity(speed, 0.0, turn))})
    else:
        return False
    for _ in range(200):
        error = wrap_angle(goal.yaw - world.truth().robot_pose(robot).yaw)
        if abs(error) < 0.04:
            return True
        turn = math.copysign(min(max(abs(2.0 * error), 0.08), limits.wz_max), error)
        world.step({robot: RobotCommand(Velocity(0.0, 0.0, turn))})
    return False
