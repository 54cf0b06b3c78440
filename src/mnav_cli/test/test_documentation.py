"""What the pages say: commands and options exist, links lead somewhere, names are those of the code."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnav_cli.checkout import checkout_root
from mnav_cli.registry import COMMANDS, listed_commands
from mnav_cli.systems import load_system, system_names, systems_folder

ROOT = checkout_root()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"\./mnav[ \t]+([a-z][a-z_-]*)([^`\n|#]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def commands_in(page: Path) -> Iterator[tuple[str, str]]:
    """Command and the rest of its code span or line, for every `./mnav ...`."""
    for match in COMMAND.finditer(page.read_text()):
        yield match.group(1), match.group(2)


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Long options of a parser and of its sub-commands."""
    found: set[str] = set()
    for action in parser._actions:
        found.update(option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                found |= options_of(child)
    return found


def anchors_of(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+\s+(.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower())) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist_and_have_the_options(page: Path) -> None:
    for name, rest in commands_in(page):
        assert name in listed_commands(), f"{page.name}: ./mnav {name}"
        options = set(OPTION.findall(rest))
        if not options:
            continue
        parser = argparse.ArgumentParser()
        importlib.import_module(COMMANDS[name].module).configure(parser)
        assert options <= options_of(parser), f"{page.name}: ./mnav {name}{rest}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors_of(target), f"{page.name}: {link}"


def test_pages_name_commands_at_all() -> None:
    assert {name for page in PAGES for name, _ in commands_in(page)} >= {"demo", "up", "gen", "bench", "report", "test"}


def test_graph_page_names_every_system_node_and_default_parameter() -> None:
    text = (ROOT / "docs" / "ros.md").read_text()
    for name in system_names(systems_folder()):
        assert f"`{name}`" in text, name
        for node in load_system(name).nodes():
            assert f"`{node.name}`" in text, node.name
    for file in (ROOT / "launch").glob("*.launch.py"):
        assert file.name in text, file.name


@pytest.mark.parametrize("kind", ["srv", "action"])
def test_contract_page_names_every_field_of_requests_and_goals(kind: str) -> None:
    text = (ROOT / "docs" / "contract.md").read_text()
    for file in (ROOT / "src" / "mnav_interfaces" / kind).iterdir():
        assert file.stem in text or re.sub(r"(?<!^)(?=[A-Z])", "_", file.stem).lower() in text, file.name
        asked = file.read_text().split("---")[0]
        for line in asked.splitlines():
            declared = re.match(r"\S+\s+([a-z_]+)$", line)
            if declared and kind == "srv":
                assert declared.group(1) in text, f"{file.name}: {declared.group(1)}"


def test_contract_page_names_every_motion_status() -> None:
    text = (ROOT / "docs" / "contract.md").read_text()
    definitions = (ROOT / "src" / "mnav_interfaces" / "msg" / "MotionStatus.msg").read_text()
    for status in re.findall(r"^uint8 ([A-Z_]+)=", definitions, re.MULTILINE):
        assert status == "EN_ROUTE" or f"`{status}`" in text, status
