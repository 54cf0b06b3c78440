"""An outside agent program on a task of the suite: its own home, the tools over HTTP, scored like any other run."""

from __future__ import annotations

import json
import math
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mnav_bench.supernav.evaluation import SuiteOptions, distances_of, nav_task, scored_row, world_of
from mnav_bench.supernav.serving import WorldService
from mnav_bench.supernav.task_files import SuperNavFile, SuperNavTask
from mnav_bench.track import Track
from mnav_core.robot import find_robot
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame
from mnav_planner.supernav.access import Access
from mnav_planner.supernav.agent_home import make_home
from mnav_planner.supernav.catalogue import Configuration
from mnav_planner.supernav.client_configuration import HttpServer
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.hosting import ServedRobot, SessionHost
from mnav_planner.supernav.http_service import HttpService
from mnav_planner.supernav.mcp_server import McpTools
from mnav_planner.supernav.outside_agent import OutsideOutcome, Transcript, run_program
from mnav_planner.supernav.outside_program import OutsideProgram
from mnav_planner.supernav.session import SessionPolicy

READY_S = 180.0


class _Watched:
    """The world, and the true path of its robot, for the evaluation alone."""

    def __init__(self, task: SuperNavTask) -> None:
        self._task = task
        self.track = Track()
        self.world: World | None = None

    def make(self) -> World:
        """The world of the task."""
        world = world_of(self._task)
        self.world = world
        self.distances = distances_of(world, world.robots[self._task.robot])
        return world

    def measure(self, robot: str, _frame: SensorFrame, _now_s: float) -> None:
        """Add the true pose of one tick."""
        assert self.world is not None
        self.track.add(self.world.truth().robot_pose(robot))


def run_outside(
    suite: SuperNavFile,
    task: SuperNavTask,
    options: SuiteOptions,
    program: OutsideProgram,
    folder: Path,
    renderer: ThreadPoolExecutor | None = None,
) -> dict[str, Any]:
    """Run the program on a task and score it; transcript, output and `run.json` stay in `folder`.

    `renderer` is the thread in which all worlds of this process are drawn.
    """
    started = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    watched, desk, robot = _Watched(task), Desk(), find_robot(task.robot)
    asked = nav_task(task)
    policy = SessionPolicy(options.configuration, run_s=suite.budget_s)
    host = SessionHost([ServedRobot(task.robot, robot, desk)], [goal.description for goal in asked.goals])
    transcript, token = Transcript(folder / "calls.jsonl"), secrets.token_urlsafe(32)
    tools = McpTools(host, on_call=transcript.note)
    with WorldService(watched.make, {task.robot: desk}, watched.measure, renderer) as world:
        world.wait_until_ready(READY_S)
        with HttpService(tools, [Access("program", policy, token)]) as service:
            names = [tool.value for tool in sorted(policy.tools, key=lambda tool: tool.value)]
            with_skills = options.configuration is not Configuration.NO_SKILLS
            server = HttpServer(service.url, folder / "token")
            home = make_home(folder, asked, server, names, with_skills)
            end = run_program(program, home, token)
    outcome = transcript.outcome()
    stopped = outcome in (OutsideOutcome.ACHIEVED, OutsideOutcome.BLOCKED)
    row = scored_row(suite.kind, task, options, watched.track.poses, watched.track.path_m, stopped, watched.distances)
    sessions = host.sessions()
    marked = sessions[-1].goals.marked_s if sessions else {}
    row |= {
        "claim": {"outcome": outcome.value, "reason": "", "marked": sorted(index + 1 for index in marked)},
        "tool_calls": transcript.calls,
        "exit_code": end.code,
        "timed_out": end.timed_out,
        "wall_s": round(time.monotonic() - started, 2),
    }
    finite = {key: value for key, value in row.items() if not (isinstance(value, float) and math.isnan(value))}
    (folder / "run.json").write_text(json.dumps(finite, indent=1) + "\n")
    return row
