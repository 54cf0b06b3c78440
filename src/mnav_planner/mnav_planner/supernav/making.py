"""Puts an agent together: session, chooser, model."""

from __future__ import annotations

import secrets

from mnav_core.chat import ChatModel, ToolSchema
from mnav_core.robot import RobotDescription
from mnav_core.schedule import SensorSchedule
from mnav_models.conversation import Conversation
from mnav_models.coordinates import CoordinateFrame
from mnav_planner.skills.library import load_skills
from mnav_planner.supernav.agent import AgentRun, BuiltinOnly
from mnav_planner.supernav.arguments import NoteEvidence, ReadSkill
from mnav_planner.supernav.builtin import BuiltinChooser
from mnav_planner.supernav.catalogue import Configuration, ToolName, allowed_by_default
from mnav_planner.supernav.goals import goal_records
from mnav_planner.supernav.grounding import DetectionGrounder
from mnav_planner.supernav.labelled_images import REPLY_BUDGET
from mnav_planner.supernav.model_chooser import CONTEXT, ModelChooser
from mnav_planner.supernav.pointing import Pointing
from mnav_planner.supernav.prompts import skills_for, system_prompt, task_prompt
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
    frame: CoordinateFrame | None = None,
) -> AgentRun:
    """A run of the loop on a fresh session.

    The builtin chooser, also as a model's stand-in, may call `detections` and `frontiers`; a model is not shown them.
    `frame` is how the model writes points, where not from 0 to 1.
    """
    used = budget or LoopBudget()
    shown = allowed_by_default(configuration)
    allowed = shown | {ToolName.DETECTIONS, ToolName.FRONTIERS, ToolName.VISUAL_POINT_NAVIGATE}
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
    if model is None:
        return AgentRun(session, BuiltinOnly(builtin), used)
    schemas = tuple(tool.schema() for tool in session.tools() if tool.name in shown - {ToolName.INIT_SCENE})
    return AgentRun(session, _model_chooser(task, schemas, configuration, builtin, frame), used)


def _model_chooser(
    task: NavTask,
    schemas: tuple[ToolSchema, ...],
    configuration: Configuration,
    builtin: BuiltinChooser,
    frame: CoordinateFrame | None,
) -> ModelChooser:
    skills = skills_for(configuration, load_skills())
    conversation = Conversation(system_prompt(configuration, skills), CONTEXT)
    conversation.set_goal("task", task_prompt(task))
    pointing = None if frame is None else Pointing(frame, *shown_size())
    if pointing is not None:
        schemas = tuple(pointing.schema(schema) for schema in schemas)
    if configuration is not Configuration.NO_SKILLS:
        schemas += (
            ToolSchema("read_skill", "Read guidance by its name, or one of its references.", ReadSkill),
            ToolSchema("note_evidence", "Keep a finding for the rest of the task under a short key.", NoteEvidence),
        )
    return ModelChooser(conversation, schemas, skills, builtin, pointing=pointing)


def shown_size() -> tuple[int, int]:
    """Width and height of the images as they are shown."""
    width, height = SensorSchedule().image_size
    scale = min(1.0, REPLY_BUDGET.max_side_px / max(width, height))
    return round(width * scale), round(height * scale)
