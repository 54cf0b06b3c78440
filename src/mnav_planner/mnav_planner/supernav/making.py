"""Puts an agent together: session, chooser, model."""

from __future__ import annotations

import secrets

from mnav_core.chat import ChatModel
from mnav_core.robot import RobotDescription
from mnav_planner.supernav.agent import AgentRun, BuiltinOnly
from mnav_planner.supernav.builtin import BuiltinChooser
from mnav_planner.supernav.catalogue import Configuration, ToolName, allowed_by_default
from mnav_planner.supernav.choosers import Chooser
from mnav_planner.supernav.goals import goal_records
from mnav_planner.supernav.grounding import DetectionGrounder
from mnav_planner.supernav.session import SessionPolicy, ToolSession
from mnav_planner.supernav.tasks import LoopBudget, NavTask

BUILTIN = "builtin"


def agent_run(
    task: NavTask,
    robot: RobotDescription,
    robot_name: str,
    configuration: Configuration = Configuration.FULL,
    model: ChatModel | None = None,
    budget: LoopBudget | None = None,
) -> AgentRun:
    """A run of the loop on a fresh session. The builtin chooser alone may call `detections` and `frontiers`."""
    used = budget or LoopBudget()
    allowed = allowed_by_default(configuration)
    if model is None:
        allowed |= {ToolName.DETECTIONS, ToolName.FRONTIERS, ToolName.VISUAL_POINT_NAVIGATE}
    policy = SessionPolicy(configuration, allowed, run_s=used.seconds)
    session = ToolSession(
        secrets.token_hex(8),
        robot_name,
        robot,
        policy,
        goal_records([goal.description for goal in task.goals], task.ordered),
        grounder=DetectionGrounder(),
    )
    front_only = configuration is Configuration.FRONT_ONLY
    builtin = BuiltinChooser(task, front_only, turns_to_look=len(robot.views) < 4)
    chooser: Chooser = BuiltinOnly(builtin)
    return AgentRun(session, chooser, used)
