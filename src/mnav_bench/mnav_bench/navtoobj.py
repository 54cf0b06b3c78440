"""Suite `navtoobj`: find an object in a house never seen before; every door stands open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import fmean, median

from mnav_bench.episodes import EpisodeFile, NavToObjEpisode
from mnav_bench.navtoobj_episode import Rule, choose_episode, open_categories
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.randomness import derive_seed, generator
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.house.records import GENERATOR_VERSION
from mnav_sim_bridge.world import make_world

SUITE = "navtoobj"
DISTANCE_M = 1.5  # MolmoSpaces: succ_pos_threshold
BUDGET_S = 400.0
MIN_REFERENCE_M = 3.0
ROOMS_FLOOR = 5.0
MEDIAN_FLOOR_M = 6.0
HIDDEN_FLOOR = 80.0
MAX_ATTEMPTS = 40
WANTED_REFERENCE_M = (4.0, 14.0)


@dataclass(frozen=True)
class FloorRow:
    """One bound that a suite's difficulty must reach."""

    name: str
    measured: float
    bound: float
    at_least: bool = True

    @property
    def passed(self) -> bool:
        """Whether the bound holds."""
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound


def generate(
    count: int, seed: int, robot: RobotDescription, workers: int = 1, on_done: Callable[[int], None] = lambda _n: None
) -> EpisodeFile:
    """`count` validated episodes. Raises UsageError when an index yields none within its bound of attempts."""
    found: list[NavToObjEpisode] = []
    for episode in _made(count, seed, robot, workers):
        found.append(episode)
        on_done(len(found))
    return _file_of(seed, robot, found)


def demo_episode(seed: int, robot: RobotDescription, category: str | None) -> EpisodeFile:
    """A file with one episode, whose target is of a category if one is given; its house is in no suite of that seed."""
    return _file_of(seed, robot, [make_episode(seed, 0, robot, category, "demo")])


def _file_of(seed: int, robot: RobotDescription, episodes: Sequence[NavToObjEpisode]) -> EpisodeFile:
    return EpisodeFile(
        format="mnav_episodes_v1",
        suite="navtoobj",
        generator_version=GENERATOR_VERSION,
        seed=seed,
        robot=robot.name,
        distance_m=DISTANCE_M,
        budget_s=BUDGET_S,
        episodes=tuple(episodes),
    )


def _made(count: int, seed: int, robot: RobotDescription, workers: int) -> Iterator[NavToObjEpisode]:
    if workers == 1:
        yield from (make_episode(seed, index, robot) for index in range(count))
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(make_episode, [seed] * count, range(count), [robot] * count)


def difficulty(suite: EpisodeFile) -> tuple[FloorRow, ...]:
    """The floor on difficulty, measured on the episodes."""
    episodes = suite.episodes
    lengths = [e.reference.length_m for e in episodes]
    hidden = [not e.visible_from_start and e.start_room != e.target_room for e in episodes]
    commonest = max(Counter(e.category for e in episodes).values())
    return (
        FloorRow("mean rooms a house", round(fmean(e.house_rooms for e in episodes), 3), ROOMS_FLOOR),
        FloorRow("target hidden and in another room, %", round(100.0 * fmean(hidden), 1), HIDDEN_FLOOR),
        FloorRow("shortest reference, m", round(min(lengths), 3), MIN_REFERENCE_M),
        FloorRow("median reference, m", round(median(lengths), 3), MEDIAN_FLOOR_M),
        FloorRow(
            "share of the commonest category, %",
            round(100.0 * commonest / len(episodes), 1),
            max(15.0, 300.0 / len(episodes)),
            at_least=False,
        ),
    )


def make_episode(
    seed: int, index: int, robot: RobotDescription, category: str | None = None, suite: str = SUITE
) -> NavToObjEpisode:
    """Episode `index` of the suite with this seed; houses that cannot serve are replaced by the next attempt's.

    Raises UsageError when none does within MAX_ATTEMPTS.
    """
    for attempt in range(MAX_ATTEMPTS):
        house_seed = derive_seed(suite, seed, index, attempt)
        rng = generator(suite, seed, index, attempt)
        try:
            house = generate_house(house_seed, robot).house
        except UsageError:
            continue
        if category is not None and category not in open_categories(house.record):
            continue
        world = make_world(house, {robot.name: (robot, SE2(0.0, 0.0))})
        try:
            wanted_m = float(rng.uniform(*WANTED_REFERENCE_M))
            rule = Rule(DISTANCE_M, MIN_REFERENCE_M, wanted_m)
            name = f"{suite}-{seed}-{index:04d}"
            episode = choose_episode(world, name, house_seed, robot, rng, rule, category)
        finally:
            world.close()
        if episode is not None:
            return episode
    raise UsageError(
        f"navtoobj seed {seed} index {index}: no valid episode"
        f"{f' for {category!r}' if category else ''} within {MAX_ATTEMPTS} houses"
    )
