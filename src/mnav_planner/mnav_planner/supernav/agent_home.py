"""A home of its own for each run of an outside agent program: prompt, skills, and how to reach the tools."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mnav_core.errors import UsageError
from mnav_planner.skills.library import bundled
from mnav_planner.supernav.client_configuration import HttpServer, claude_json, codex_toml, opencode_json
from mnav_planner.supernav.tasks import NavTask

SKILLS = "skills"


@dataclass(frozen=True)
class AgentHome:
    """The folders and files of one run. The program starts in `work`; `home` is its HOME."""

    folder: Path
    home: Path
    work: Path
    prompt: Path
    skills_sha256: Mapping[str, str]


def make_home(folder: Path, task: NavTask, server: HttpServer, tools: Sequence[str], with_skills: bool) -> AgentHome:
    """Write everything. Raises UsageError when the folder already holds a run."""
    home, work = folder / "home", folder / "work"
    if home.exists() or work.exists():
        raise UsageError(f"folder {folder}: holds a run already, allowed: a fresh one")
    (home / ".codex").mkdir(parents=True)
    work.mkdir(parents=True)
    hashes = _snapshot(work / SKILLS) if with_skills else {}
    (home / ".codex" / "config.toml").write_text(codex_toml(server, tools))
    (work / ".mcp.json").write_text(claude_json(server))
    (work / "opencode.json").write_text(opencode_json(server))
    prompt = folder / "prompt.txt"
    prompt.write_text(outside_prompt(task, with_skills))
    (folder / "skills.sha256.json").write_text(json.dumps(hashes, indent=1) + "\n")
    return AgentHome(folder, home, work, prompt, hashes)


def outside_prompt(task: NavTask, with_skills: bool) -> str:
    """What the program is asked to do."""
    lines = [f"Task: {task.text}"]
    if len(task.goals) > 1:
        order = "in this order" if task.ordered else "in any order"
        lines.append(f"Goals, {order}:")
        lines += [f"{i}. {goal.description}" for i, goal in enumerate(task.goals, start=1)]
    if with_skills:
        lines += [
            "You drive a robot with the tools of the MCP server mnav. Perceive and act through these tools alone.",
            f"Before the first move read {SKILLS}/global-navigation/SKILL.md, and what it refers to when you need it.",
            f"Read no other files than those under {SKILLS}, and look for no maps, scenes, answers or scores.",
        ]
    lines.append("When you are done, close the session with close_session and your honest judgement.")
    return "\n".join(lines) + "\n"


def _snapshot(target: Path) -> dict[str, str]:
    """Copy the skills; SHA-256 of each file by its path."""
    root = bundled()
    hashes = {}
    for file in sorted(root.glob("**/*.md")):
        copy = target / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        hashes[file.relative_to(root).as_posix()] = hashlib.sha256(copy.read_bytes()).hexdigest()
    return hashes
