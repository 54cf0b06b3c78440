"""Somebody else's agent program as the mind, played by one that speaks real MCP."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from mnav_core.errors import UsageError
from mnav_planner.supernav.access import Access
from mnav_planner.supernav.agent_home import make_home
from mnav_planner.supernav.catalogue import DEFAULT_TOOLS, ToolName
from mnav_planner.supernav.client_configuration import HttpServer
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import ServedRobot, SessionHost
from mnav_planner.supernav.http_service import HttpService
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.outside_agent import OutsideOutcome, ProgramEnd, Transcript, run_program
from mnav_planner.supernav.outside_program import OutsideProgram
from mnav_planner.supernav.session import SessionPolicy
from mnav_planner.supernav.tasks import NavGoal, NavTask
from mnav_planner.testing.toy_robot import Post, ToyRobot, ToyService

TASK = NavTask("find the ball", (NavGoal("find the ball", ("ball",)),))
BALL = Post("e1", "ball", -3.0, 1.0)
TOKEN = "k" * 32


def play(behaviour: str, folder: Path, run_s: float = 60.0) -> tuple[OutsideOutcome, ProgramEnd, ToyRobot]:
    robot, desk = ToyRobot([BALL]), Desk()
    host = SessionHost([ServedRobot("toy", robot.robot, desk)], ["find the ball"])
    transcript = Transcript(folder / "calls.jsonl")
    policy = SessionPolicy(allowed=DEFAULT_TOOLS | {ToolName.DETECTIONS})
    tools = McpTools(host, on_call=transcript.note)
    with ToyService(robot, desk), HttpService(tools, [Access("program", policy, TOKEN)]) as service:
        home = make_home(folder, TASK, HttpServer(service.url, folder / "token"), ["turn"], with_skills=True)
        extra = {"PYTHONPATH": ":".join(sys.path)}
        words = (sys.executable, "-m", "mnav_planner.testing.scripted_program", behaviour)
        end = run_program(OutsideProgram(words, run_s, extra), home, TOKEN)
    return transcript.outcome(), end, robot


def test_a_program_that_finds_the_object_and_closes_has_achieved_it_by_its_own_claim(tmp_path: Path) -> None:
    outcome, end, robot = play("find", tmp_path)
    assert outcome is OutsideOutcome.ACHIEVED and end.code == 0
    assert robot.pose.distance_to(BALL.x, BALL.y) < 1.1
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert calls[0]["tool"] == "init_scene" and calls[-1]["reply"]["closed"] is True
    assert all(call["wall_s"] >= 0.0 and "images" not in call["reply"] for call in calls)


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        ("give-up", OutsideOutcome.BLOCKED),
        ("bad-close", OutsideOutcome.UNSTRUCTURED_CLOSE),
        ("close-unopened", OutsideOutcome.CLOSE_FAILED),
        ("no-close", OutsideOutcome.NONE),
        ("crash", OutsideOutcome.NONE),
    ],
)
def test_outcomes(behaviour: str, outcome: OutsideOutcome, tmp_path: Path) -> None:
    found, end, robot = play(behaviour, tmp_path)
    assert found is outcome and (end.code != 0) == (behaviour == "crash")
    assert robot.velocity.is_rest


def test_a_program_that_does_not_end_is_ended_with_its_children_and_kept_apart(tmp_path: Path) -> None:
    outcome, end, _ = play("hang", tmp_path, run_s=6.0)
    assert outcome is OutsideOutcome.NONE and end.timed_out and end.wall_s < 15.0


def test_the_home_has_prompt_skills_and_configuration_and_the_program_sees_nothing_else(tmp_path: Path) -> None:
    _, _, _ = play("escape", tmp_path)
    seen = set(json.loads((tmp_path / "stdout.log").read_text()))
    assert "MNAV_MCP_TOKEN" in seen and not {name for name in seen if name.startswith(("SSH", "AWS", "OPENAI"))}
    assert len(seen) <= 14
    prompt = (tmp_path / "prompt.txt").read_text()
    assert "find the ball" in prompt and "close_session" in prompt
    hashes = json.loads((tmp_path / "skills.sha256.json").read_text())
    assert "global-navigation/SKILL.md" in hashes and (tmp_path / "work/skills/global-navigation/SKILL.md").is_file()
    toml = (tmp_path / "home/.codex/config.toml").read_text()
    assert "startup_timeout_sec = 180" in toml and "tool_timeout_sec = 300" in toml and TOKEN not in toml
    assert TOKEN not in (tmp_path / "work/.mcp.json").read_text()


def test_bad_commands_and_folders_are_named(tmp_path: Path) -> None:
    server = HttpServer("http://127.0.0.1:1/mcp", tmp_path / "token")
    home = make_home(tmp_path, TASK, server, [], with_skills=False)
    with pytest.raises(UsageError, match="no-such-program"):
        run_program(OutsideProgram(("no-such-program",)), home, TOKEN)
    with pytest.raises(UsageError, match="holds a run already"):
        make_home(tmp_path, TASK, server, [], with_skills=False)
    with pytest.raises(UsageError, match="run_s"):
        OutsideProgram(("x",), 0.0)
