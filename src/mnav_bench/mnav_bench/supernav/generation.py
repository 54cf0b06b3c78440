"""Tasks of the suite in fresh houses whose doors are open: single, multi (2 to 5 goals), demand (1 to 5 needs)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context

import numpy as np

from mnav_bench.episodes import Pose
from mnav_bench.geodesic import inflate
from mnav_bench.reference import MARGIN_M
from mnav_bench.supernav.distances import GridDistances, Point
from mnav_bench.supernav.needs import NEEDS
from mnav_bench.supernav.references import demand_reference, ordered_reference
from mnav_bench.supernav.task_files import Goal, Kind, SuperNavFile, SuperNavTask
from mnav_bench.supernav.viewpoints import box_of, viewpoints_of
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.randomness import derive_seed, generator
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.house.records import GENERATOR_VERSION
from mnav_sim_bridge.world import MujocoWorld, make_world

BUDGET_S = {"single": 600.0, "multi": 1500.0, "demand": 1500.0}
MAX_ATTEMPTS = 12
STARTS = 12
MIN_REFERENCE_M = 2.0
MULTI_GOALS = (2, 5)
DEMAND_GOALS = (1, 5)


@dataclass(frozen=True)
class _Scene:
    world: MujocoWorld
    robot: RobotDescription
    distances: GridDistances
    rng: np.random.Generator


def generate(
    kind: Kind,
    count: int,
    seed: int,
    robot: RobotDescription,
    workers: int = 1,
    on_done: Callable[[int], None] = lambda _n: None,
) -> SuperNavFile:
    """`count` tasks with valid references. Raises UsageError when an index yields none within its bound of attempts."""
    found: list[SuperNavTask] = []
    for task in _made(kind, count, seed, robot, workers):
        found.append(task)
        on_done(len(found))
    return SuperNavFile(
        format="mnav_supernav_v1",
        suite="supernav",
        kind=kind,
        generator_version=GENERATOR_VERSION,
        seed=seed,
        robot=robot.name,
        budget_s=BUDGET_S[kind],
        episodes=tuple(found),
    )


def _made(kind: Kind, count: int, seed: int, robot: RobotDescription, workers: int) -> Iterator[SuperNavTask]:
    if workers == 1:
        yield from (make_task(kind, seed, index, robot) for index in range(count))
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(make_task, repeat(kind), repeat(seed), range(count), repeat(robot))


def make_task(kind: Kind, seed: int, index: int, robot: RobotDescription) -> SuperNavTask:
    """Task `index` of the suite with this seed; houses that cannot serve are replaced by the next attempt's."""
    suite = f"supernav-{kind}"
    for attempt in range(MAX_ATTEMPTS):
        house_seed = derive_seed(suite, seed, index, attempt)
        accepted = generate_house(house_seed, robot)
        world = make_world(accepted.house, {robot.name: (robot, SE2(0.0, 0.0))})
        try:
            rng = generator(suite, seed, index, attempt)
            task = _task_in(world, robot, rng, kind, f"{suite}-{seed}-{index:04d}", house_seed)
        finally:
            world.close()
        if task is not None:
            return task
    raise UsageError(f"{suite} seed {seed} index {index}: no valid task within {MAX_ATTEMPTS} houses")


def _task_in(
    world: MujocoWorld, robot: RobotDescription, rng: np.random.Generator, kind: Kind, task_id: str, house_seed: int
) -> SuperNavTask | None:
    grid = world.truth().obstacle_map(robot.name)
    free = inflate(grid, robot.inscribed_radius + MARGIN_M)
    scene = _Scene(world, robot, GridDistances(grid, free), rng)
    start = _start(scene, inflate(grid, robot.circumscribed_radius + MARGIN_M))
    if start is None:
        return None
    if kind == "single":
        goals = _object_goals(scene, start, 1)
    elif kind == "multi":
        goals = _object_goals(scene, start, int(rng.integers(MULTI_GOALS[0], MULTI_GOALS[1] + 1)))
    else:
        goals = _need_goals(scene, start, int(rng.integers(DEMAND_GOALS[0], DEMAND_GOALS[1] + 1)))
    if goals is None:
        return None
    reference_m = _reference(scene, kind, start, goals)
    if not MIN_REFERENCE_M <= reference_m < math.inf:
        return None
    record = world.house.record
    return SuperNavTask(
        id=task_id,
        house_seed=house_seed,
        house_sub_seed=record.sub_seed,
        house_rooms=len(record.rooms),
        scene_hash=record.xml_sha256,
        robot=robot.name,
        start=Pose(x=round(start[0], 4), y=round(start[1], 4), yaw=round(float(rng.uniform(-math.pi, math.pi)), 4)),
        text="; then ".join(goal.description for goal in goals),
        goals=tuple(goals),
        reference_m=round(reference_m, 4),
    )


def _reference(scene: _Scene, kind: Kind, start: Point, goals: Sequence[Goal]) -> float:
    if kind == "demand":
        needs = [goal.as_boxes() for goal in goals]
        return demand_reference(start, needs, scene.distances.grid, scene.distances.free)
    return ordered_reference(start, [goal.viewpoints for goal in goals], scene.distances)


def _start(scene: _Scene, roomy: np.ndarray) -> Point | None:
    """A place in a room where the robot can turn on the spot."""
    rows, columns = np.nonzero(roomy)
    for i in scene.rng.permutation(len(rows))[:STARTS]:
        point = scene.distances.grid.to_point(int(rows[i]), int(columns[i]))
        if scene.world.house.record.room_at(*point) is not None:
            return point
    return None


def _open_categories(world: MujocoWorld) -> list[str]:
    """Target categories of which no instance lies in a container."""
    objects = world.house.record.objects
    contained = {o.category for o in objects if o.container is not None}
    return sorted({o.category for o in objects if o.target} - contained)


def _object_goals(scene: _Scene, start: Point, count: int) -> list[Goal] | None:
    """`count` different categories, every instance of which can be seen from a reachable place of its own."""
    record = scene.world.house.record
    categories = _open_categories(scene.world)
    scene.rng.shuffle(categories)
    start_room = record.room_at(*start)
    goals: list[Goal] = []
    for category in categories:
        if len(goals) == count:
            break
        objects = [o for o in record.objects if o.category == category]
        if not goals and any(o.room == start_room for o in objects):
            continue
        points: list[Point] = []
        for o in objects:
            seen = viewpoints_of(scene.world, scene.robot.name, o.id, scene.distances)
            reachable = [p for p in seen if math.isfinite(scene.distances.between(start, p))]
            if not reachable:
                points = []
                break
            points += reachable
        if points:
            description = f"find the {category.replace('_', ' ')}"
            goals.append(Goal(description=description, categories=(category,), viewpoints=tuple(points)))
    return goals if len(goals) == count else None


def _need_goals(scene: _Scene, start: Point, count: int) -> list[Goal] | None:
    """`count` different needs, each served by an object that lies open."""
    open_categories = set(_open_categories(scene.world))
    texts = sorted(NEEDS)
    scene.rng.shuffle(texts)
    goals: list[Goal] = []
    for text in texts:
        if len(goals) == count:
            break
        categories = tuple(c for c in NEEDS[text] if c in open_categories)
        objects = [o for o in scene.world.house.record.objects if o.category in categories]
        if not objects:
            continue
        boxes = {o.id: box_of(scene.world, o.id) for o in objects}
        listed = {i: (round(b.x0, 4), round(b.y0, 4), round(b.x1, 4), round(b.y1, 4)) for i, b in boxes.items()}
        goals.append(Goal(description=text, categories=categories, boxes=listed))
    return goals if len(goals) == count else None
