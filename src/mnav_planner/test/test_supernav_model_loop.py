"""The loop on a chat model: a well-behaved one, one that misbehaves in every known way, and none at all."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

pytest.importorskip("openai")

from mnav_core.requests import TaskOutcome, TaskResult
from mnav_models.coordinates import Convention, CoordinateFrame
from mnav_models.endpoint import Capabilities, Patience, parse_endpoint
from mnav_models.endpoint_model import open_endpoint
from mnav_models.testing.behaviours import BEHAVIOURS, Behaviour, calls, says
from mnav_models.testing.fault_server import FaultServer
from mnav_planner.asking import ModelAsker, Thinking
from mnav_planner.stepper import MindStepper
from mnav_planner.supernav.agent import AgentRun
from mnav_planner.supernav.catalogue import Configuration
from mnav_planner.supernav.making import agent_run
from mnav_planner.supernav.tasks import LoopBudget, NavGoal, NavTask
from mnav_planner.testing.toy_robot import Post, ToyRobot

TASK = NavTask(
    "go to the blue ball, then to the lamp", (NavGoal("the blue ball", ("ball",)), NavGoal("the lamp", ("lamp",)))
)
QUICK = Patience(attempt_s=0.25, connect_s=1.0, attempts=2, backoff_s=0.01, backoff_max_s=0.02, breaker_cooldown_s=0.05)


def call(tool: str, /, **given: Any) -> Behaviour:
    return calls(("call_1", tool, json.dumps(given)))


def drive(
    script: list[Behaviour],
    turns: int,
    robot: ToyRobot | None = None,
    configuration: Configuration = Configuration.FULL,
    frame: CoordinateFrame | None = None,
    keep_bodies: bool = True,
) -> tuple[AgentRun, TaskResult, FaultServer, ToyRobot]:
    toy = robot or ToyRobot([])
    with FaultServer(script, keep_bodies=keep_bodies) as server:
        model = open_endpoint(parse_endpoint(f"{server.url}#scripted"), Capabilities(), QUICK)
        run = agent_run(TASK, toy.robot, "toy", configuration, model, LoopBudget(turns=turns), frame)
        run.chooser.settings = type(run.chooser.settings)(turn_s=1.0)
        asker = ModelAsker(model, Thinking.PAUSED)
        stepper = MindStepper(run.mind(), toy, asker=asker)
        while (result := stepper.poll()) is None:
            toy.tick()
        model.close()
        return run, result, server, toy


def in_turn(script: list[Behaviour]) -> list[Behaviour]:
    """The script over and over."""
    waiting = list(script)

    def one(exchange: Any) -> None:
        waiting.append(waiting.pop(0))
        waiting[-1](exchange)

    return [one]


def text_of(body: dict[str, Any]) -> str:
    parts = []
    for message in body["messages"]:
        content = message.get("content") or ""
        parts.append(content if isinstance(content, str) else " ".join(p.get("text", "") for p in content))
    return "\n".join(parts)


def test_a_model_that_knows_what_it_wants_drives_marks_and_closes() -> None:
    script = [
        call("read_skill", name="global-navigation"),
        call("read_skill", name="global-navigation", reference="recovery-and-stop.md"),
        call("note_evidence", key="start", text="a bare room with a red post behind me"),
        call("turn", direction="left", degrees=180),
        call("visual_point_navigate", point=[0.5, 0.6], view="front"),
        call("nav_goals", action="mark", target_index=1),
        call("nav_goals", action="mark", target_index=2),
        call("close_session", outcome="achieved", reason="both are before me"),
    ]
    run, result, server, toy = drive(script, 50, ToyRobot([Post("p", "ball", -3.0, 0.0)]))
    assert result == TaskResult(TaskOutcome.ACHIEVED, "both are before me")
    assert (run.counts.skill_reads, run.counts.notes, run.counts.fallbacks, run.counts.model_turns) == (2, 1, 0, 8)
    assert run.session.tool_calls == 6, "init, turn, navigate, two marks, close: reading and notes are none"
    assert toy.path_m > 1.0
    said = text_of(server.seen[-1].body)
    assert "a bare room with a red post" in said and "the blue ball" in said and "reached_visual_point" in said
    assert "fly" not in said


def test_the_images_that_travel_are_those_of_the_newest_reply() -> None:
    script = [call("turn", direction="left", degrees=10 * (i % 3 + 1)) for i in range(12)]
    _, _, server, _ = drive(script, 10)
    for seen in server.seen[2:]:
        images = [
            part
            for message in seen.body["messages"]
            if isinstance(message.get("content"), list)
            for part in message["content"]
            if part.get("type") == "image_url"
        ]
        assert len(images) == 4


FAULTS = [
    call("note_evidence", key="window", text="the window shows a garden"),
    call("turn", direction="left", degrees=30),
    BEHAVIOURS["http-500"],
    BEHAVIOURS["prose"],
    call("turn", direction="right", degrees=20),
    BEHAVIOURS["empty"],
    BEHAVIOURS["cut-json"],
    call("visual_point_navigate", point=[0.5, 0.85], view="back", intent="pass_through"),
    BEHAVIOURS["unknown-tool"],
    BEHAVIOURS["not-json"],
    call("visual_point_navigate", point=[1.5, 0.85]),
    call("panorama"),
    BEHAVIOURS["content-filter"],
    BEHAVIOURS["reset"],
    BEHAVIOURS["cut-body"],
    call("turn", direction="left", degrees=15),
    call("turn", direction="left", degrees=40),
    BEHAVIOURS["hang-up"],
    BEHAVIOURS["silence"],
    BEHAVIOURS["endless-blanks"],
    says('{"name": "turn", "arguments": {"direction": "left", "degrees": 50}}'),
    calls(("a", "turn", '{"direction": "left", "degrees": 10}'), ("a", "turn", '{"direction": "left", "degrees": 10}')),
    BEHAVIOURS["wrong-type"],
    call("read_skill", name="no-such-skill"),
    call("nav_goals"),
]


@pytest.mark.slow
def test_three_hundred_turns_of_faults_end_with_goals_and_evidence_kept_and_requests_no_larger() -> None:
    started = time.monotonic()
    run, result, server, toy = drive(
        [call("note_evidence", key="door", text="the first door was green"), *in_turn(FAULTS)], 300
    )
    elapsed_s = time.monotonic() - started
    assert elapsed_s < 120.0, "bounded: no turn takes longer than its deadline"
    assert result.outcome is TaskOutcome.TIMED_OUT and run.counts.turns == 300
    assert run.counts.fallbacks >= 20 and run.counts.refusals >= 1 and run.counts.empty_turns >= 1
    assert run.counts.unusable_turns >= 10 and run.counts.model_turns >= 150
    sizes = [seen.body_bytes for seen in server.seen]
    early, late = max(sizes[20 : len(sizes) // 3]), max(sizes[-len(sizes) // 3 :])
    assert late <= 1.15 * early, f"{early} -> {late} bytes"
    said = text_of(server.seen[-1].body)
    for kept in ("the first door was green", "the window shows a garden", "the blue ball", "the lamp"):
        assert kept in said
    assert toy.velocity.is_rest


def test_a_call_that_is_sent_again_and_again_is_not_carried_out_again_and_again() -> None:
    script = [call("visual_point_navigate", point=[0.5, 0.01], view="front")]
    run, _, _, toy = drive(script, 30)
    assert run.counts.repeats >= 3 and run.counts.fallbacks >= 1
    asked = [request for request in toy.started if type(request).__name__ == "GoToPoint"]
    assert len(asked) <= 20


def test_without_any_model_the_stand_in_goes_on_and_gives_up_honestly() -> None:
    run, result, _, _ = drive([BEHAVIOURS["http-500"]], 300)
    assert result.outcome is TaskOutcome.BLOCKED and run.counts.fallbacks >= 8 and run.session.closed


def test_no_skills_says_the_goal_and_to_close_and_offers_nothing_else() -> None:
    script = [call("close_session", outcome="blocked")]
    _, _, server, _ = drive(script, 5, configuration=Configuration.NO_SKILLS)
    body = server.seen[0].body
    names = {tool["function"]["name"] for tool in body["tools"]}
    assert "read_skill" not in names and "close_session" in names and "detections" not in names
    assert "global-navigation" not in text_of(body)


def test_a_model_that_points_in_thousandths_is_understood() -> None:
    script = [
        call("visual_point_navigate", point=[500.0, 700.0], view="front", intent="pass_through"),
        call("close_session", outcome="blocked"),
    ]
    frame = CoordinateFrame(Convention.PER_MILLE)
    _, _, server, toy = drive(script, 5, frame=frame)
    point = toy.started[0]
    assert (point.u, point.v) == (pytest.approx(0.5), pytest.approx(0.7))
    tools = {tool["function"]["name"]: tool["function"] for tool in server.seen[0].body["tools"]}
    written = json.dumps(tools["visual_point_navigate"]["parameters"]["properties"]["point"])
    assert "1000" in written
