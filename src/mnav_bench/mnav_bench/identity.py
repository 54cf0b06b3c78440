"""How well the graph keeps entities single where instance ids are withheld: walks through generated houses."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from mnav_bench.articulation.views import is_clear
from mnav_bench.figures.rows import FigureRow, at_least, row_line, verdict_code
from mnav_core.geometry import SE2
from mnav_core.randomness import derive_seed
from mnav_core.robot import RobotDescription, find_robot
from mnav_core.sensing import DetectionFrame, SensorRequest
from mnav_graph.graph import InteractionGraph
from mnav_graph.settings import GraphSettings
from mnav_sim_bridge.house.assembly import House
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.world import make_world

WALKER = "walker"
# Places of a walk, and headings at each; the second half of the places are those of the first half again.
STATIONS, HEADINGS = 12, 6
FRAME_S = 1.0
TRIES = 200
# Doors and containers that somebody moves unseen between the two halves.
MOVED_SHARE = 0.2
LEAST_SINGLE = 0.95


@dataclass(frozen=True)
class Kept:
    """Of the `entities` that were seen: `single` have one node of their own, `split` several, `merged` share theirs."""

    entities: int
    single: int
    split: int
    merged: int


def walk(
    house: House, robot: RobotDescription, seed: int, moved_share: float = MOVED_SHARE
) -> Iterator[DetectionFrame]:
    """Frames of the success view, with ids, along drawn places of a house that are all visited twice."""
    rng = np.random.default_rng(derive_seed("identity walk", seed))
    rect = house.record.rooms[0].rect
    start = SE2((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2)
    world = make_world(house, {WALKER: (robot, start)}, seed=seed)
    view, stamp_s = robot.success_view, 0.0
    try:
        grid = world.truth().obstacle_map(WALKER)
        places: list[tuple[float, float]] = []
        for _ in range(TRIES):
            room = house.record.rooms[int(rng.integers(len(house.record.rooms)))]
            x, y = rng.uniform(room.rect[0], room.rect[2]), rng.uniform(room.rect[1], room.rect[3])
            if len(places) < STATIONS // 2 and is_clear(grid, float(x), float(y)):
                places.append((float(x), float(y)))
        for half in range(2):
            if half:
                for joint in world.articulation.joints():
                    if rng.random() < moved_share:
                        world.articulation.set_fraction(world.data, joint, float(rng.uniform(0.0, 1.0)))
            for number in rng.permutation(len(places)):
                x, y = places[int(number)]
                turn = rng.uniform(-math.pi, math.pi)
                for heading in range(HEADINGS):
                    # Never twice from quite the same place.
                    jitter = rng.uniform(-0.05, 0.05, 2)
                    yaw = turn + 2.0 * math.pi * heading / HEADINGS
                    world.place(WALKER, SE2(x + float(jitter[0]), y + float(jitter[1]), yaw))
                    frame = world.sense(WALKER, SensorRequest(detect=(view,))).detections[0]
                    stamp_s += FRAME_S
                    yield replace(frame, stamp_s=stamp_s)
    finally:
        world.close()


def kept_single(frames: Iterable[DetectionFrame], settings: GraphSettings | None = None) -> Kept:
    """Feed frames whose ids are withheld to a graph; the ids tell afterwards which node is what."""
    graph = InteractionGraph(settings or GraphSettings())
    nodes_of: dict[str, set[str]] = {}
    held_by: dict[str, set[str]] = {}
    for frame in frames:
        nameless = replace(frame, detections=tuple(replace(d, entity_id="") for d in frame.detections))
        for detection, node in zip(frame.detections, graph.observe(nameless).ids, strict=True):
            nodes_of.setdefault(detection.entity_id, set()).add(node)
            held_by.setdefault(node, set()).add(detection.entity_id)
    split = sum(len(nodes) > 1 for nodes in nodes_of.values())
    single = sum(len(nodes) == 1 and all(len(held_by[n]) == 1 for n in nodes) for nodes in nodes_of.values())
    return Kept(len(nodes_of), single, split, len(nodes_of) - single - split)


def main() -> int:
    """Walk through houses that no suite uses; 1 when too few entities are kept single."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--walks", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--robot", default="cobot_magic")
    args = parser.parse_args()
    robot, found = find_robot(args.robot), list[Kept]()
    for index in range(args.walks):
        seed = derive_seed("identity", args.seed, index)
        found.append(kept_single(walk(generate_house(seed, robot, doors="mixed").house, robot, seed)))
        print(f"walk {index + 1} of {args.walks}: {found[-1]}", flush=True)
    row = figure_row(found)
    print(row_line(row))
    return verdict_code([row])


def figure_row(found: Iterable[Kept]) -> FigureRow:
    """The share that is kept single, beside what is asked."""
    kept = list(found)
    entities = sum(k.entities for k in kept)
    share = sum(k.single for k in kept) / entities if entities else math.nan
    detail = f"{entities} entities, {sum(k.split for k in kept)} split, {sum(k.merged for k in kept)} merged"
    return at_least("entities kept single without ids", share, LEAST_SINGLE, detail=detail)


if __name__ == "__main__":
    raise SystemExit(main())
