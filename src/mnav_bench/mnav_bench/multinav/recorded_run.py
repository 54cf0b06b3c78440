"""What an episode demands and what happened in it, as plain records for an evaluation outside of the simulator."""

from __future__ import annotations

from typing import Any

from mnav_bench.multinav.episode_files import MultiNavEpisode, MultiNavFile
from mnav_bench.runner import RobotRun
from mnav_core.interaction import InteractionStatus
from mnav_core.requests import TaskOutcome, TaskResult
from mnav_sim_bridge.house.records import HouseRecord
from mnav_sim_bridge.world import MujocoWorld

Record = dict[str, Any]


def spec_record(suite: MultiNavFile, episode: MultiNavEpisode, house: HouseRecord, ineligible: str) -> Record:
    """Reference, label, annotated classes and effects, plans, and the class of every joint of the house."""
    joints = [
        {"joint": d.joint, "object_id": d.id, "of": {"domain": "channel", "category": "door"}} for d in house.doors
    ]
    for container in house.containers:
        of = {"domain": "container", "category": container.category}
        joints += [{"joint": joint, "object_id": container.id, "of": of} for joint in container.joints]
    classes = {(i.type.split("_")[0], i.category) for i in episode.interactions}
    return {
        "id": episode.id,
        "split": episode.domain,
        "necessity": episode.requirement,
        "reference_m": episode.reference_m,
        "threshold_m": suite.distance_m,
        "classes": [{"domain": domain, "category": category} for domain, category in sorted(classes)],
        "effects": [{"id": i.interaction_id, "joint": i.joint} for i in episode.interactions],
        "plans": [
            {"id": p.plan_id, "required": list(p.required_interaction_ids), "valid": True} for p in episode.plans
        ],
        "joints": joints,
        "ineligible": ineligible,
    }


def run_record(
    world: MujocoWorld, episode: MultiNavEpisode, run: RobotRun, result: TaskResult, distance_m: float, pixels: int
) -> Record:
    """Trajectory, every goal to interact with its result, and every joint motion with what moved it."""
    truth = world.truth()
    worked = {a.goal.attempt_id: a for a in truth.attempts() if a.robot == episode.robot}
    ended = {r.motion_id: r for r in run.body.reports() if r.interaction is not None}
    attempts = []
    for number in sorted({*worked, *ended}):
        one, report = worked.get(number), ended.get(number)
        end = (report.interaction if report is not None else None) or (one.end if one is not None else None)
        start_s = one.started_s if one is not None else report.end_s if report is not None else 0.0
        attempts.append(
            {
                "number": number,
                "operation": one.goal.operation.value if one is not None else "open",
                "start_s": start_s,
                "end_s": one.ended_s if one is not None and one.end is not None else start_s,
                "acknowledged": end is not None and end.status is InteractionStatus.COMPLETED,
                "rejected": end is not None and end.status is InteractionStatus.REJECTED,
                "cause": end.cause.value if end is not None else "",
                "entity": one.goal.entity_id if one is not None else "",
                "joint": one.joint if one is not None else "",
                "parked_m": round(one.parked_m, 3) if one is not None else 0.0,
                "kinematic": one.kinematic if one is not None else False,
            }
        )
    motions = []
    for moved in truth.joint_motions():
        kind, _, rest = moved.cause.partition(":")
        motions.append(
            {
                "time_s": round(moved.time_s, 3),
                "joint": moved.joint,
                "before": round(moved.before, 4),
                "after": round(moved.after, 4),
                "by": kind,
                "attempt": int(rest.rpartition(":")[2]) if kind == "attempt" else -1,
            }
        )
    return {
        "episode_id": episode.id,
        "trajectory": [(round(p.x, 4), round(p.y, 4)) for p in run.track.poses],
        "distance_m": round(distance_m, 4),
        "target_visible": pixels > 0 or episode.goal_point is not None,
        "attempts": attempts,
        "motions": motions,
        "restricted": True,
        "claim": {"evidence": run.target_seen} if result.outcome is TaskOutcome.ACHIEVED else None,
        "crashed": result.outcome is TaskOutcome.LOST,
    }
