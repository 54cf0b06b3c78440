"""A situation in a small flat for tests of choosers: a closed door to an unseen room, a fridge, a frontier."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mnav_core.geometry import SE2
from mnav_core.maps import MapSnapshot
from mnav_core.requests import Observation
from mnav_core.sensing import ArticulationState
from mnav_graph.candidates import CandidateRequest, make_candidates
from mnav_graph.graph import InteractionGraph
from mnav_graph.testing.flat import flat_maps, frame_of, two_rooms
from mnav_perception.exploration.frontiers import Frontier, FrontierKind
from mnav_planner.agents.multinav.records import PastAction, Situation

AT = SE2(2.0, 2.0, 0.0)
DOOR = ("d1", "door", (4.1, 2.0, 1.0))
FRIDGE = ("f1", "fridge", (2.0, 3.6, 0.9))
DRAWER = ("w1", "drawer", (0.6, 0.5, 0.5))
SIZES = {"door": (0.9, 2.0, 0.1), "fridge": (0.6, 1.8, 0.6), "drawer": (0.4, 0.2, 0.4)}


@dataclass(frozen=True)
class NamedPrior:
    """Scores by name, 0 where none was given."""

    scores: dict[tuple[str, str], float]

    def score(self, thing: str, place: str) -> float:
        """The score of a pair."""
        return self.scores.get((thing, place), 0.0)


EGGS = NamedPrior({("egg", "fridge"): 0.4, ("egg", "drawer"): 0.1, ("egg", "kitchen"): 0.3})


def toy_graph(state: ArticulationState = ArticulationState.CLOSED) -> InteractionGraph:
    """The flat with everything in it seen in one state."""
    states = {"door": state, "fridge": state, "drawer": state}
    graph = InteractionGraph()
    graph.observe(frame_of([DOOR, FRIDGE, DRAWER], 1.0, AT, states, SIZES))
    graph.set_rooms(two_rooms(), 1.0)
    graph.set_robot(AT, 1.0)
    return graph


def toy_maps(behind_unknown: bool = True, door_open: bool = False) -> MapSnapshot:
    """The maps of the flat; what lies behind the door is unknown unless it was seen."""
    maps = flat_maps(door_open)
    if not behind_unknown:
        return maps
    occupancy, costmap = maps.occupancy.data.copy(), maps.costmap.data.copy()
    occupancy[:, 84:] = costmap[:, 84:] = -1
    return replace(maps, occupancy=replace(maps.occupancy, data=occupancy), costmap=replace(maps.costmap, data=costmap))


def toy_frontier(path_cost_m: float = 3.0, gain: int = 800) -> Frontier:
    """A frontier in the robot's room."""
    return Frontier("geometric:9:9", FrontierKind.GEOMETRIC, (0.5, 2.0), (0.6, 2.0), 1.2, path_cost_m, gain)


def toy_situation(
    graph: InteractionGraph | None = None,
    maps: MapSnapshot | None = None,
    frontiers: tuple[Frontier, ...] = (),
    category: str = "egg",
    now_s: float = 2.0,
    history: tuple[PastAction, ...] = (),
) -> Situation:
    """The situation of a graph and its maps, its candidates those that may be executed."""
    known = graph or toy_graph()
    shown = maps or toy_maps()
    made = make_candidates(known, shown, frontiers, now_s, CandidateRequest(frozenset({category})))
    return Situation(
        category=category,
        request=f"find the {category}",
        now=Observation(now_s, AT, 0.2, shown),
        maps=shown,
        graph=known,
        candidates=tuple(c for c in made if c.is_eligible),
        frontiers={f"explore:{f.id}": f for f in frontiers},
        preferred=f"explore:{frontiers[0].id}" if frontiers else "",
        history=history,
    )
