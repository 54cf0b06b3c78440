"""The chooser without a model, on the toy robot: it finds, it gives up within a bound, it asks for what it wants."""

from __future__ import annotations

from typing import Any

from mnav_core.requests import TaskOutcome, TaskResult
from mnav_planner.stepper import MindStepper
from mnav_planner.supernav.agent import AgentRun
from mnav_planner.supernav.builtin import BuiltinChooser, BuiltinSettings, ToolRequest
from mnav_planner.supernav.catalogue import Configuration
from mnav_planner.supernav.making import agent_run
from mnav_planner.supernav.replies import ToolReply
from mnav_planner.supernav.tasks import LoopBudget, NavGoal, NavTask
from mnav_planner.testing.toy_robot import Post, ToyRobot

BALL, LAMP = NavGoal("the ball", ("ball",)), NavGoal("the lamp", ("lamp",))
MOST_TICKS = 200_000


def run_on(toy: ToyRobot, task: NavTask, turns: int = 60) -> tuple[AgentRun, TaskResult, list[tuple[str, Any]]]:
    run = agent_run(task, toy.robot, "toy", Configuration.FULL, None, LoopBudget(turns=turns))
    called: list[tuple[str, Any]] = []
    run.on_step = lambda decision, reply: called.append((decision.name, dict(decision.arguments)))
    stepper = MindStepper(run.mind(), toy)
    for _ in range(MOST_TICKS):
        result = stepper.poll()
        if result is not None:
            return run, result, called
        toy.tick()
    raise AssertionError("the run did not end")


def test_goals_in_order_are_reached_and_marked() -> None:
    toy = ToyRobot([Post("e1", "ball", 3.0, 1.0), Post("e2", "lamp", -3.0, -1.0)])
    run, result, _ = run_on(toy, NavTask("the lamp, then the ball", (LAMP, BALL)))
    assert result.outcome is TaskOutcome.ACHIEVED and sorted(run.session.goals.marked_s) == [0, 1]
    assert toy.pose.distance_to(3.0, 1.0) < 1.5


def test_a_base_that_does_not_move_is_given_up_long_before_the_turns_are_spent() -> None:
    toy = ToyRobot([Post("e1", "ball", 3.0, 1.0)], frozen=True)
    _, result, called = run_on(toy, NavTask("the ball", (BALL,)))
    assert result.outcome is TaskOutcome.BLOCKED and len(called) < 30
    settings = BuiltinSettings()
    freeing = [(name, given) for name, given in called if name == "turn" or given.get("point") == [0.5, 0.95]]
    assert len(freeing) == settings.most_freeing and len({str(step) for step in freeing}) == 8, "it tries other ways"


def test_a_freed_base_goes_on_with_its_search() -> None:
    calls = BuiltinChooser(NavTask("the ball", (BALL,)), settings=BuiltinSettings(patience=0)).episode()
    seen = {"id": "e1", "category": "ball", "distance_m": 3.0, "point": [0.5, 0.5], "image_ref": "cap:1:front"}
    blocked = {"status": "navigation_blocked", "displacement_m": 0.0}
    request = next(calls)
    asked: list[ToolRequest] = []
    for _ in range(12):
        asked.append(request)
        fields: dict[str, Any] = {}
        if request.name == "detections":
            fields = {"detections": [seen], "remembered": []}
        elif request.name == "visual_point_navigate":
            fields = blocked
        elif request.name == "turn":
            fields = {"status": "completed"}
            break
        request = calls.send(ToolReply(request.name, fields))
    assert asked[-1].name == "turn"
    assert calls.send(ToolReply("turn", fields)).name == "detections"


def test_it_asks_the_detector_for_what_it_wants_and_gets_nothing_else() -> None:
    toy = ToyRobot([Post("e1", "ball", 3.0, 1.0), Post("e2", "lamp", -3.0, -1.0)])
    replies: list[ToolReply] = []
    run = agent_run(NavTask("the ball", (BALL,)), toy.robot, "toy")
    run.on_step = lambda decision, reply: replies.append(reply) if decision.name == "detections" else None
    stepper = MindStepper(run.mind(), toy)
    while stepper.poll() is None:
        toy.tick()
    found = [entry for reply in replies for kind in ("detections", "remembered") for entry in reply.fields[kind]]
    assert found and {entry["category"] for entry in found} == {"ball"}
