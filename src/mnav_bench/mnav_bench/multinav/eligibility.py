"""Whether an episode, as it stands in the world at its start, may be scored (MultINav, Appendix B.6)."""

from __future__ import annotations

from mnav_bench.multinav.episode_files import MultiNavEpisode
from mnav_bench.multinav.plans import DISTANCE_M
from mnav_sim_bridge.world import MujocoWorld

START_M = 0.05
START_RAD = 0.05
FRACTION = 0.02


def why_ineligible(world: MujocoWorld, episode: MultiNavEpisode) -> str:
    """What does not hold at reset, "" when everything does: start pose, joints, target, terminal pose, hidden start."""
    truth = world.truth()
    pose, start = truth.robot_pose(episode.robot), episode.start
    if pose.distance_to(start.x, start.y) > START_M or abs(pose.yaw - start.yaw) > START_RAD:
        return "start pose"
    for joint in episode.joints:
        try:
            now = truth.joint_fraction(joint.joint)
        except KeyError:
            return f"joint {joint.joint}: unknown"
        if abs(now - joint.fraction) > FRACTION:
            return f"joint {joint.joint}: starts at {now:.2f}, allowed: {joint.fraction:.2f}"
    for plan in episode.plans:
        end = plan.steps[-1].pose
        goal = plan.target if episode.goal_point is None else (*episode.goal_point, 0.0)
        if end is None or (end.x - goal[0]) ** 2 + (end.y - goal[1]) ** 2 >= DISTANCE_M**2:
            return f"plan {plan.plan_id}: its end does not satisfy the goal's distance"
    if episode.goal_point is None:
        for target in episode.target_ids:
            try:
                truth.object_position(target)
            except KeyError:
                return f"target {target}: unknown"
            if any(truth.visible_pixels(episode.robot, view, target) for view in world.robots[episode.robot].views):
                return f"target {target}: visible from the start"
    return ""
