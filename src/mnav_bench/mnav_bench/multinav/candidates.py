"""Episodes in one house: channel, container and mixed, each proven by its counterfactuals (MultINav, Appendix B.7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mnav_bench.episodes import Pose
from mnav_bench.geodesic import inflate
from mnav_bench.multinav.episode_files import AddedThing, Interaction, JointStart, MultiNavEpisode, Recipe, TaskForm
from mnav_bench.multinav.instructions import instructions
from mnav_bench.multinav.plans import Opening, Problem, Solution, is_solvable_without, length_with, solve
from mnav_bench.multinav.reachability import Counterfactuals, Floor, Point, joint_is_slide
from mnav_bench.multinav.rollout import roll_out
from mnav_bench.multinav.scene import build_scene, stocked_house
from mnav_bench.navtoobj_episode import starts
from mnav_bench.reference import MARGIN_M
from mnav_core.geometry import SE2
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.catalogue import ObjectKind, object_kinds
from mnav_sim_bridge.house.records import ContainerRecord, DoorRecord, HouseRecord, ObjectRecord
from mnav_sim_bridge.house.stocking import Addition
from mnav_sim_bridge.world import make_world

Rng = np.random.Generator
DOMAIN_OF: dict[str, str] = {"container": "container", "door_container": "mixed"}
# A route that a closed door lengthens by this much is shortened by opening it.
SHORTER_M = 1.0
SAME_M = 0.1
SHORTEST_M = 3.0
UNUSUAL_SHARE = 0.45
TRIES = 5
FOOD = ("egg", "tomato", "apple", "lettuce", "potato", "milk")
# The published skew of targets: what is kept in kitchens comes most often (Appendix B.3).
SKEW = {"egg": 3.0, "tomato": 2.0, "apple": 2.0, "lettuce": 1.6, "potato": 1.6}


@dataclass(frozen=True)
class Slot:
    """One episode to be made: its name, recipe, form, wanted length of the way (m), split and disclosure."""

    id: str
    recipe: Recipe
    form: TaskForm
    wanted_m: float
    split: str
    disclosure: str


@dataclass(frozen=True)
class Site:
    """An accepted house: what names it, and its counterfactuals before anything is moved."""

    seed: int
    sub_seed: int
    rooms: int
    robot: RobotDescription
    base: Counterfactuals

    @property
    def record(self) -> HouseRecord:
        """The house record."""
        return self.base.world.house.record


@dataclass(frozen=True)
class _Draft:
    """A choice before it is proven. `container` and its joint are None without one; `critical` is a door to open."""

    start: Point
    category: str
    target_id: str
    removed: tuple[str, ...]
    added: tuple[Addition, ...]
    critical: DoorRecord | None
    closed: tuple[DoorRecord, ...]
    container: ContainerRecord | None = None
    joint: str = ""
    goal_point: Point | None = None


def plausible_classes(kind: ObjectKind) -> tuple[str, ...]:
    """Classes of container in which a thing may well be kept."""
    return tuple(dict.fromkeys((*kind.inside, *(("fridge", "cabinet") if kind.category in FOOD else ()))))


def is_unusual(kind: ObjectKind, container: ContainerRecord, room_kind: str) -> bool:
    """Whether common sense would not look there first: another class than its usual one, or another kind of room."""
    return not kind.inside or container.category != kind.inside[0] or room_kind not in kind.rooms


def make_episode(site: Site, slot: Slot, rng: Rng) -> MultiNavEpisode | None:
    """An episode for a slot in a house, proven on maps, by visibility and in physics; None when none was found."""
    drafts = _containers(site, slot, rng) if slot.recipe in DOMAIN_OF else _channels(site, slot, rng)
    for k, draft in enumerate(drafts):
        if k >= TRIES:
            return None
        episode = _proven(site, slot, rng, draft)
        if episode is not None:
            return episode
    return None


def _channels(site: Site, slot: Slot, rng: Rng) -> Iterator[_Draft]:
    record, floor = site.record, site.base.floor()
    things = [o for o in record.objects if o.target and o.container is None]
    rng.shuffle(things)
    for thing in things[:10]:
        for start, near in _starts_for(site, floor, thing.position[:2], slot.wanted_m, rng):
            doors = _doors_for(site, slot.recipe, start, near, rng)
            if doors is None:
                continue
            critical, closed = doors
            others = tuple(o.id for o in record.objects if o.category == thing.category and o.id != thing.id)
            point = near if slot.form == "pointgoal" else None
            yield _Draft(start, thing.category, thing.id, others, (), critical, closed, goal_point=point)
            break


def _containers(site: Site, slot: Slot, rng: Rng) -> Iterator[_Draft]:
    record, floor = site.record, site.base.floor()
    classes = sorted({c.category for c in record.containers})
    rng.shuffle(classes)
    kinds = {r.id: r.kind for r in record.rooms}
    for n in range(12):
        of_class = [c for c in record.containers if c.category == classes[n % len(classes)]]
        container = of_class[int(rng.integers(len(of_class)))]
        kind = _kind_for(record, container, kinds[container.room], bool(rng.random() < UNUSUAL_SHARE), rng)
        if kind is None:
            continue
        joint = container.joints[int(rng.integers(len(container.joints)))]
        for start, near in _starts_for(site, floor, container.front[:2], slot.wanted_m, rng):
            critical: DoorRecord | None = None
            if slot.recipe == "door_container":
                doors = _doors_for(site, "single_path", start, near, rng)
                if doors is None:
                    continue
                critical = doors[0]
            removed = tuple(o.id for o in record.objects if o.category == kind.category)
            added = Addition(f"{kind.category}_target", kind.category, container.id, int(rng.integers(2**31)))
            closed = () if critical is None else (critical,)
            yield _Draft(start, kind.category, added.name, removed, (added,), critical, closed, container, joint)
            break


def _kind_for(
    record: HouseRecord, container: ContainerRecord, room_kind: str, unusual: bool, rng: Rng
) -> ObjectKind | None:
    """What to put into a container: a thing whose plausible classes leave another closed container to look into."""
    fitting = []
    for kind in object_kinds().values():
        if not kind.target or not kind.inside or is_unusual(kind, container, room_kind) != unusual:
            continue
        others = [c for c in record.containers if c.id != container.id and c.category in plausible_classes(kind)]
        if others:
            fitting.append(kind)
    if not fitting:
        return None
    weights = np.array([SKEW.get(k.category, 1.0) for k in fitting])
    return fitting[int(rng.choice(len(fitting), p=weights / weights.sum()))]


def _starts_for(site: Site, floor: Floor, at: Sequence[float], wanted_m: float, rng: Rng) -> list[tuple[Point, Point]]:
    """Starts in other rooms, the one whose way is nearest to the wanted length first, and the free place near `at`."""
    grid, robot = floor.grid, site.robot
    rows, columns = np.nonzero(inflate(grid, robot.inscribed_radius + MARGIN_M + 0.1))
    if len(rows) == 0:
        return []
    xs, ys = grid.origin[0] + (columns + 0.5) * grid.resolution, grid.origin[1] + (rows + 0.5) * grid.resolution
    away = np.hypot(xs - at[0], ys - at[1])
    best = int(away.argmin())
    if away[best] > 1.3:
        return []
    near = (float(xs[best]), float(ys[best]))
    field = floor.field(near)
    room = site.record.room_at(at[0], at[1])
    if field is None or room is None:
        return []
    options = []
    for start in starts(grid, inflate(grid, robot.circumscribed_radius + MARGIN_M), rng):
        length = float(field.distance_m[grid.to_cell(*start)])
        if math.isfinite(length) and length >= SHORTEST_M and site.record.room_at(*start) not in (None, room):
            options.append((abs(length - wanted_m), start))
    return [(start, near) for _, start in sorted(options)[:4]]


def _doors_for(
    site: Site, recipe: str, start: Point, goal: Point, rng: Rng
) -> tuple[DoorRecord | None, tuple[DoorRecord, ...]] | None:
    """The door to open, if the recipe has one, and all that start closed; None when the house has none such."""
    doors = list(site.record.doors)
    rng.shuffle(doors)
    cutting = [d for d in doors if not site.base.floor([d.joint]).connects(start, goal)]
    others = [d for d in doors if d not in cutting]
    if recipe == "single_path":
        return (cutting[0], (cutting[0],)) if cutting else None
    if recipe == "route_shortening":
        longer = [d for d in others if _length(site, (d,), start, goal) > _length(site, (), start, goal) + SHORTER_M]
        return (longer[0], (longer[0],)) if longer else None
    harmless = [d for d in others[:3] if _length(site, (d,), start, goal) <= _length(site, (), start, goal) + SAME_M]
    if not harmless or (recipe == "critical_distractor" and not cutting):
        return None
    if recipe == "distractor":
        return None, tuple(harmless[:2]) if _length(site, harmless[:2], start, goal) < math.inf else (harmless[0],)
    return cutting[0], (cutting[0], harmless[0])


def _length(site: Site, closed: Sequence[DoorRecord], start: Point, goal: Point) -> float:
    floor = site.base.floor([d.joint for d in closed])
    field = floor.field(goal)
    return math.inf if field is None else float(field.distance_m[floor.grid.to_cell(*start)])


def _proven(site: Site, slot: Slot, rng: Rng, draft: _Draft) -> MultiNavEpisode | None:
    house = stocked_house(site.seed, site.sub_seed, site.rooms, draft.removed, draft.added)
    if house is None:
        return None
    yaw = float(rng.uniform(-math.pi, math.pi))
    start = SE2(round(draft.start[0], 4), round(draft.start[1], 4), round(yaw, 4))
    world = make_world(house, {site.robot.name: (site.robot, start)})
    try:
        cf = Counterfactuals(world, site.robot)
        openings = _openings(draft)
        problem = Problem(
            (start.x, start.y), tuple(d.joint for d in draft.closed), openings,
            "" if draft.goal_point else draft.target_id, draft.goal_point,
        )  # fmt: skip
        if draft.goal_point is None and _is_seen(cf, problem, start):
            return None
        found = solve(cf, problem)
        if found is None:
            return None
        beneficial = slot.recipe == "route_shortening"
        if not beneficial and any(is_solvable_without(cf, problem, o) for o in openings):
            return None
        closed_m = length_with(cf, problem, ())
        if (closed_m is None) != (bool(openings) and not beneficial):
            return None
        if beneficial and (closed_m is None or closed_m < found.plan.length_m + SHORTER_M):
            return None
        episode = _episode(site, slot, draft, world.house.record, start, found, closed_m, cf)
    finally:
        world.close()
    return episode if _survives(episode) else None


def _survives(episode: MultiNavEpisode) -> bool:
    """Articulation readback at the start, then the plan in physics without fallback."""
    world = build_scene(episode)
    try:
        wanted = {j.joint: j.fraction for j in episode.joints}
        if any(abs(world.truth().joint_fraction(joint) - f) > 0.02 for joint, f in wanted.items()):
            return False
        return roll_out(world, episode, episode.plans[0]).success and world.truth().kinematic_completions() == 0
    finally:
        world.close()


def _is_seen(cf: Counterfactuals, problem: Problem, start: SE2) -> bool:
    cf.put(problem.closed)
    return any(cf.pixels(start, 0.0, problem.target_id, view) > 0 for view in cf.robot.views)


def _openings(draft: _Draft) -> tuple[Opening, ...]:
    made: list[Opening] = []
    if draft.critical is not None:
        made.append(Opening(f"channel::{draft.critical.id}::{len(made)}", draft.critical.joint, True))
    if draft.container is not None:
        made.append(Opening(f"container::{draft.container.id}::{len(made)}", draft.joint, False))
    return tuple(made)


def _episode(
    site: Site,
    slot: Slot,
    draft: _Draft,
    record: HouseRecord,
    start: SE2,
    found: Solution,
    closed_m: float | None,
    cf: Counterfactuals,
) -> MultiNavEpisode:
    interactions = _interactions(draft, slot, found, cf)
    container = draft.container
    kind = object_kinds()[draft.category]
    kinds = {r.id: r.kind for r in record.rooms}
    target: ObjectRecord = next(o for o in record.objects if o.id == draft.target_id)
    away = [c for c in record.containers if container is None or c.id != container.id]
    point = draft.goal_point
    shut = [d.joint for d in draft.closed] + [j for c in record.containers for j in c.joints]
    requirement = "required" if interactions else "unnecessary"
    fields: dict[str, Any] = {
        "id": slot.id,
        "domain": DOMAIN_OF.get(slot.recipe, "channel"),
        "recipe": slot.recipe,
        "requirement": "beneficial" if slot.recipe == "route_shortening" else requirement,
        "task_form": slot.form,
        "data_split": slot.split,
        "house_seed": site.seed,
        "house_sub_seed": site.sub_seed,
        "house_rooms": len(record.rooms),
        "house_doors": len(record.doors),
        "house_containers": len(record.containers),
        "scene_hash": record.xml_sha256,
        "removed": draft.removed,
        "added": tuple(
            AddedThing(name=a.name, category=a.category, container=a.container, seed=a.seed) for a in draft.added
        ),
        "joints": tuple(JointStart(joint=joint, fraction=0.0) for joint in shut),
        "robot": site.robot.name,
        "success_view": site.robot.success_view,
        "start": Pose(x=start.x, y=start.y, yaw=start.yaw),
        "category": draft.category,
        "target_ids": (draft.target_id,),
        "target_container": "" if container is None else container.id,
        "target_container_category": "" if container is None else container.category,
        "start_room": record.room_at(start.x, start.y) or "",
        "target_room": target.room,
        "goal_point": None if point is None else (round(point[0], 4), round(point[1], 4)),
        "interactions": interactions,
        "plans": (found.plan,),
        "closed_path_m": closed_m,
        "open_path_m": found.plan.length_m,
        "distractor_containers": len(away),
        "plausible_distractors": sum(c.category in plausible_classes(kind) for c in away),
        "unusual_container": container is not None and is_unusual(kind, container, kinds[container.room]),
        "instructions": instructions(draft.category, found.plan, interactions),
        "disclosure": slot.disclosure if slot.form == "instructiongoal" else "",
    }
    return MultiNavEpisode.model_validate(fields)


def _interactions(draft: _Draft, slot: Slot, found: Solution, cf: Counterfactuals) -> tuple[Interaction, ...]:
    made: list[Interaction] = []
    for opening, stand in zip(_openings(draft), found.stands, strict=True):
        container = draft.container
        if opening.is_door:
            assert draft.critical is not None
            effect = "shorten_route" if slot.recipe == "route_shortening" else "restore_reachability"
            entity, category, kind = draft.critical.id, "door", "channel_hinged_door"
        else:
            assert container is not None
            entity, category, effect = container.id, container.category, "reveal_target_object"
            slides = joint_is_slide(cf.world, opening.joint)
            kind = "container_sliding_drawer" if slides else "container_hinged_door"
        x, y, z = (round(value, 4) for value in stand.point)
        fields: dict[str, Any] = {
            "interaction_id": opening.interaction_id,
            "type": kind,
            "entity": entity,
            "category": category,
            "joint": opening.joint,
            "effect": effect,
            "prerequisites": tuple(m.interaction_id for m in made),
            "point": (x, y, z),
        }
        made.append(Interaction.model_validate(fields))
    return tuple(made)
