"""Skills: found by name and description, read piece by piece, and everything that they mention exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnav_core.errors import UsageError
from mnav_planner.skills.checking import problems
from mnav_planner.skills.library import Skill, listing, load_skills

EXPECTED = {"global-navigation", "geometric-executor", "learned-executor", "front-only", "multi-goal"}
REFERENCES = {"exploration-and-return.md", "recovery-and-stop.md", "entrance-search.md", "spatial-memory.md"}


def test_the_bundle_is_complete_and_mentions_nothing_that_does_not_exist() -> None:
    skills = load_skills()
    assert set(skills) == EXPECTED
    assert set(skills["global-navigation"].references) == REFERENCES
    assert problems(skills) == []


def test_checking_finds_made_up_tools_fields_statuses_and_forgotten_references() -> None:
    body = "Call `fly_to`, read `altitude_m`, wait for `landed`, then `turn`."
    found = problems({"air": Skill("air", "fly", body, {"storms.md": "Use `umbrella`."})})
    assert [line.split("`")[1] for line in found if "`" in line] == ["altitude_m", "fly_to", "landed", "umbrella"]
    assert any("storms.md is not mentioned" in line for line in found)


def test_before_it_is_read_a_skill_is_a_name_and_a_description() -> None:
    skills = load_skills()
    lines = listing(skills).splitlines()
    assert len(lines) == len(EXPECTED) and all(len(line) < 200 for line in lines)
    assert "The loop" not in listing(skills)


def test_references_are_read_by_name_or_path_and_nothing_else_is() -> None:
    skill = load_skills()["global-navigation"]
    assert skill.read("entrance-search.md") == skill.read("references/entrance-search.md")
    assert "Glass" in (skill.read("entrance-search.md") or "")
    assert skill.read("../geometric-executor/SKILL.md") is None
    assert skill.read("/etc/passwd") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no front matter", "no front matter"),
        ("---\nname: other\ndescription: x\n---\nbody", "the name of its folder"),
        ("---\nname: a\n---\nbody", "allowed: name and description"),
        ("---\n: [\n---\nbody", "not YAML"),
        ("---\nname: a\ndescription: x\n---\n" + "y" * 20_000, "at most"),
    ],
)
def test_a_file_that_is_no_skill_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_skills(tmp_path)
