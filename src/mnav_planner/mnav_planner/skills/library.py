"""Finds skills by name and description, and reads them piece by piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from mnav_core.errors import UsageError

MAIN_FILE = "SKILL.md"
REFERENCES = "references"
MAX_BYTES = 16_000


@dataclass(frozen=True)
class Skill:
    """One package: what a model is told of it, its instructions, and the references it may read further."""

    name: str
    description: str
    body: str
    references: Mapping[str, str] = field(default_factory=dict)

    def read(self, reference: str | None = None) -> str | None:
        """The instructions, or one reference by file name or path; None where there is no such reference."""
        if reference is None:
            return self.body
        return self.references.get(reference.removeprefix(f"{REFERENCES}/"))


def bundled() -> Path:
    """The folder of the skills that come with this package."""
    return Path(__file__).resolve().parent


def load_skills(folder: Path | None = None) -> dict[str, Skill]:
    """All skills of a folder by name. Raises UsageError naming a file that is no skill and why."""
    root = bundled() if folder is None else folder
    skills = [_load(file) for file in sorted(root.glob(f"*/{MAIN_FILE}"))]
    if not skills:
        raise UsageError(f"skills folder {root}: no skill in it, allowed: folders with {MAIN_FILE}")
    return {skill.name: skill for skill in skills}


def listing(skills: Mapping[str, Skill]) -> str:
    """Names and descriptions, one a line: all that a model is told before it reads one."""
    return "\n".join(f"- {skill.name}: {skill.description}" for skill in skills.values())


def _load(file: Path) -> Skill:
    text = _text(file)
    parts = text.split("---\n", 2)
    if len(parts) != 3 or parts[0]:
        raise UsageError(f"skill {file}: no front matter, allowed: name and description between two lines of ---")
    try:
        front = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise UsageError(f"skill {file}: front matter is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(front, dict) or set(front) != {"name", "description"}:
        found = sorted(front) if isinstance(front, dict) else front
        raise UsageError(f"skill {file}: front matter has {found}, allowed: name and description")
    name, description = str(front["name"]), str(front["description"])
    if name != file.parent.name or not description:
        raise UsageError(f"skill {file}: name is {name!r}, allowed: {file.parent.name!r}, the name of its folder")
    references = {entry.name: _text(entry) for entry in sorted((file.parent / REFERENCES).glob("*.md"))}
    return Skill(name, description, parts[2].strip() + "\n", references)


def _text(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"skill {file}: cannot be read: {error}") from error
    if len(text.encode()) > MAX_BYTES:
        raise UsageError(f"skill {file}: {len(text.encode())} bytes, allowed: at most {MAX_BYTES}")
    return text
