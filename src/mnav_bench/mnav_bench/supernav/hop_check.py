"""How often a drive to a visible floor point gets there, by distance: hops of every band in houses of their own.

`python -m mnav_bench.supernav.hop_check [HOUSES] [HOPS A HOUSE] [SEED] [ROBOT]` prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from multiprocessing import get_context
from typing import Any

import numpy as np

from mnav_bench.assembly import build_body
from mnav_bench.runner import RobotRun, run_world
from mnav_bench.supernav.evaluation import world_of
from mnav_bench.supernav.generation import make_task
from mnav_bench.supernav.hops import BANDS, Hop, hop_success
from mnav_core.randomness import generator
from mnav_core.requests import Observation, Observe, Reply, Request
from mnav_core.robot import find_robot
from mnav_planner.stepper import MindStepper
from mnav_planner.supernav.agent import AgentRun
from mnav_planner.supernav.catalogue import Configuration
from mnav_planner.supernav.choosers import Decision, LoopCounts
from mnav_planner.supernav.making import agent_run
from mnav_planner.supernav.replies import ToolReply
from mnav_planner.supernav.session import ToolSession
from mnav_planner.supernav.tasks import LoopBudget, NavGoal, NavTask
from mnav_planner.supernav.way_points import FloorPixel, visible_floor

TASK = NavTask("drive about", (NavGoal("drive about"),))
NEAREST_M, FARTHEST_M = 0.8, 9.0
BUDGET_S = 1800.0
TURNS_A_HOP = 3


@dataclass
class FloorPicker:
    """Chooses floor in view, each time in the band that was asked for least; turns where none is seen."""

    session: ToolSession
    rng: np.random.Generator
    wanted: int
    hops: list[Hop] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    aimed_m: float | None = None

    def choose(self, reply: ToolReply, counts: LoopCounts) -> Generator[Request, Reply, Decision]:
        """See `mnav_planner.supernav.choosers.Chooser`."""
        self._note(reply)
        now = yield Observe()
        assert isinstance(now, Observation)
        if len(self.hops) >= self.wanted or self.session.capture is None:
            return Decision("close_session", {"outcome": "achieved"})
        banded = self._banded(now, visible_floor(self.session.capture.images, farthest_m=FARTHEST_M))
        if not banded:
            return Decision("turn", {"direction": "left", "degrees": 90})
        band = min(banded, key=lambda name: (self.asked[name], name))
        self.asked[band] += 1
        pixel, self.aimed_m = banded[band][int(self.rng.integers(len(banded[band])))]
        given = {"view": pixel.view, "point": [pixel.u, pixel.v], "intent": "pass_through"}
        return Decision("visual_point_navigate", given)

    def _note(self, reply: ToolReply) -> None:
        if self.aimed_m is not None and reply.failure is None:
            # A hop that was refused before a plan was made is as long as the straight line at least.
            length_m = max(float(reply.fields.get("planned_m", 0.0)), self.aimed_m)
            self.hops.append(Hop(round(length_m, 3), str(reply.fields["status"])))
        self.aimed_m = None

    def _banded(self, now: Observation, floor: list[FloorPixel]) -> dict[str, list[tuple[FloorPixel, float]]]:
        found: dict[str, list[tuple[FloorPixel, float]]] = {}
        for pixel in floor:
            away_m = now.pose.distance_to(*pixel.place)
            for name, least_m, most_m in BANDS:
                if max(least_m, NEAREST_M) < away_m <= most_m:
                    found.setdefault(name, []).append((pixel, away_m))
        return found


def hops_in(seed: int, index: int, robot_name: str, wanted: int) -> list[Hop]:
    """The hops of one house."""
    robot = find_robot(robot_name)
    task = make_task("single", seed, index, robot)
    world = world_of(task)
    try:
        made = agent_run(TASK, robot, robot_name, Configuration.FULL)
        picker = FloorPicker(made.session, generator("hops", seed, index), wanted)
        run = AgentRun(made.session, picker, LoopBudget(turns=TURNS_A_HOP * wanted))
        body = build_body(robot, holder="hops")
        run_world(world, {robot_name: RobotRun(body, MindStepper(run.mind(), body))}, BUDGET_S)
        return picker.hops
    finally:
        world.close()


def check(houses: int, wanted: int, seed: int, robot_name: str, workers: int = 2) -> dict[str, Any]:
    """Hop success by band over `houses` houses with `wanted` hops each."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(hops_in, repeat(seed), range(houses), repeat(robot_name), repeat(wanted)))
    hops = [hop for of_house in found for hop in of_house]
    failed = Counter(hop.status for hop in hops if not hop.reached)
    return {"robot": robot_name, "seed": seed, "houses": houses, "hops": hop_success(hops), "failed": dict(failed)}


def main(words: list[str]) -> int:
    """Print the result."""
    houses, wanted, seed = (int(words[k]) if len(words) > k else default for k, default in enumerate((10, 24, 4100)))
    print(json.dumps(check(houses, wanted, seed, words[3] if len(words) > 3 else "cobot_magic")))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
