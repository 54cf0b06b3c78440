"""Suite `multinav`: a mixture of recipes over houses, made lot by lot, and the floor on its difficulty (Appendix B)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import fmean, median

from mnav_bench.multinav.candidates import Site, Slot, make_episode
from mnav_bench.multinav.episode_files import FORMAT, MultiNavEpisode, MultiNavFile, Recipe, TaskForm
from mnav_bench.multinav.plans import DISTANCE_M
from mnav_bench.multinav.reachability import Counterfactuals
from mnav_bench.navtoobj import FloorRow
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.randomness import derive_seed, generator
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.house.records import GENERATOR_VERSION
from mnav_sim_bridge.world import make_world

SUITE = "multinav"
BUDGET_S = 400.0
DOMAINS = ("channel", "container", "mixed")
# Table 5: recipes of 1000 channel episodes.
CHANNEL_RECIPES: tuple[tuple[Recipe, int], ...] = (
    ("single_path", 366), ("distractor", 346), ("critical_distractor", 288)
)  # fmt: skip
# Beneficial cases come with PointGoal, whose sampler filters by the difference of paths (Appendix C).
POINT_RECIPES: tuple[tuple[Recipe, int], ...] = (
    ("single_path", 400), ("route_shortening", 200), ("distractor", 400)
)  # fmt: skip
# Around the medians of table 6.
WANTED_M = {"channel": (5.5, 12.0), "container": (4.2, 10.0), "mixed": (8.5, 16.0)}
LOT = 3
HOUSE_TRIES = 12
ROOMS = (5, 9)
DISCLOSURES = ("hidden", "partial", "explicit")
FLOOR_ROOMS, FLOOR_DOORS, FLOOR_CONTAINERS, FLOOR_DISTRACTORS, FLOOR_UNUSUAL = 5.0, 4.0, 6.0, 3, 30.0


@dataclass(frozen=True)
class _Lot:
    """Slots that share a house as far as it can serve them: the cap of a house."""

    seed: int
    index: int
    slots: tuple[Slot, ...]


def generate(
    domain: str,
    count: int,
    seed: int,
    robot: RobotDescription,
    form: TaskForm = "objectgoal",
    split: str = "val",
    workers: int = 1,
    on_done: Callable[[int], None] = lambda _n: None,
) -> MultiNavFile:
    """`count` validated episodes of a domain, or of all in equal shares; houses of the two splits never coincide.

    Raises UsageError for names not allowed, and when a slot finds no episode within its bound of houses.
    """
    _refuse_bad(domain, form, split)
    slots = plan_slots(domain, count, seed, form, split)
    lots = [_Lot(seed, k // LOT, tuple(slots[k : k + LOT])) for k in range(0, len(slots), LOT)]
    found: list[MultiNavEpisode] = []
    for made in _made(lots, robot, workers):
        found += made
        on_done(len(found))
    return MultiNavFile(
        format=FORMAT, suite="multinav", generator_version=GENERATOR_VERSION, seed=seed, robot=robot.name,
        distance_m=DISTANCE_M, budget_s=BUDGET_S, episodes=tuple(_without_duplicates(found)),
    )  # fmt: skip


def plan_slots(domain: str, count: int, seed: int, form: TaskForm, split: str) -> list[Slot]:
    """What each of `count` episodes is to be: recipes in the published shares, mixed over the houses."""
    rng = generator(SUITE, "slots", split, form, domain, seed)
    domains = [DOMAINS[k % 3] if domain == "all" else domain for k in range(count)]
    if form == "pointgoal":
        domains = ["channel"] * count
    channel = iter(_shares(POINT_RECIPES if form == "pointgoal" else CHANNEL_RECIPES, domains.count("channel")))
    slots = []
    for k, one in enumerate(domains):
        recipe = next(channel) if one == "channel" else "container" if one == "container" else "door_container"
        wanted = float(rng.uniform(*WANTED_M[one]))
        name = f"{SUITE}-{split}-{form}-{domain}-{seed}-{k:04d}"
        slots.append(Slot(name, recipe, form, wanted, split, DISCLOSURES[k % 3]))
    return slots


def difficulty(suite: MultiNavFile) -> tuple[FloorRow, ...]:
    """The floor on difficulty, measured on the episodes."""
    episodes = suite.episodes
    hidden = [e for e in episodes if e.target_container]
    searched = [e for e in hidden if e.task_form != "pointgoal"]
    rows = [
        FloorRow("mean rooms a house", _mean(e.house_rooms for e in episodes), FLOOR_ROOMS),
        FloorRow("mean doors a house", _mean(e.house_doors for e in episodes), FLOOR_DOORS),
        FloorRow("mean openable containers a house", _mean(e.house_containers for e in episodes), FLOOR_CONTAINERS),
        FloorRow(
            "least closed distractor containers", min(e.distractor_containers for e in episodes), FLOOR_DISTRACTORS
        ),
    ]
    if searched:
        unusual = 100.0 * fmean(e.unusual_container for e in searched)
        rows.append(
            FloorRow("least distractors of a plausible class", min(e.plausible_distractors for e in searched), 1)
        )
        rows.append(FloorRow("targets where common sense would not look first, %", round(unusual, 1), FLOOR_UNUSUAL))
    return tuple(rows)


def _mean(values: Iterable[float]) -> float:
    return round(fmean(values), 2)


def composition(suite: MultiNavFile) -> str:
    """Counts and median lengths by domain and recipe, for people."""
    lines = []
    for domain in DOMAINS:
        of = [e for e in suite.episodes if e.domain == domain]
        if not of:
            continue
        lengths = [e.reference_m for e in of]
        required = sum(e.requirement == "required" for e in of)
        recipes = {r: sum(e.recipe == r for e in of) for r in sorted({e.recipe for e in of})}
        lines.append(
            f"{domain}: {len(of)} episodes in {len({e.house_seed for e in of})} houses, {required} required,"
            f" reference median {median(lengths):.1f} m, mean {fmean(lengths):.1f} m, {recipes}"
        )
    return "\n".join(lines)


def _shares(recipes: Sequence[tuple[Recipe, int]], count: int) -> list[Recipe]:
    """`count` recipes in the wanted shares, spread evenly: each next is the one that lags behind most."""
    total = sum(weight for _, weight in recipes)
    given = dict.fromkeys([name for name, _ in recipes], 0)
    made: list[Recipe] = []
    for k in range(count):
        name = max(recipes, key=lambda r: r[1] / total * (k + 1) - given[r[0]])[0]
        given[name] += 1
        made.append(name)
    return made


def _made(lots: Sequence[_Lot], robot: RobotDescription, workers: int) -> Iterator[list[MultiNavEpisode]]:
    if workers == 1:
        yield from (_make_lot(lot, robot) for lot in lots)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_make_lot, lots, [robot] * len(lots))


def _make_lot(lot: _Lot, robot: RobotDescription) -> list[MultiNavEpisode]:
    """Episodes for the slots of a lot; what its house cannot serve goes to the next attempt's."""
    waiting = list(lot.slots)
    found: dict[str, MultiNavEpisode] = {}
    split, domain = lot.slots[0].split, lot.slots[0].id
    for attempt in range(HOUSE_TRIES):
        if not waiting:
            break
        house_seed = derive_seed(SUITE, split, domain, lot.index, attempt)
        rng = generator(SUITE, "lot", split, domain, lot.index, attempt)
        rooms = int(rng.integers(*ROOMS))
        try:
            house = generate_house(house_seed, robot, rooms).house
        except UsageError:
            continue
        if len(house.record.containers) < FLOOR_DISTRACTORS + 1:
            continue
        world = make_world(house, {robot.name: (robot, SE2(0.0, 0.0))})
        try:
            site = Site(house_seed, house.record.sub_seed, rooms, robot, Counterfactuals(world, robot))
            for slot in list(waiting):
                episode = make_episode(site, slot, rng)
                if episode is not None:
                    found[slot.id] = episode
                    waiting.remove(slot)
        finally:
            world.close()
    if waiting:
        raise UsageError(f"multinav seed {lot.seed}: no valid episode for {waiting[0].id} within {HOUSE_TRIES} houses")
    return [found[slot.id] for slot in lot.slots]


def _without_duplicates(episodes: Sequence[MultiNavEpisode]) -> list[MultiNavEpisode]:
    """Two episodes are the same when scene, start, goal and closed doors are."""
    seen: set[tuple[object, ...]] = set()
    kept = []
    for e in episodes:
        key = (e.scene_hash, round(e.start.x, 1), round(e.start.y, 1), e.target_ids, e.joints, e.goal_point)
        if key not in seen:
            seen.add(key)
            kept.append(e)
    return kept


def _refuse_bad(domain: str, form: str, split: str) -> None:
    for name, value, allowed in (
        ("domain", domain, (*DOMAINS, "all")),
        ("task form", form, ("objectgoal", "pointgoal", "instructiongoal")),
        ("split", split, ("train", "val")),
    ):
        if value not in allowed:
            raise UsageError(f"{name} {value!r}: allowed: {', '.join(allowed)}")
    if form == "pointgoal" and domain not in ("channel", "all"):
        raise UsageError(f"domain {domain!r}: allowed with task form pointgoal: channel, all")
