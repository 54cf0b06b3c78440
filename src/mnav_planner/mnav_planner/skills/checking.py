"""Checks that whatever a skill mentions exists: tools, fields, statuses, skills, references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from mnav_core.chat import ToolArguments
from mnav_core.requests import PointIntent
from mnav_planner.skills.library import Skill
from mnav_planner.supernav import arguments
from mnav_planner.supernav.catalogue import CATALOGUE, ToolName
from mnav_planner.supernav.reply_fields import REPLY_FIELDS
from mnav_planner.supernav.statuses import FailureCode, HopStatus, NavStatus, TurnStatus

_CODE = re.compile(r"`([^`\n]+)`")
# Written as code in a skill: the notation of a point.
_NOTATION = frozenset({"[x, y]"})
_ENUMS: tuple[type[Enum], ...] = (
    NavStatus,
    HopStatus,
    TurnStatus,
    FailureCode,
    arguments.View,
    arguments.TurnDirection,
    arguments.LookDirection,
    arguments.GoalAction,
    arguments.ClaimedOutcome,
    PointIntent,
)
LOOP_TOOLS: Mapping[str, type[ToolArguments]] = {
    "read_skill": arguments.ReadSkill,
    "note_evidence": arguments.NoteEvidence,
}


def known_terms(skills: Mapping[str, Skill]) -> frozenset[str]:
    """Every word that a skill may write as code."""
    tools = {tool.value for tool in ToolName} | set(LOOP_TOOLS)
    schemas = [tool.arguments for tool in CATALOGUE.values()] + list(LOOP_TOOLS.values())
    fields = {name for schema in schemas for name in schema.model_fields}
    values = {member.value for enum in _ENUMS for member in enum}
    names = set(skills) | {f"references/{ref}" for skill in skills.values() for ref in skill.references}
    return frozenset(tools | fields | values | names | REPLY_FIELDS | _NOTATION)


def problems(skills: Mapping[str, Skill]) -> list[str]:
    """What the skills mention that does not exist, and references that none of them mentions."""
    known = known_terms(skills)
    found = []
    for skill in skills.values():
        for where, text in {"SKILL.md": skill.body, **skill.references}.items():
            for term in sorted({term for term in _CODE.findall(text) if term not in known}):
                found.append(f"{skill.name}/{where}: `{term}` is no tool, field, status, skill or reference")
        for reference in skill.references:
            if f"references/{reference}" not in skill.body:
                found.append(f"{skill.name}: references/{reference} is not mentioned in SKILL.md")
    return found
